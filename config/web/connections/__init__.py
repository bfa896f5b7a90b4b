"""Connections: their protocol, their users, which users are served, and streams that share one."""
