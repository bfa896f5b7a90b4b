"""Git, run so that no repository can make it run something else."""
