"""Our evictions beside a real kubelet's."""

from __future__ import annotations

from lifecycle.agreements.asked_programs import asked
from lifecycle.agreements.kubelet.evicted_pods import evicted_pods_agreement


def test_every_pod_goes_when_it_went_on_the_real_node() -> None:
    table = evicted_pods_agreement()
    assert [f"{pod}{difference}" for pod, difference in table.unexplained] == []
    [scene] = asked(None, "evicted")
    assert len(table.computed) == len(scene.answer["pods"]) + 1 > 10
    assert "stays" in {row.cluster for row in table.computed}
