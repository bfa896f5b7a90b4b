"""The way out of a turn whose network is guarded: rules, the proxy that enforces them, its door."""
