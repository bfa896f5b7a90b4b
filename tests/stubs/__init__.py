"""Model servers for tests: on loopback, scripted, speaking the real protocols."""
