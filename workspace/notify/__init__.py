"""Notifications: what happened while no one was looking, sent to channels and to open pages.

A signal becomes a cause (causes.py), causes of one kind become one message (folding.py), and a
message is delivered to each channel that wants it (delivery.py, sending.py). See
docs/design/workspace.md#notifications.
"""
