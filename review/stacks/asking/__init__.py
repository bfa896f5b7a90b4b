"""From a thread to an agent and back: what is asked of it, and what its turn may reach."""
