"""Wiring of the three parts; the version of the whole package."""

__version__ = "0.49.0"
