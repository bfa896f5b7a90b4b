"""Turns: a chat's queue, and each turn from its delivery to its end."""
