"""Processes the user has us run: started, stopped, kept alive, outliving the daemon.

The rules: docs/design/dashboard.md#services
"""
