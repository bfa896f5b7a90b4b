"""Files that go along with a message: what is kept, under which name, and how it comes back."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from config.errors import Conflict, Invalid, NotFound, TooLarge, UnsupportedMedia
from tests.workspace.chats.world import World
from workspace.chats import attachments

PNG = b"\x89PNG\r\n\x1a\n" + b"\0" * 40
SVG = b"<svg xmlns='http://www.w3.org/2000/svg'><script>alert(1)</script></svg>"


@pytest.fixture
def alpha(world: World) -> World:
    return world


def add(world: World, data: bytes = PNG, name: str = "shot.png") -> attachments.Attachment:
    return attachments.add(project=world.project, name=name, data=data)


def folder(world: World) -> Path:
    return world.folder / "alpha" / ".svc" / "attachments"


@pytest.mark.parametrize(
    ("data", "name", "kind", "suffix"),
    [
        (PNG, "shot.png", "image/png", "png"),
        (b"\xff\xd8\xff\xe0", "photo.JPEG", "image/jpeg", "jpg"),
        (b"GIF89a..", "x.gif", "image/gif", "gif"),
        (b"RIFF1234WEBPVP8 ", "x.webp", "image/webp", "webp"),
        (b"%PDF-1.7\n\xff", "paper.pdf", "application/pdf", "pdf"),
        ("Grüße".encode(), "notes.md", "text/plain", "md"),
        (b"print(1)", "main.py", "text/plain", "py"),
        (b"a,b", "no suffix", "text/plain", "txt"),
        (SVG, "x.svg", "text/plain", "svg"),
        (PNG, "evil.html", "image/png", "png"),
        (b"<script>", "x.png", "text/plain", "png"),
    ],
)
def test_the_bytes_tell_what_a_file_is_whatever_it_is_called(alpha, data, name, kind, suffix):
    kept = add(alpha, data, name)

    assert (kept.type, kept.name.rpartition(".")[2], kept.size) == (kind, suffix, len(data))
    assert (alpha.project.working_dir / kept.path).read_bytes() == data
    found, back = attachments.get(project=alpha.project, name=kept.name)
    assert (found.type, back) == (kind, data)


@pytest.mark.parametrize(
    "data", [b"\0", b"\x7fELF\x02\x01\x01\0", b"PK\x03\x04\xff", b"\xff\xfe\x00", b"text\0text"]
)
def test_what_is_neither_image_nor_pdf_nor_text_is_refused(alpha, data):
    with pytest.raises(UnsupportedMedia, match="PNG, JPEG, GIF, WebP"):
        add(alpha, data, "notes.txt")

    assert not folder(alpha).exists()


def test_an_empty_file_and_one_that_is_too_large_are_refused(alpha):
    with pytest.raises(Invalid, match="file: is empty"):
        add(alpha, b"")
    with pytest.raises(TooLarge, match="10 MiB"):
        add(alpha, b"x" * (attachments.LIMIT + 1))

    assert not folder(alpha).exists()
    assert add(alpha, b"x" * attachments.LIMIT).created


def test_the_same_file_again_is_the_same_file_and_another_has_another_name(alpha):
    first = add(alpha)

    again, other = add(alpha), add(alpha, PNG + b"2")

    assert (first.created, again.created, other.created) == (True, False, True)
    assert first.path == again.path != other.path
    assert len(list(folder(alpha).iterdir())) == 3
    assert (folder(alpha) / ".gitignore").read_text() == "*\n"


def test_a_file_that_was_changed_by_hand_is_put_right_by_the_same_upload(alpha):
    kept = add(alpha)
    (folder(alpha) / kept.name).write_text("mine")

    assert add(alpha).created

    assert (folder(alpha) / kept.name).read_bytes() == PNG


@settings(max_examples=60, deadline=None,
          suppress_health_check=[HealthCheck.function_scoped_fixture])  # fmt: skip
@given(name=st.text(max_size=400) | st.sampled_from(
    ["../../etc/passwd", ".git/config", "..", "/", "C:\\x.png", "a\0b.png", "\u202egnp.exe", "",
     ".gitignore", "-" * 300, "x." + "y" * 300, "con.txt", "\ud800.txt"]))  # fmt: skip
def test_every_name_becomes_one_that_is_safe_and_found_again(alpha, name: str):
    kept = add(alpha, b"some text", name)

    assert re.fullmatch(r"[^\W_][\w-]*-[0-9a-f]{12}\.[a-z0-9]{1,8}", kept.name)
    assert attachments.get(project=alpha.project, name=kept.name)[1] == b"some text"
    inside = {path.name for path in folder(alpha).iterdir()}
    assert kept.name in inside
    assert {path.name for path in (folder(alpha).parent).iterdir()} == {"attachments"}


@pytest.mark.parametrize(
    "name",
    ["", ".", "..", "../../project.yaml", ".gitignore", "shot.png", "x-0a1b2c3d4e5f.png",
     "a/b-0a1b2c3d4e5f.png", "a\0-0a1b2c3d4e5f.png", "x" * 5000, "\ud800-0a1b2c3d4e5f.png"],
)  # fmt: skip
def test_no_other_name_leads_anywhere(alpha, name):
    add(alpha)

    with pytest.raises(NotFound):
        attachments.get(project=alpha.project, name=name)


def test_no_link_leads_out_of_the_project(alpha, tmp_path: Path):
    kept = add(alpha)
    (tmp_path / "secret.txt").write_text("secret")
    (folder(alpha) / kept.name).unlink()
    (folder(alpha) / kept.name).symlink_to(tmp_path / "secret.txt")
    with pytest.raises(NotFound):
        attachments.get(project=alpha.project, name=kept.name)

    folder(alpha).rename(tmp_path / "away")
    folder(alpha).symlink_to(tmp_path / "away")
    with pytest.raises(Invalid):
        add(alpha, b"text", "x.txt")
    assert len(list((tmp_path / "away").iterdir())) == 2


def test_nothing_is_made_behind_a_link(alpha, tmp_path: Path):
    (tmp_path / "away").mkdir()
    folder(alpha).parent.symlink_to(tmp_path / "away")

    with pytest.raises(Invalid):
        add(alpha)

    assert list((tmp_path / "away").iterdir()) == []


def test_something_else_under_one_of_our_names_is_not_served(alpha):
    kept = add(alpha)
    (folder(alpha) / kept.name).write_bytes(b"\x7fELF\0")

    with pytest.raises(NotFound):
        attachments.get(project=alpha.project, name=kept.name)


def test_a_broken_project_takes_no_files(alpha):
    alpha.write("name: [\n")

    with pytest.raises(Conflict):
        add(alpha)


def test_the_images_that_a_prompt_names_are_found_and_nothing_else(alpha):
    project = alpha.project
    shot, notes = add(alpha), add(alpha, b"text", "notes.md")
    prompt = attachments.with_files(
        project=project, prompt="Look", attached=[shot.path, notes.path]
    )

    found = attachments.pictures(project=project, prompt=prompt)

    assert found == [str(project.working_dir / shot.path)]
    forged = "Attached files:\n- .svc/attachments/../../x.png (image/png, 1 bytes)\n- /etc/passwd"
    assert attachments.pictures(project=project, prompt=forged) == []
    assert attachments.pictures(project=project, prompt="Look at it") == []


def test_a_prompt_names_its_files_at_its_end_once_each(alpha):
    shot, notes = add(alpha), add(alpha, b"text", "notes.md")

    prompt = attachments.with_files(
        project=alpha.project, prompt="Look at this.\n", attached=[shot.path, notes.path, shot.path]
    )

    assert prompt == (
        f"Look at this.\n\nAttached files:\n- {shot.path} (image/png, 48 bytes)\n"
        f"- {notes.path} (text/plain, 4 bytes)"
    )
    assert attachments.with_files(project=alpha.project, prompt="x ", attached=[]) == "x "


@pytest.mark.parametrize(
    "path", ["/etc/passwd", "project.yaml", ".svc/attachments/../../project.yaml", "", "shot.png"]
)
def test_only_an_attachment_can_be_named(alpha, path):
    kept = add(alpha)

    with pytest.raises(Invalid, match=r"attachments: .* is not an attachment of this project"):
        attachments.with_files(project=alpha.project, prompt="x", attached=[kept.path, path])
