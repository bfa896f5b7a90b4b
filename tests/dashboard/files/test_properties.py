"""What is written is what is read, and no work is lost among many writers."""

from __future__ import annotations

import copy
import json
import random
import subprocess
import threading
from typing import Any

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from config.errors import Conflict
from config.storage import displaced
from dashboard.files import entries, layout, store, writing
from tests.config.odd_yaml import OddFile, any_value
from tests.dashboard.files.world import Home, tag
from tests.promises.rings import few, ring

CHECKED = settings(
    max_examples=ring(fast=100, slow=2500),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
WORDS = ["no", "on", "1:30", "017", "0x1f", "1_000", "2026-11-20", "=", "<<", "~", "null", "y",
         "1e3", ".5", "- a", "a: b", "a #b", "'", '"', "a\nb", "a\n", " a", "", "---", "*a", "&a",
         "!a", "%a", "@a", "`a", "[", "{", "0o17", "+1", "12:30:45", ".inf", "é", "\t", "\x85",
         "\u2028", "\ufeff", "\x00", "😀", "|", ">", "? a", "TRUE", "a\r\nb", "#a"]  # fmt: skip
TEXT = st.sampled_from(WORDS) | st.text(max_size=12)
SCALAR = (
    TEXT
    | st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**63 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
)
VALUE = st.recursive(
    SCALAR,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=8,
)
OWN = st.dictionaries(TEXT.map(lambda text: f"x-{text}"), VALUE, max_size=4)


SHOP = layout.place("apps", "shop")


def agree(data: bytes, value: Any) -> bool:
    """Whether reading the bytes gives the value, as JSON tells values apart."""
    read = entries.read(SHOP, data).value
    return json.dumps(read, sort_keys=True) == json.dumps(value, sort_keys=True)


@CHECKED
@given(OWN, OWN)
def test_reading_what_was_written_gives_the_same_value(
    first: dict[str, Any], second: dict[str, Any]
):
    made = writing.apply(SHOP, None, lambda _old: first)
    assert agree(made, first)

    made = writing.apply(SHOP, made, lambda _old: second)
    assert agree(made, second)


@CHECKED
@given(st.dictionaries(st.sampled_from(WORDS), st.sampled_from(WORDS), max_size=4))
def test_readers_of_yaml_1_1_take_no_text_for_anything_else(value: dict[str, str]):
    """The pure loader of PyYAML is one."""
    made = writing.apply(SHOP, None, lambda _old: {"x-mine": value})

    assert yaml.safe_load(made) == {"x-mine": value}


@pytest.mark.parametrize("chunk", range(10))
def test_whatever_a_hand_wrote_can_be_put_to_any_mapping(chunk: int):
    for number in range(50):
        rng = random.Random(chunk * 1000 + number)
        put_by_hand(rng, OddFile.make(rng))


def put_by_hand(rng: random.Random, hand: OddFile) -> None:
    value = {f"x-{number}": any_value(rng) for number in range(rng.randrange(4))}
    old = entries.read(SHOP, hand.data()).value
    kept = {key: inner for key, inner in old.items() if rng.random() < 0.6}

    made = writing.apply(SHOP, hand.data(), lambda _old: {**kept, **value})

    assert agree(made, {**kept, **value})
    assert made.startswith(hand.bom)


@pytest.mark.parametrize("chunk", range(10))
def test_a_patch_touches_no_line_but_those_of_what_it_changes(chunk: int):
    for number in range(50):
        rng = random.Random(chunk * 1000 + number)
        patch_by_hand(rng, OddFile.make(rng))


def patch_by_hand(rng: random.Random, hand: OddFile) -> None:
    path = rng.choice(hand.paths)
    patch: Any = rng.choice([None, any_value(rng)])
    for part in reversed(path):
        patch = {part: patch}

    made = writing.apply(SHOP, hand.data(), lambda old: writing.merge(old, patch))

    mine = [at for at, line in enumerate(hand.lines) if line.owner and starts(line.owner, path)]
    others = [
        line.text
        for at, line in enumerate(hand.lines)
        if line.text and not mine[0] <= at <= mine[-1] and not starts(path, line.owner or ("?",))
    ]
    remains = iter(made.removeprefix(hand.bom).decode().split(hand.newline))
    assert [line for line in others if line not in remains] == []  # each, and in their order
    assert made.startswith(hand.bom)


def starts(one: tuple[str, ...], other: tuple[str, ...]) -> bool:
    return one[: len(other)] == other


# -- many writers and an editor: a thousand operations in all --------------------------------

WRITERS, ROUNDS = 8, 40
HEAD = "# shop, by hand\nname: Shop   # what it is called\nport: 3000\n\n# counters\nx-count:\n"


class Editor:
    """Appends a comment line to the file through the shell, after every fourth write."""

    def __init__(self, home: Home) -> None:
        self.path = home.path / "apps" / "shop.yaml"
        self.wrote: list[str] = []
        self.turn = threading.Semaphore(0)
        self.stop = threading.Event()
        self.thread = threading.Thread(target=self._run)

    def _run(self) -> None:
        while self.turn.acquire() and not self.stop.is_set():
            line = f"# edit {len(self.wrote)}"
            subprocess.run(["sh", "-c", f'echo "{line}" >> "{self.path}"'], check=True)
            self.wrote.append(line)

    def __enter__(self) -> Editor:
        self.thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop.set()
        self.turn.release()
        self.thread.join()
        displaced.settle()


def count_up(key: str, editor: Editor, failed: list[BaseException]) -> None:
    """Half of the rounds by PUT with If-Match, half by PATCH of the writer's own key."""
    try:
        done = 0
        while done < ROUNDS:
            entry = store.get("apps", "shop")
            assert entry is not None
            assert entry.value is not None
            mapping = copy.deepcopy(entry.value)
            mapping["x-count"][key] += 1
            try:
                if done % 2:
                    store.patch("apps", "shop", {"x-count": {key: done + 1}})
                else:
                    store.put("apps", "shop", mapping, if_match=entry.etag)
                done += 1
                if done % 4 == 0:
                    editor.turn.release()
            except Conflict as error:  # of a PATCH only after five tries
                if error.code != "changed":
                    raise
    except BaseException as error:
        failed.append(error)
        raise


@pytest.mark.timeout(120)
def test_no_update_is_lost_among_writers_with_if_match_and_an_editor(home: Home):
    keys = [f"writer-{number}" for number in range(WRITERS)]
    home.write("apps/shop.yaml", HEAD + "".join(f"  {key}: 0   # {key}\n" for key in keys))
    failed: list[BaseException] = []

    with Editor(home) as editor:
        threads = [threading.Thread(target=count_up, args=(key, editor, failed)) for key in keys]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    assert failed == []
    text = home.read("apps/shop.yaml").decode()
    entry = store.get("apps", "shop")
    assert entry is not None
    assert entry.value is not None
    assert entry.value["x-count"] == dict.fromkeys(keys, ROUNDS)
    assert [line for line in HEAD.splitlines() if line not in text.splitlines()] == []
    assert all(f"# {key}" in text for key in keys)
    beside = "".join(path.read_text() for path in home.path.glob("apps/*.conflict-*"))
    assert [line for line in editor.wrote if line not in (text + beside).splitlines()] == []
    assert len(editor.wrote) > WRITERS


@pytest.mark.parametrize("number", few(range(4), 1))
def test_edits_by_sed_between_writes_stay_and_the_file_always_parses(home: Home, number: int):
    rng = random.Random(number)
    path = home.write("apps/shop.yaml", HEAD + "  a: 0   # a\n  b: 0   # b\n")
    count, edits, stale = {"a": 0, "b": 0}, 0, '"0"'
    for _ in range(170):
        entry = store.get("apps", "shop")
        assert entry is not None
        assert entry.error is None
        assert entry.value is not None
        assert entry.value["x-count"] == count
        key = rng.choice("ab")
        roll = rng.random()
        if roll < 0.3:
            count[key] += 1
            store.patch("apps", "shop", {"x-count": {key: count[key]}}, if_match=entry.etag)
        elif roll < 0.6:
            count[key] += 1
            store.put("apps", "shop", {**entry.value, "x-count": dict(count)})
        elif roll < 0.8:
            edits += 1
            subprocess.run(["sed", "-i", f"1s/.*/# shop, {edits} edits/", path], check=True)
        else:
            with pytest.raises(Conflict):
                store.put("apps", "shop", {}, if_match=stale)
        now = tag(home.read("apps/shop.yaml"))
        stale = entry.etag if entry.etag and entry.etag != now else stale

    text = home.read("apps/shop.yaml").decode()
    first = f"# shop, {edits} edits" if edits else "# shop, by hand"
    assert text == (
        f"{first}\nname: Shop   # what it is called\nport: 3000\n\n# counters\nx-count:\n"
        f"  a: {count['a']}   # a\n  b: {count['b']}   # b\n"
    )
