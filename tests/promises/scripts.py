"""Django for a script that writes a page of the documents from the code."""

from __future__ import annotations

import os
import tempfile


def set_up() -> None:
    """Set Django up with a data directory of its own, which is gone afterwards."""
    import django

    with tempfile.TemporaryDirectory() as folder:
        os.environ |= {"DJANGO_SETTINGS_MODULE": "config.settings", "SVC_DATA_DIR": folder}
        os.environ["SVC_PROJECTS_DIR"] = f"{folder}/projects"
        django.setup()
