"""Conversations that other programs keep for a project's working directory."""
