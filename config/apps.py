"""The kernel as a Django app, so that Django finds its management commands."""

from django.apps import AppConfig


class KernelConfig(AppConfig):
    name = "config"
    label = "kernel"
