"""The way out of a turn whose network is guarded: rules, the proxy that keeps them, its door."""
