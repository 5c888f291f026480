"""The end of the recorded pod, played again."""

from __future__ import annotations

from lifecycle.agreements.cri.container_end import container_end_agreement
from lifecycle.inspector import open_recording


def test_a_pod_ends_as_the_recorded_one_did() -> None:
    table = container_end_agreement(open_recording())
    assert [f"{question}{difference}" for question, difference in table.unexplained] == []
    assert len(table.computed) == 4
