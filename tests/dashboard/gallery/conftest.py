"""What the tests of the gallery share."""

from tests.dashboard.looks.conftest import data

__all__ = ["data"]
