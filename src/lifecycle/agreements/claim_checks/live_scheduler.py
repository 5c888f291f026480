"""Claims about scheduling, put to a real scheduler over nodes that no kubelet stands
behind (`generators/programs/scheduling.py`).
"""

from __future__ import annotations

from lifecycle.compare.claims import Partly, live
from lifecycle.compare.program_answers import ProgramAnswers


@live("scheduler-picks-pods-without-node-name")
def picks_pods(answers: ProgramAnswers) -> bool:
    """Of three pods the one that has no node and is not another scheduler's."""
    return bool(answers["scheduling/which-pods"] == ["after"])


@live("scheduler-filters-run-on-all-schedulable-nodes")
def filters_run(answers: ProgramAnswers) -> Partly:
    """On all of twenty nodes, not on all of three hundred."""
    looked = answers["scheduling/nodes-looked-at"]
    return Partly(
        looked["20"] and looked["beside a cordoned one"] == "open", not looked["300"]
    )


@live("scheduler-capacity-is-total-minus-requests")
def capacity(answers: ProgramAnswers) -> bool:
    """Three CPUs would fit into four; only two are allocatable."""
    places = answers["scheduling/allocatable"]
    assert places["1.5"] == "half", "the node can be had"
    return bool(places["3"])


@live("scheduler-counts-running-containers-only")
def counts_running(answers: ProgramAnswers) -> Partly:
    """What has ended does not count; what never ran does."""
    counted = answers["scheduling/what-counts"]
    return Partly(
        counted["after it"] == "half",
        counted["the first one's phase"] == "Pending" and counted["beside it"] == "",
    )


@live("scheduler-favours-least-requested-nodes")
def least_requested(answers: ProgramAnswers) -> bool:
    """The idle one, each time."""
    return set(answers["scheduling/least-requested"]) == {"idle"}


@live("scheduler-policy-config-file-flag")
def policy_file(answers: ProgramAnswers) -> bool:
    """The flag would be known."""
    refused = answers["flags/policy-config-file"]
    return not (refused["exit"] and refused["unknown flag"])


@live("scheduler-custom-scheduler-as-deployment")
def another_scheduler(answers: ProgramAnswers) -> bool:
    """A process with a kubeconfig is enough: what names it waits until it is there."""
    return bool(answers["scheduling/another"] == {"before": "", "after": "n1"})


@live("scheduler-schedulers-register-their-name")
def registers(answers: ProgramAnswers) -> bool:
    """It would have to write its name somewhere: everything that it wrote is about
    pods.
    """
    written = answers["scheduling/registration"]
    assert "create pods/binding" in written, "it did something"
    return not set(written) <= {"create events", "patch events", "create pods/binding",
                                "patch pods/status"}  # fmt: skip


@live("binding-merges-annotations-into-pod")
def binding_annotations(answers: ProgramAnswers) -> Partly:
    """The annotation is the pod's; but so is the label, and the node's zone, which the
    Binding did not have.
    """
    bound = answers["scheduling/binding-metadata"]
    return Partly(
        bound["annotations"] == {"note": "x"},
        bound["labels"] == {"label": "x", "topology.kubernetes.io/zone": "a"},
    )
