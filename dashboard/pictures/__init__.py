"""The pictures of all apps and bookmarks: what is shown now, and when it is made again.

`Gallery` is what the daemon holds; `dashboard.rendering` knows how one is made.
"""

from dashboard.pictures.app import PicturedApp, World
from dashboard.pictures.gallery import Gallery

__all__ = ["Gallery", "PicturedApp", "World"]
