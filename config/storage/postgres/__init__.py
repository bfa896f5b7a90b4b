"""Django's PostgreSQL backend, with connections that recover when the server comes back."""
