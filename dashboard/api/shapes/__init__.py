"""The JSON shapes of the answers, as the OpenAPI description shows them.

They describe; the records are made in `registry`, and the suite holds answers against these.
"""

from dashboard.api.shapes.actions import (
    Action,
    Log,
    Removed,
    RemovedList,
    Restored,
    Taken,
    Text,
)
from dashboard.api.shapes.app import App, AppList
from dashboard.api.shapes.base import Error, Health, Shape
from dashboard.api.shapes.history import History
from dashboard.api.shapes.nodes import NodeList
from dashboard.api.shapes.observed import Ignored, ObservedList, Scan
from dashboard.api.shapes.state import Config, Group, GroupList, LostNotice, Restarted, State

__all__ = [
    "Action", "App", "AppList", "Config", "Error", "Group", "GroupList", "Health", "History",
    "Ignored", "Log", "LostNotice", "NodeList", "ObservedList", "Removed", "RemovedList",
    "Restarted", "Restored", "Scan", "Shape", "State", "Taken", "Text",
]  # fmt: skip
