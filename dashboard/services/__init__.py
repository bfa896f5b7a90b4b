"""Processes that the user has us run: started, stopped and restarted; they outlive the daemon.

The rules: docs/design/dashboard.md#services
"""
