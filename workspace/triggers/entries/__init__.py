"""Trigger entries: what project.yaml may contain about a trigger, read, checked and changed."""
