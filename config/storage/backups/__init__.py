"""A backup of everything a user has in one file, and its restore."""
