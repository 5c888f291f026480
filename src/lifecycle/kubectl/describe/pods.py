"""A pod: where it runs, its containers and how they are, its volumes, what it puts up
with, and what happened to it.

Upstream: `kubectl/pkg/describe/describe.go` (`PodDescriber`, `describePod`), v1.36.
"""

from __future__ import annotations

from lifecycle.api.http.wire import Object
from lifecycle.api.pods.qos import get_pod_qos
from lifecycle.kubectl.describe.clientset import Clientset
from lifecycle.kubectl.describe.containers import (
    describe_containers,
    describe_resources,
    describe_seccomp_profile,
)
from lifecycle.kubectl.describe.events import describe_events, events_of
from lifecycle.kubectl.describe.moments import rfc1123z, translate_timestamp_since
from lifecycle.kubectl.describe.multiline import (
    print_controller,
    print_labels_and_annotations,
    print_labels_multiline,
    print_pod_tolerations_multiline,
)
from lifecycle.kubectl.describe.pod_template import (
    describe_scheduling_group,
    describe_topology_spread_constraints,
)
from lifecycle.kubectl.describe.volumes import describe_volumes
from lifecycle.kubectl.describe.writer import PrefixWriter


async def describe_pod(client: Clientset, namespace: str, name: str) -> str:
    """Describe a pod. Raises StatusError."""
    pod = await client.get("pods", namespace, name)
    events = await events_of(client, pod)
    w = PrefixWriter()
    spec, status = pod["spec"], pod.get("status") or {}
    _placement(pod, w)
    print_labels_and_annotations(w, pod)
    _status(pod, w)
    w.field(0, "IP", status.get("podIP", ""))
    ips = status.get("podIPs") or ()
    w.write(0, "IPs:\n" if ips else "IPs:\t<none>\n")
    for each in ips:
        w.field(1, "IP", each.get("ip", ""))
    print_controller(w, pod)
    if status.get("nominatedNodeName"):
        w.field(0, "NominatedNodeName", status["nominatedNodeName"])
    if spec.get("resources") is not None:
        w.write(0, "Resources:\n")
        describe_resources(spec["resources"], w, 1)
    _containers(pod, w)
    _conditions(pod, w)
    describe_volumes(spec.get("volumes"), w)
    w.field(0, "QoS Class", get_pod_qos(pod))
    print_labels_multiline(w, "Node-Selectors", spec.get("nodeSelector"))
    print_pod_tolerations_multiline(w, "Tolerations", spec.get("tolerations"))
    describe_topology_spread_constraints(spec.get("topologySpreadConstraints") or (), w)
    describe_scheduling_group(spec.get("schedulingGroup"), w)
    describe_events(events, w)
    return w.tabbed


def _placement(pod: Object, w: PrefixWriter) -> None:
    meta, spec, status = pod["metadata"], pod["spec"], pod.get("status") or {}
    w.field(0, "Name", meta["name"])
    w.field(0, "Namespace", meta.get("namespace", ""))
    if spec.get("priority") is not None:
        w.field(0, "Priority", spec["priority"])
    for title, field in (
        ("Priority Class Name", "priorityClassName"),
        ("Runtime Class Name", "runtimeClassName"),
        ("Service Account", "serviceAccountName"),
    ):
        if spec.get(field):
            w.field(0, title, spec[field])
    node = spec.get("nodeName")
    w.field(0, "Node", f"{node}/{status.get('hostIP', '')}" if node else "<none>")
    if status.get("startTime"):
        w.field(0, "Start Time", rfc1123z(status["startTime"]))


def _status(pod: Object, w: PrefixWriter) -> None:
    meta, spec, status = pod["metadata"], pod["spec"], pod.get("status") or {}
    phase = status.get("phase", "")
    deletion = meta.get("deletionTimestamp")
    if deletion and phase not in ("Failed", "Succeeded"):
        lasts = translate_timestamp_since(deletion)
        w.field(0, "Status", f"Terminating (lasts {lasts})")
        period = meta["deletionGracePeriodSeconds"]
        w.field(0, "Termination Grace Period", f"{period}s")
    else:
        w.field(0, "Status", phase)
    for field in ("reason", "message"):
        if status.get(field):
            w.field(0, field.capitalize(), status[field])
    profile = (spec.get("securityContext") or {}).get("seccompProfile")
    describe_seccomp_profile(profile, w, 0)


def _containers(pod: Object, w: PrefixWriter) -> None:
    spec, status = pod["spec"], pod.get("status") or {}
    for label, field, statuses in (
        ("Init Containers", "initContainers", "initContainerStatuses"),
        ("Containers", "containers", "containerStatuses"),
        ("Ephemeral Containers", "ephemeralContainers", "ephemeralContainerStatuses"),
    ):
        containers = spec.get(field) or ()
        if containers or field == "containers":
            describe_containers(label, containers, status.get(statuses) or (), pod, w)


def _conditions(pod: Object, w: PrefixWriter) -> None:
    conditions = (pod.get("status") or {}).get("conditions") or ()
    gates = pod["spec"].get("readinessGates") or ()
    if gates:
        w.write(0, "Readiness Gates:\n")
        w.row(1, "Type", "Status")
    statuses = {each["type"]: each["status"] for each in reversed(conditions)}
    for gate in gates:
        kind = gate["conditionType"]
        w.row(1, f"{kind} ", f"{statuses.get(kind, '<none>')} ")
    if conditions:
        w.write(0, "Conditions:\n")
        w.row(1, "Type", "Status")
    for each in conditions:
        w.row(1, f"{each['type']} ", f"{each['status']} ")
