"""Git, run so that no repository can make it run something else."""

LARGEST = 64 * 1024 * 1024  # bytes of a file of a work tree that is kept
