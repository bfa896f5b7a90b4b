"""The light names of config/process/light_typing.py, where the engines look for them."""

from __future__ import annotations

from config.process.light_typing import IO, TYPE_CHECKING, Any, NamedTuple, Protocol

__all__ = ["IO", "TYPE_CHECKING", "Any", "NamedTuple", "Protocol"]
