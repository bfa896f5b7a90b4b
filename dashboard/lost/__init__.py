"""What ran when the machine went down, and how it comes back (section 10)."""

from dashboard.lost.entry import Listening
from dashboard.lost.lost import Lost
from dashboard.lost.world import Settings, World

__all__ = ["Listening", "Lost", "Settings", "World"]
