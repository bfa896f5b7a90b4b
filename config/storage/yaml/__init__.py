"""YAML for files that people and the service both write; the public face is yamlio.py beside it."""
