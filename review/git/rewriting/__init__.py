"""New commits for old ones: which fixup belongs where, the replay, and the previous tips.

Nothing here needs a work tree. See docs/design/review.md#apply-and-fold.
"""
