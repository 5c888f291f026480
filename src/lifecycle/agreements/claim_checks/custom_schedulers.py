"""Claims about schedulers beside the default one, and how they are told apart."""

from __future__ import annotations

from lifecycle.agreements.claim_checks.scheduler import hand_over, node, pod
from lifecycle.agreements.scheduler.scheduling import NOBODYS
from lifecycle.compare.claims import check, rebuilt
from lifecycle.historical.scheduler.policy import GenericScheduler, parse_policy
from lifecycle.inspector import Recording
from lifecycle.scheduler.framework.node_info import NodeInfo, PodInfo


@rebuilt("scheduler-policy-config-file-flag", model=True)
def policy_file() -> bool:
    """In the model: a file that only wants full nodes decides otherwise than the
    defaults.
    """
    nodes = [NodeInfo(node("idle")), NodeInfo(node("busy"))]
    nodes[1].add_pod(PodInfo(pod("r", "2", nodeName="busy")))
    priorities_of = [{"name": "MostRequestedPriority", "weight": 1}]
    packed = parse_policy(
        {"kind": "Policy", "apiVersion": "v1", "priorities": priorities_of}
    )
    plain = parse_policy({"kind": "Policy", "apiVersion": "v1"})
    info = PodInfo(pod("p", "100m"))
    return (
        GenericScheduler(packed).best(info, nodes)
        == ["busy"]
        != GenericScheduler(plain).best(info, nodes)
    )


@rebuilt("scheduler-custom-scheduler-as-deployment")
def custom_runs() -> bool:
    """Any client with the right to bind: ours places the pod that asks for it."""
    return bool(hand_over()["after"]["custom"])


@check("scheduler-scheduler-name-hands-over")
def left_alone(recording: Recording) -> bool:
    """The recorded pod of another scheduler stays without a node, and without a
    word.
    """
    pods = [
        e.response
        for e in recording.exchanges("scheduling")
        if e.path.endswith(f"/pods/{NOBODYS}")
    ]
    return bool(pods) and not any(
        p["spec"].get("nodeName") or p["status"].get("conditions") for p in pods
    )


@rebuilt("scheduler-scheduler-name-hands-over")
def left_alone_here() -> bool:
    """The default scheduler leaves it; the one it asks for takes it, and leaves the
    other.
    """
    seen = hand_over()
    ours = seen["before"]["ours"], seen["after"]["ours"]
    return (
        seen["before"]["custom"] is None
        and bool(seen["after"]["custom"])
        and bool(ours[0])
        and ours[0] == ours[1]
    )


@rebuilt("scheduler-schedulers-register-their-name")
def registers() -> bool:
    """Whether it ever writes anything but bindings and events."""
    written = hand_over()["custom"]
    return not written or any(
        not path.endswith(("/binding", "/events", "/status")) for path in written
    )
