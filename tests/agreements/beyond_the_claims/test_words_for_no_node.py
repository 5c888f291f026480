"""What a pod is told that fits nowhere: how many nodes have which reason, in the order of the alphabet."""

from __future__ import annotations

import pytest

from lifecycle.scheduler.framework.status import Code, Status
from lifecycle.scheduler.framework.types import Diagnosis, FitError


def no(*reasons: str) -> Status:
    return Status(Code.UNSCHEDULABLE, reasons, "Plugin")


CPU, MEMORY, TAINT = "Insufficient cpu", "Insufficient memory", "node(s) had untolerated taint(s)"
TOLD: list[tuple[int, list[Status], Status, str, str, str]] = [
    # nodes, what some said, what the absent say, before, after; the text
    (1, [no(CPU)], no(), "", "", " 1 Insufficient cpu."),
    (3, [no(MEMORY), no(CPU), no(CPU)], no(), "", "", " 1 Insufficient memory, 2 Insufficient cpu."),
    (2, [no(CPU, MEMORY), no(CPU)], no(), "", "", " 1 Insufficient memory, 2 Insufficient cpu."),
    (12, [no(CPU)] * 10 + [no(TAINT)] * 2, no(), "", "", f" 10 Insufficient cpu, 2 {TAINT}."),
    (3, [no(CPU)], no(TAINT), "", "", f" 1 Insufficient cpu, 2 {TAINT}."),
    (3, [no(CPU)], no(CPU), "", "", " 3 Insufficient cpu."),
    (1, [no(CPU)], no(TAINT), "", "", " 1 Insufficient cpu."),
    (2, [], no(), "", "", ""),
    (2, [no(CPU)], no(), "it has a claim", "", " it has a claim."),
    (2, [no(CPU)], no(TAINT), "it has a claim", "preemption: no.", " it has a claim. preemption: no."),
    (1, [no(CPU)], no(), "", "preemption: no.", " 1 Insufficient cpu. preemption: no."),
    (2, [], no(), "", "preemption: no.", " preemption: no."),
]


@pytest.mark.parametrize(("nodes", "some", "absent", "before", "after", "text"), TOLD)
def test_each_reason_is_told_with_the_number_of_nodes_that_have_it(
    nodes: int, some: list[Status], absent: Status, before: str, after: str, text: str
) -> None:
    """If PreFilter has said no, nobody asks the nodes. Upstream: `FitError.Error`."""
    diagnosis = Diagnosis(absent_nodes_status=absent, pre_filter_message=before, post_filter_message=after)
    for number, status in enumerate(some):
        diagnosis.set(str(number), status)
    assert str(FitError(nodes, diagnosis)) == f"0/{nodes} nodes are available:{text}"


@pytest.mark.parametrize(
    ("code", "refused", "pending"),
    [
        (Code.UNSCHEDULABLE, {"P"}, set()),
        (Code.UNSCHEDULABLE_AND_UNRESOLVABLE, {"P"}, set()),
        (Code.PENDING, set(), {"P"}),
    ],
)
def test_who_refused_it_is_remembered_and_whom_it_waits_for(code: Code, refused: set[str], pending: set[str]) -> None:
    """Upstream: `Diagnosis.AddPluginStatus`."""
    diagnosis = Diagnosis()
    diagnosis.set("one", Status(code, ("no",), "P"))
    assert (diagnosis.unschedulable_plugins, diagnosis.pending_plugins) == (refused, pending)
