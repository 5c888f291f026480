"""Why a pod fits nowhere, kept by name and by class: the same to whoever asks."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from lifecycle.scheduler.batch.status_by_class import StatusByClass
from lifecycle.scheduler.framework.node_info import NodeInfo
from lifecycle.scheduler.framework.node_to_status import StatusByName
from lifecycle.scheduler.framework.status import Code, Status, unresolvable, unschedulable
from lifecycle.scheduler.framework.types import Diagnosis, FitError, count_reasons
from tests.scheduler.cluster_model import make_node

FULL, TAINTED, CLOSED = (
    unschedulable("fit", "Insufficient cpu", "Insufficient memory"),
    unresolvable("taints", "node(s) had untolerated taint(s)"),
    unschedulable("ports", "Insufficient cpu"),
)


def nodes(number: int) -> list[NodeInfo]:
    return [NodeInfo(make_node(f"n{i}")) for i in range(number)]


@given(said=st.lists(st.sampled_from([FULL, TAINTED, CLOSED]), min_size=1, max_size=40))
def test_answers_by_class_are_told_as_the_same_answers_by_name(said: list[Status]) -> None:
    names = [f"n{i}" for i in range(len(said))]
    by_name = StatusByName(dict(zip(names, said, strict=True)))
    numbers = {FULL: -1, TAINTED: -2, CLOSED: 0}
    classes = [numbers[status] for status in said]
    of_class = {number: status for status, number in numbers.items() if number in classes}
    sizes = {number: classes.count(number) for number in of_class}
    by_class = StatusByClass({name: i for i, name in enumerate(names)}, classes, of_class, sizes)
    assert dict(by_class) == dict(by_name)
    assert len(by_class) == len(by_name)
    assert by_class.get("elsewhere") is None
    assert count_reasons(by_class.tally()) == count_reasons(by_name.tally())
    for code in Code:
        expected = [i for i, status in enumerate(said) if status.code is code]
        for told in (by_name, by_class):
            assert list(told.positions_for_status_code(nodes(len(said)), code)) == expected


def test_a_node_that_was_not_looked_at_has_no_status_with_a_code_and_is_counted_with_the_absent() -> None:
    diagnosis = Diagnosis(absent_nodes_status=unresolvable("", "node(s) were left out"))
    diagnosis.set("n1", FULL)
    places = diagnosis.node_to_status.positions_for_status_code(nodes(4), Code.UNSCHEDULABLE)
    assert list(places) == [1]
    assert str(FitError(4, diagnosis)) == (
        "0/4 nodes are available: 1 Insufficient cpu, 1 Insufficient memory, 3 node(s) were left out."
    )
    for node in ("n0", "n2", "n3"):
        diagnosis.set(node, TAINTED)
    assert "left out" not in str(FitError(4, diagnosis))
    assert diagnosis.unschedulable_plugins == {"fit", "taints"}
