"""Connections: how one is spoken on, whose it is, and whose are served."""
