"""Our rules for Services of every shape, and a real kube-proxy's."""

from __future__ import annotations

from lifecycle.agreements.proxy.odd_services import odd_services_agreement


def test_every_set_of_rules_is_the_real_one() -> None:
    table = odd_services_agreement()
    assert [f"{question}{difference}" for question, difference in table.unexplained] == []
    assert len(table.computed) == 40
