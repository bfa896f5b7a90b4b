"""Processes: one instance, its children, what wakes them, what examines them."""
