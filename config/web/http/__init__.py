"""The HTTP server: Daphne, its ports and threads, and Django behind it."""
