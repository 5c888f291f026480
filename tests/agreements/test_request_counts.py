"""What one command costs: the same number of writes by everybody, as the audit log has it."""

from __future__ import annotations

from lifecycle.agreements import request_counts
from lifecycle.agreements.request_counts import cost_agreement, our_costs, recorded_costs
from lifecycle.inspector import open_recording


def test_every_component_writes_as_often_as_recorded() -> None:
    table = cost_agreement(open_recording())
    assert table.equal, [str(d) for _, d in table.unexplained]
    assert len(table.rows) >= 12


def test_a_status_written_too_often_is_noticed(monkeypatch) -> None:
    monkeypatch.setattr(request_counts, "our_costs", lambda **_: our_costs(4))
    assert not cost_agreement(open_recording()).equal


def test_the_price_of_a_pod_does_not_grow_with_their_number() -> None:
    few, many = our_costs(5), our_costs(50)
    assert many["kube-scheduler", "create", "pods/binding"] == 50
    assert sum(many.values()) <= 10 * sum(few.values())
    assert many["kubernetes-admin", "create", "deployments"] == 1


def test_the_recorded_command_cost_what_the_book_says() -> None:
    assert sum(recorded_costs(open_recording()).values()) == 49
