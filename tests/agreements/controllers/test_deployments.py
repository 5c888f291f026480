"""The Deployment table: full agreement with every recorded write, refused ones included; and a changed rule shows."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest

from lifecycle.agreements.controllers import deployments
from lifecycle.agreements.controllers.deployments import deployment_agreement
from lifecycle.agreements.controllers.told_events import Telling
from lifecycle.api.http.wire import Object
from lifecycle.compare import AgreementTable
from lifecycle.controllers.deployment import deployment_control, progress, rolling, sync
from lifecycle.inspector import open_recording

HASHES, POSTED, RESIZED, STATUSES = (
    "pod-template-hash of every ReplicaSet",
    "each new ReplicaSet, as it was posted",
    "each change of a size or revision",
    "each status it wrote",
)
EVENTS = "each event it wrote or raised"


def different(table: AgreementTable) -> list[str]:
    return [row.input for row in table.rows if not row.equal]


def test_every_recorded_write_is_ours() -> None:
    table = deployment_agreement(open_recording())
    assert table.equal, table.unexplained[:3]
    assert [row.ours for row in table.rows] == [
        "4 hashes", "2 requests", "23 requests, 3 in vain", "67 requests, 6 in vain", "21 events", "1 patches",
    ]  # fmt: skip


def surge_rounded_down(deployment: Object, all_replica_sets: Iterable[Object], new_rs: Object) -> int:
    desired = int(deployment["spec"]["replicas"])
    room = desired + desired * 25 // 100 - sum(rs["spec"]["replicas"] for rs in all_replica_sets)
    size = int(new_rs["spec"]["replicas"])
    return size + max(0, min(room, desired - size))


def without_annotations(rs: Object, desired: int, maximum: int) -> bool:
    return False


@pytest.mark.parametrize(
    ("module", "part", "wrong", "rows"),
    [
        (deployments, "compute_hash", lambda template: "747d4c55d8", {HASHES}),
        (sync, "new_rs_new_replicas", surge_rounded_down, {POSTED}),
        (rolling, "max_unavailable", lambda d: 0, {RESIZED}),
        (rolling, "new_rs_new_replicas", surge_rounded_down, {RESIZED}),
        (deployment_control, "set_replicas_annotations", without_annotations, {RESIZED}),
        (progress, "deployment_complete", lambda d, status: False, {STATUSES}),
        (progress, "deployment_progressing", lambda d, status: False, {STATUSES}),
    ],
)
def test_a_wrong_rule_turns_its_row_red(
    monkeypatch: pytest.MonkeyPatch, module: Any, part: str, wrong: Any, rows: set[str]
) -> None:
    monkeypatch.setattr(module, part, wrong)
    assert rows <= set(different(deployment_agreement(open_recording())))


def test_a_message_in_other_words_turns_the_events_red(monkeypatch: pytest.MonkeyPatch) -> None:
    """As 1.20 said it: without the old size."""
    tell = Telling.event
    monkeypatch.setattr(
        Telling, "event", lambda self, obj, kind, reason, text: tell(self, obj, kind, reason, text[:-9])
    )
    assert different(deployment_agreement(open_recording())) == [EVENTS]
