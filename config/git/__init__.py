"""Git, run so that no repository can make it run another program."""

LARGEST = 64 * 1024 * 1024  # bytes of the largest work tree file that is stored
