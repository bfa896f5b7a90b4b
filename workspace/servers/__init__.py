"""Servers of tools for agents (MCP): which ones a project has, and which its turns are given.

They are configured in three places, the nearest first: project.yaml, svc.config.yaml, and the
project's own `.mcp.json`, which is used only after a person agreed to exactly its content.
"""
