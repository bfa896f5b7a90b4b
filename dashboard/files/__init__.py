"""The dashboard's files: apps, bookmark groups, config.yaml, ignore.yaml.

The only package that knows where they are and what they may hold, and the only one that writes
them. `store` reads and changes them, `schema` says what they may hold, `masks` hides their
secrets.
"""
