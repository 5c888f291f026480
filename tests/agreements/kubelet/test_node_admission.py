"""Admission and cgroups: a real kubelet's answers are ours, and what only one side has is a difference."""

from __future__ import annotations

from typing import Any

import pytest

from lifecycle.agreements.kubelet import node_admission
from lifecycle.agreements.kubelet.node_admission import cgroup_agreement, node_admission_agreement


def test_ours_takes_and_refuses_the_same_pods() -> None:
    table = node_admission_agreement()
    assert [f"{question}{difference}" for question, difference in table.unexplained] == []
    assert len(table.computed) == 45


def test_every_group_has_the_recorded_values() -> None:
    table = cgroup_agreement()
    assert [f"{question}{difference}" for question, difference in table.unexplained] == []
    assert len(table.computed) == 32


def test_a_group_that_only_we_have_is_a_difference(monkeypatch: pytest.MonkeyPatch) -> None:
    real = node_admission.our_groups

    def more(asked: Any) -> Any:
        return {**real(asked), "kubepods/extra": dict(node_admission.UNTOLD)}

    monkeypatch.setattr(node_admission, "our_groups", more)
    assert {row.input.partition(": ")[2] for row in cgroup_agreement().rows if not row.equal} == {"kubepods/extra"}
