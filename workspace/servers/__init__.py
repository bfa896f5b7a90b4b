"""Servers of tools for agents (MCP): which a project has, and which of them its turns are given.

Three places name them, the nearer one first: project.yaml, svc.config.yaml, and the project's own
`.mcp.json`, which is used only after a person agreed to exactly its content.
"""
