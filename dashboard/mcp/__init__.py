"""The management endpoint of the dashboard: what agents may call, and how briefly it answers."""
