"""A folder of images that is swapped for a link elsewhere is neither read nor written through."""

from __future__ import annotations

import hashlib
import os
import threading

import pytest

from config.errors import NotFound, SvcError
from config.storage import syscalls
from config.storage.paths import UnsafePath
from review import assets
from tests.config.disks import quick_folder
from tests.promises.rings import ring
from tests.review.places import put

pytestmark = pytest.mark.django_db

PNG = b"\x89PNG\r\n\x1a\n"


@pytest.mark.promise("G6")
def test_a_folder_swapped_for_a_link_while_images_come_gets_none(settings):
    with quick_folder() as folder:
        settings.PROJECTS_DIR, settings.DATA_DIR = folder / "projects", folder / "data"
        put(folder / "projects" / "pay" / "project.yaml", b"title: Pay\n")
        outside, images = folder / "outside", folder / "projects" / "pay" / "assets"
        outside.mkdir()
        secret = PNG + b" secret"
        name = hashlib.sha256(b"x").hexdigest() + ".png"
        put(outside / name, secret)
        images.mkdir()
        done = threading.Event()

        images.with_name("link").symlink_to(outside)
        parent = os.open(images.parent, os.O_RDONLY)

        def swap() -> None:
            while not done.is_set():
                syscalls.exchange("link", "assets", parent)

        swapper = threading.Thread(target=swap)
        swapper.start()
        seen: set[object] = set()
        every, least = {False, NotFound, UnsafePath}, ring(fast=50, slow=10_000)
        try:
            for number in range(100 * least):  # how the threads take turns is the machine's affair
                if number >= least and every <= seen:
                    break
                for call in (
                    lambda n=number: assets.store("pay", PNG + str(n).encode(), "image/png"),
                    lambda: assets.read("pay", name),
                ):
                    try:
                        seen.add(call() == secret)
                    except SvcError as error:
                        seen.add(type(error))
        finally:
            done.set()
            swapper.join()
            os.close(parent)

        assert True not in seen
        assert every <= seen
        assert [path.name for path in outside.iterdir()] == [name]
