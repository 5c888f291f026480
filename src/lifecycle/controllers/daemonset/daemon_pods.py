"""A daemon's pod for a node, and whether the node should have one.

The controller does not place pods any more (it did until v1.12): it makes a pod that
only one node can take, and the scheduler does the rest. So that a daemon comes where
others must not, its pods tolerate most of what can be wrong with a node.

Upstream: `pkg/controller/daemon/util/daemonset_util.go`
(`AddOrUpdateDaemonPodTolerations`, `ReplaceDaemonSetPodNodeNameNodeAffinity`,
`CreatePodTemplate`), `daemon_controller.go` (`NodeShouldRunDaemonPod`), v1.36.
"""

from __future__ import annotations

from typing import NamedTuple

from lifecycle.api.http.wire import Object
from lifecycle.api.node_selector import required_node_affinity
from lifecycle.api.pods.taints import Tolerations, untolerated
from lifecycle.controllers.history.revisions import REVISION_LABEL
from lifecycle.controllers.pod_control import pod_from_template

TEMPLATE_GENERATION = "pod-template-generation"
DEPRECATED_TEMPLATE_GENERATION = "deprecated.daemonset.template.generation"

_TOLERATED = (
    ("node.kubernetes.io/not-ready", "NoExecute"),
    ("node.kubernetes.io/unreachable", "NoExecute"),
    ("node.kubernetes.io/disk-pressure", "NoSchedule"),
    ("node.kubernetes.io/memory-pressure", "NoSchedule"),
    ("node.kubernetes.io/pid-pressure", "NoSchedule"),
    ("node.kubernetes.io/unschedulable", "NoSchedule"),
)
_ON_HOST_NETWORK = (("node.kubernetes.io/network-unavailable", "NoSchedule"),)


class Should(NamedTuple):
    """Whether the node should get a pod, and whether one that runs there may stay."""

    run: bool
    continue_running: bool


def template_generation(ds: Object) -> str:
    """What the old annotation says; empty without it."""
    return str(
        (ds["metadata"].get("annotations") or {}).get(
            DEPRECATED_TEMPLATE_GENERATION, ""
        )
    )


def daemon_spec(spec: Object) -> Object:
    """The template's spec with the tolerations every daemon has."""
    tolerations = list(spec.get("tolerations") or ())
    daemon_tolerations = _TOLERATED + (
        _ON_HOST_NETWORK if spec.get("hostNetwork") else ()
    )
    for key, effect in daemon_tolerations:
        toleration = {"key": key, "operator": "Exists", "effect": effect}
        if toleration not in tolerations:
            tolerations.append(toleration)
    return {**spec, "tolerations": tolerations}


def only_on(spec: Object, node: str) -> Object:
    """The spec, for one node only: other terms about nodes are replaced, since the
    controller has judged them already.
    """
    affinity = spec.get("affinity") or {}
    term = {
        "matchFields": [{"key": "metadata.name", "operator": "In", "values": [node]}]
    }
    node_affinity = {
        **(affinity.get("nodeAffinity") or {}),
        "requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [term]},
    }
    return {**spec, "affinity": {**affinity, "nodeAffinity": node_affinity}}


def daemon_pod(ds: Object, node: str, revision_hash: str) -> Object:
    """The pod to be created for a node."""
    pod = pod_from_template(ds["spec"]["template"], ds)
    pod["spec"] = only_on(daemon_spec(pod["spec"]), node)
    labels = {**(pod["metadata"].get("labels") or {}), REVISION_LABEL: revision_hash}
    generation = template_generation(ds)
    if generation:
        labels[TEMPLATE_GENERATION] = generation
    pod["metadata"]["labels"] = labels
    return pod


def node_should_run_daemon_pod(ds: Object, node: Object) -> Should:
    """By name, by selector and affinity, and by taints."""
    spec = ds["spec"]["template"]["spec"]
    name = node["metadata"]["name"]
    if spec.get("nodeName") and spec["nodeName"] != name:
        return Should(False, False)
    required = required_node_affinity(spec)
    if required is not None and not required(
        name, node["metadata"].get("labels") or {}
    ):
        return Should(False, False)
    taints = (node.get("spec") or {}).get("taints") or ()
    tolerations = Tolerations(daemon_spec(spec)["tolerations"])
    if untolerated(taints, tolerations, ("NoExecute", "NoSchedule")) is not None:
        return Should(False, untolerated(taints, tolerations, ("NoExecute",)) is None)
    return Should(True, True)


def node_of(pod: Object) -> str:
    """The node the pod is on, or is meant for."""
    if pod["spec"].get("nodeName"):
        return str(pod["spec"]["nodeName"])
    affinity = ((pod["spec"].get("affinity") or {}).get("nodeAffinity") or {}).get(
        "requiredDuringSchedulingIgnoredDuringExecution"
    ) or {}
    for term in affinity.get("nodeSelectorTerms") or ():
        for field in term.get("matchFields") or ():
            if (
                field["key"] == "metadata.name"
                and field["operator"] == "In"
                and len(field["values"]) == 1
            ):
                return str(field["values"][0])
    return ""
