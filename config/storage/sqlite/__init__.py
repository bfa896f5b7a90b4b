"""Django's SQLite backend for a file that only a start of the service creates."""
