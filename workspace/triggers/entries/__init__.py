"""Trigger entries: what project.yaml may hold of a trigger, read, checked and changed."""
