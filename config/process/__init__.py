"""Processes: the single instance, its children, how they are woken and how they are examined."""
