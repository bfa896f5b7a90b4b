"""SQLite as the service uses it: Django's own backend, and a file that only the start makes."""
