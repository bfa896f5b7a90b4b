"""What ran when the machine went down, and how it is started again.

What is stored and when it counts as lost: docs/design/dashboard.md#remembering-over-a-reboot
"""

from dashboard.reboot.entry import Listening
from dashboard.reboot.keeper import Lost
from dashboard.reboot.world import Settings, World

__all__ = ["Listening", "Lost", "Settings", "World"]
