"""From a thread to an agent and back: what an agent is asked, and what its turn may reach."""
