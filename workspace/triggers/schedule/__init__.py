"""Schedules: when a trigger is due, and the processes that fire it."""
