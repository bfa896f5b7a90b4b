"""Serving: three ports, the guard, surfaces, event streams, REST and pages. Knows no app."""
