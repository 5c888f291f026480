"""What ours says of a runtime that fails, beside a real kubelet."""

from __future__ import annotations

from lifecycle.agreements.kubelet.troubled import troubled_agreement


def test_every_failure_is_told_as_the_real_kubelet_told_it() -> None:
    table = troubled_agreement()
    assert [f"{pod}{difference}" for pod, difference in table.unexplained] == []
    assert {row.cluster for row in table.computed} >= {"Running", "CreateContainerError, Pending"}
