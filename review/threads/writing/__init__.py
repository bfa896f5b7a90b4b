"""One write of a review file: what a caller may write, and how it is written."""
