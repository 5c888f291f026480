"""What a runtime is told, by a real kubelet and by ours."""

from __future__ import annotations

from lifecycle.agreements.kubelet.configured import configured_agreement


def test_ours_tells_the_runtime_what_the_real_kubelet_does() -> None:
    table = configured_agreement()
    assert [f"{pod}{difference}" for pod, difference in table.unexplained] == []
    assert len(table.computed) > 40
