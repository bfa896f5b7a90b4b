"""The service on a system that has none of what only Linux has, as far as Linux can play it."""
