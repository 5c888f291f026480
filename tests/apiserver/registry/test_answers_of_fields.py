"""An odd value in each field of each kind: a text with signs, a text without, a number too small, none, one too large, nothing at all.

What Kubernetes' own API server said to each – refusals word for word, and of what it took every field with its default – is in
`answers_of_fields.jsonl.gz`; `python -m tests.differential.record_fields` asks it again.
"""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from lifecycle.api.clock import run_virtual
from lifecycle.api.status import PanicError
from lifecycle.api.wire import MASTERS
from lifecycle.apiserver.server.create_server_chain import create_server_chain
from lifecycle.cluster.target import HandlerTarget
from lifecycle.etcd.memory import MemoryStore
from tests.differential.answers import differences
from tests.differential.case import Step
from tests.differential.player import Player

KEPT = Path(__file__).parent / "answers_of_fields.jsonl.gz"
ROWS = {row["kind"]: row for row in map(json.loads, gzip.decompress(KEPT.read_bytes()).splitlines())}


async def disagreements(row: dict[str, Any]) -> list[str]:
    server = create_server_chain(MemoryStore())
    await server.start()
    try:
        player = Player(HandlerTarget(server, ("kubernetes-admin", (MASTERS,))), "replayed")
        await player.begin()
        found = []
        for brief, real in zip(row["steps"], row["answers"], strict=True):
            step = Step(**brief)
            try:
                ours = await player.answer(step)
            except PanicError:
                ours = {"status": 0}
            if real is not None:
                found += [f"{step.method} {json.dumps(step.body)}: {line}" for line in differences(real, ours)]
        return found
    finally:
        await server.stop()


@pytest.mark.parametrize("kind", ROWS)
def test_an_odd_value_in_each_field_is_answered_as_the_real_server_did(kind: str) -> None:
    found = run_virtual(disagreements(ROWS[kind]))
    assert not found, "\n".join(found[:20])


def test_nearly_all_of_them_are_there_and_few_are_left_to_chance() -> None:
    answers = [answer for row in ROWS.values() for answer in row["answers"]]
    assert len(ROWS) > 60
    assert len(answers) > 8_000
    assert answers.count(None) < len(answers) / 50
