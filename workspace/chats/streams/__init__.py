"""Streams: one chat as server-sent events."""
