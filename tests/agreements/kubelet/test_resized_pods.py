"""Our kubelet's resizes beside a real one's."""

from __future__ import annotations

from lifecycle.agreements.asked_programs import asked

from lifecycle.agreements.kubelet.resized_pods import resized_pods_agreement


def test_every_step_ends_as_it_did_with_the_real_kubelet() -> None:
    table = resized_pods_agreement()
    assert [f"{step}{difference}" for step, difference in table.unexplained] == []
    assert len(table.computed) == sum(len(scene.answer["steps"]) for scene in asked(None, "resized")) > 40
