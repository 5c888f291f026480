"""Volumes: a real kubelet's directories are ours."""

from __future__ import annotations

from lifecycle.agreements.kubelet.mounted_volumes import volume_agreement


def test_the_same_files_links_modes_and_complaints() -> None:
    table = volume_agreement()
    assert [f"{question}{difference}" for question, difference in table.unexplained] == []
    assert len(table.computed) == 50
