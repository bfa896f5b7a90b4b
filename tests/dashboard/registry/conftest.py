"""What the tests of the registry share: a home of their own, for files are named by it."""

from tests.dashboard.files.conftest import home

__all__ = ["home"]
