"""The dashboard's files: apps, bookmark groups, config.yaml, ignore.yaml.

The one place that knows where they lie and what they may hold, and the only one that writes them.
`store` reads and changes them, `schema` says what they may hold, `masks` hides their secrets.
"""
