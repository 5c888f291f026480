"""Our looks at the recorded containers."""

from __future__ import annotations

from lifecycle.agreements.kubelet.pleg import DIED, REMOVED, STARTED, Life, pleg_agreement
from lifecycle.inspector import open_recording


def test_what_became_of_each_container_is_found_out() -> None:
    table = pleg_agreement(open_recording())
    assert [f"{question}{difference}" for question, difference in table.unexplained] == []
    assert len(table.computed) == 28


def test_what_happens_within_a_second_is_not_seen() -> None:
    assert Life("p", "i", "c", 1.0, 1.0).events() == [DIED]
    assert Life("p", "i", "c", 1.0, 2.0, 2.0).events() == [STARTED, DIED, REMOVED]
    assert Life("p", "i", "c", 1.0, 1.0, 1.0).events() == []
