"""T9: turns of one chat never interleave, with any number of senders and workers."""

from __future__ import annotations

import threading
from functools import partial

import pytest
from django.db import connections

from config.errors import Conflict
from tests.promises.rings import ring
from tests.service import until
from tests.workspace.chats.conftest import world  # noqa: F401 - a fixture
from tests.workspace.chats.world import FORK, World, ended, serve
from workspace.models import Turn

SENDERS, WORKERS = 10, 3
EACH = ring(fast=2, slow=100)
LONGEST_S = ring(fast=60, slow=1800)


@pytest.mark.promise("T9")
@pytest.mark.timeout(3600)
def test_turns_of_one_chat_run_whole_one_after_the_other_in_the_order_sent(world: World):  # noqa: F811
    chat = world.chat().chat.id
    accepted: list[str] = []

    def send(sender: int) -> None:
        for number in range(EACH):
            prompt = f'#!runbook\n```TodoWrite\n{{"todos": []}}\n```\nsender {sender} {number}\n'
            until(partial(_sent, world, chat, prompt, accepted), seconds=LONGEST_S)
        connections.close_all()

    everything_sent = FORK.Event()
    workers = [world._fork(serve, everything_sent) for _ in range(WORKERS)]
    senders = [threading.Thread(target=send, args=(n,)) for n in range(SENDERS)]
    for sender in senders:
        sender.start()
    for sender in senders:
        sender.join(LONGEST_S)
    everything_sent.set()
    for worker in workers:
        ended(worker, LONGEST_S)

    records = world.records(chat)
    turns = list(dict.fromkeys(record["turn"] for record in records))
    assert len(turns) == SENDERS * EACH
    assert [record["turn"] for record in records] == sorted(
        (record["turn"] for record in records), key=turns.index
    )
    assert turns == sorted(accepted)
    assert [record["seq"] for record in records] == list(range(1, len(records) + 1))
    assert set(Turn.objects.filter(chat=chat).values_list("state", flat=True)) == {"done"}
    said = [record["text"].split()[1:] for record in records if record["type"] == "assistant"]
    for number in range(SENDERS):
        assert [n for who, n in said if who == str(number)] == [str(n) for n in range(EACH)]


def _sent(world: World, chat: str, prompt: str, accepted: list[str]) -> bool:  # noqa: F811
    """Whether the queue had room."""
    try:
        accepted.append(world.send(chat, prompt).turn.id)
    except Conflict as full:
        if full.code != "queue_full":
            raise
        return False
    return True
