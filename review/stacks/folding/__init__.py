"""Apply and fold: a suggestion becomes a fixup commit, fixups become part of what they amend.

See docs/design/review.md#apply-and-fold.
"""
