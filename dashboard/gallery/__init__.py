"""The pictures of all apps and bookmarks: what is shown now, and when it is made again.

`Gallery` is what the daemon holds; `looks` knows how one picture is made.
"""

from dashboard.gallery.gallery import Gallery
from dashboard.gallery.shown import Shown, World

__all__ = ["Gallery", "Shown", "World"]
