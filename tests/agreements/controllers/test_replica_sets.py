"""The ReplicaSet table: full agreement with the recorded journey; and a changed rule shows."""

from __future__ import annotations

from typing import Any

import pytest

from lifecycle.agreements.controllers import replica_sets
from lifecycle.agreements.controllers.replica_sets import replica_set_agreement
from lifecycle.api.http.wire import Object
from lifecycle.compare import AgreementTable
from lifecycle.inspector import open_recording


def different(table: AgreementTable) -> list[str]:
    return [row.input for row in table.rows if not row.equal]


def test_every_recorded_decision_is_ours() -> None:
    table = replica_set_agreement(open_recording())
    assert table.equal, table.unexplained[:3]
    assert [row.ours for row in table.rows] == [
        "2 ReplicaSets", "15 pods", "10 syncs", "70 statuses", "13 pods", "28 events", "10 requests",
    ]  # fmt: skip


def oldest_first(pods: list[Object], related: Any, diff: int, now: float) -> list[Object]:
    return sorted(pods, key=lambda pod: str(pod["metadata"]["creationTimestamp"]))[:diff]


async def all_at_once(count: int, initial: int, create: Any) -> tuple[int, None]:
    import asyncio

    await asyncio.gather(*(create() for _ in range(count)))
    return count, None


def without_blocking(owner: Object) -> Object:
    return {
        "apiVersion": owner["apiVersion"],
        "kind": owner["kind"],
        **{k: owner["metadata"][k] for k in ("name", "uid")},
    }


@pytest.mark.parametrize(
    ("part", "wrong", "row"),
    [
        ("get_pods_to_delete", oldest_first, "each pod it chose to delete"),
        ("slow_start_batch", all_at_once, "sizes of the batches they came in"),
        ("new_controller_ref", without_blocking, "owner reference of each new ReplicaSet"),
        ("calculate_status", lambda *_: {"replicas": 0}, "each status it wrote"),
    ],
)
def test_a_wrong_rule_turns_its_row_red(monkeypatch: pytest.MonkeyPatch, part: str, wrong: Any, row: str) -> None:
    monkeypatch.setattr(replica_sets, part, wrong)
    assert different(replica_set_agreement(open_recording())) == [row]
