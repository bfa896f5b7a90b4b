"""What is remembered stays within its limit, the least used going first, and can be forgotten."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest

from review import caches
from review.models import CommitRow, FileRow, PatchRow, RepoRow


@pytest.fixture
def memory(monkeypatch: pytest.MonkeyPatch) -> caches.Memory[str, str]:
    monkeypatch.setattr(caches, "_forget", [])
    return caches.Memory(6, weigh=len)


def test_the_least_used_values_go_when_the_limit_is_passed(memory: caches.Memory[str, str]):
    memory.put("a", "11")
    memory.put("b", "22")
    memory.put("c", "33")
    assert memory.get("a") == "11"

    memory.put("d", "44")

    assert [memory.get(key) for key in "abcd"] == ["11", None, "33", "44"]


def test_a_value_put_again_weighs_once(memory: caches.Memory[str, str]):
    memory.put("a", "11")
    for _ in range(10):
        memory.put("b", "2222")

    assert (memory.get("a"), memory.get("b")) == ("11", "2222")


def test_a_value_heavier_than_the_limit_stays_alone(memory: caches.Memory[str, str]):
    memory.put("a", "11")
    memory.put("b", "2" * 100)

    assert (memory.get("a"), memory.get("b")) == (None, "2" * 100)
    memory.put("c", "33")
    assert (memory.get("b"), memory.get("c")) == (None, "33")


def test_many_threads_may_use_one_memory(memory: caches.Memory[str, str]):
    def use(number: int) -> bool:
        key = str(number % 7)
        memory.put(key, key)
        return memory.get(key) in (key, None)

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(use, range(5000)))


@pytest.mark.django_db
def test_clearing_forgets_memory_and_every_index_table(memory: caches.Memory[str, str]):
    forgotten: list[str] = []
    caches.register(lambda: forgotten.append("mine"))
    memory.put("a", "11")
    CommitRow.objects.create(key="1:", data=[])
    PatchRow.objects.create(sha="1")
    FileRow.objects.create(key="a", path="a", stat="", etag="")
    RepoRow.objects.create(key="a/b", stamp="")

    caches.clear()

    assert memory.get("a") is None
    assert forgotten == ["mine"]
    assert [row.objects.count() for row in (CommitRow, PatchRow, FileRow, RepoRow)] == [0] * 4
