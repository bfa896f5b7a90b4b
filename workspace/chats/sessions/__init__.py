"""Conversations that other programs keep of a project's working directory."""
