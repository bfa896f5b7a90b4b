"""Short tool results, to save a model's tokens."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def present(result: Mapping[str, Any], *optional: str) -> dict[str, Any]:
    """The result without those of the optional keys that have no value."""
    return {key: value for key, value in result.items() if value or key not in optional}
