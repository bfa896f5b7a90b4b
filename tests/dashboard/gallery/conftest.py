"""What the tests of the gallery share."""

from tests.dashboard.pictures.conftest import data

__all__ = ["data"]
