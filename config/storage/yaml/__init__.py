"""YAML for files that both people and the service write; yamlio.py beside it is the interface."""
