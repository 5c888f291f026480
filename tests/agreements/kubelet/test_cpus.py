"""The CPU manager: a real kubelet gives the same CPUs to the same containers."""

from __future__ import annotations

from lifecycle.agreements.kubelet.cpus import cpu_agreement


def test_the_same_cpus_for_the_same_pods() -> None:
    table = cpu_agreement()
    assert [f"{question}{difference}" for question, difference in table.unexplained] == []
    assert len(table.computed) == 42
