"""Django's PostgreSQL backend that comes back by itself when its server does."""
