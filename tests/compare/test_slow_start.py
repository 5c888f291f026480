"""A ReplicaSet's pods are asked for in batches, each after the answers of the one before."""

from __future__ import annotations

from typing import Any

import pytest

from lifecycle.compare.held import compare_held
from lifecycle.compare.rollouts import Rollouts
from lifecycle.compare.slow_start import SlowStart
from lifecycle.inspector import open_recording

Line = dict[str, Any]


def log(order: str) -> list[Line]:
    """`A` asks for a pod, `a` answers that: one ReplicaSet's audit log, in that order."""
    return [
        {
            "stage": "RequestReceived" if letter.isupper() else "ResponseComplete",
            "auditID": letter.lower(),
            "stageTimestamp": f"2026-01-01T00:00:{second:02d}.000000Z",
            "verb": "create",
            "user": {"username": "system:serviceaccount:kube-system:replicaset-controller"},
            "objectRef": {"resource": "pods", "namespace": "n"},
            "requestObject": {"metadata": {"ownerReferences": [{"name": "web"}]}},
        }
        for second, letter in enumerate(order)
    ]


@pytest.mark.parametrize(
    ("order", "raised", "complaints"),
    [
        ("AaBCbcDEFdef", [6], 0),  # 1, 2, 4
        ("AaBbCcDd", [4], 0),  # slower than it might be
        ("ABabCc", [3], 1),  # the second did not wait
        ("ABCabc", [3], 2),  # all at once
        ("AaBCDbcd", [4], 1),  # the fourth did not wait for the second batch
        ("AaBbCc", [1, 1, 1], 0),
        ("AaBCbc", [1, 2], 1),  # a burst begins with one again
        ("AaBbCc", [1], 0),  # nobody raised it any more: pods that stand in for others
    ],
)
def test_a_batch_waits_for_the_one_before(order: str, raised: list[int], complaints: int) -> None:
    held = SlowStart.of(log(order), {"web": raised})
    assert held.checks == len(order) // 2
    assert len(held.complaints) == complaints
    lawful = SlowStart.of(log("Aa"), {"web": [1]})
    assert len(compare_held(held, lawful).differences) == complaints
    assert len(compare_held(lawful, held).differences) == complaints


def test_the_recorded_controller_kept_to_it() -> None:
    recording = open_recording()
    raised = Rollouts.of(list(recording.watch("journey")), ()).raised
    held = SlowStart.of(recording.audit(), raised)
    assert (held.checks, held.complaints) == (15, [])
    at_once = SlowStart.of(recording.audit(), {name: [1] * 20 for name in raised})
    assert at_once.complaints, "batches of one each were not what it sent"
