"""The kernel as a Django app, so that its commands are found."""

from django.apps import AppConfig


class KernelConfig(AppConfig):
    name = "config"
    label = "kernel"
