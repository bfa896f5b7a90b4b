"""The words by which a turn asks for threads. Light: workers of turns load it too."""

STATES = ("open", "asked", "answered", "unresolved", "all")
