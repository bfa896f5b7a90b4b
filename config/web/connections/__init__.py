"""Connections: how one is spoken on, whose it is, whose are served; streams that share one."""
