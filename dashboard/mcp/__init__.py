"""The management endpoint of the dashboard: the tools for agents, and their brief answers."""
