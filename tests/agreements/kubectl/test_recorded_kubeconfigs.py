"""Forty sets of kubeconfig files, read and changed as a real kubectl did."""

from __future__ import annotations

from lifecycle.agreements.kubectl.recorded_kubeconfigs import SETS, recorded_kubeconfig_agreement


def test_files_are_read_and_changed_as_recorded() -> None:
    table = recorded_kubeconfig_agreement()
    assert [f"{question}{difference}" for question, difference in table.unexplained] == []
    assert len(table.computed) == 15
    assert table.opening is not None
    assert table.opening(table).startswith(f"{SETS} sets")
