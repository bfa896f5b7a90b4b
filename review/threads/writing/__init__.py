"""One write of a review file: what a caller may put in, and how it gets there."""
