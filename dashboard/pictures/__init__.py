"""The pictures of all apps and bookmarks: which one is shown, and when it is made again.

The daemon holds a `Gallery`; `dashboard.rendering` makes the pictures.
"""

from dashboard.pictures.app import PicturedApp, World
from dashboard.pictures.gallery import Gallery

__all__ = ["Gallery", "PicturedApp", "World"]
