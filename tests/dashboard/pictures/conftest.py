"""What the tests of the gallery share."""

from tests.dashboard.rendering.conftest import data

__all__ = ["data"]
