"""The states by which a turn asks for threads. Imports little, as workers of turns load it too."""

STATES = ("open", "asked", "answered", "unresolved", "all")
