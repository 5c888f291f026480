"""What keeps pods running: Deployments, ReplicaSets, ReplicationControllers, DaemonSets
and StatefulSets.

Upstream: `kubectl/pkg/describe/describe.go` (`describeDeployment`,
`describeReplicaSet`, `describeReplicationController`, `describeDaemonSet`,
`describeStatefulSet`, `getPodStatusForController`), v1.36.
"""

from __future__ import annotations

from collections import Counter

from lifecycle.api.http.wire import Object
from lifecycle.api.labels import (
    Selector,
    format_label_selector,
    selector_from_label_selector,
    selector_from_labels,
)
from lifecycle.api.status import StatusError
from lifecycle.kubectl.describe.claims import describe_volume_claim_templates
from lifecycle.kubectl.describe.clientset import Clientset
from lifecycle.kubectl.describe.events import describe_events, events_of
from lifecycle.kubectl.describe.moments import rfc1123z
from lifecycle.kubectl.describe.multiline import (
    format_labels,
    print_conditions,
    print_controller,
    print_labels_and_annotations,
)
from lifecycle.kubectl.describe.pod_template import describe_pod_template
from lifecycle.kubectl.describe.replica_sets import replica_sets_of
from lifecycle.kubectl.describe.writer import PrefixWriter


async def describe_deployment(client: Clientset, namespace: str, name: str) -> str:
    """Describe a Deployment, with its ReplicaSets old and new. Raises StatusError."""
    deployment = await client.get("deployments.apps", namespace, name)
    events = await events_of(client, deployment)
    replica_sets = await replica_sets_of(client, deployment)
    w = PrefixWriter()
    meta, spec = deployment["metadata"], deployment["spec"]
    w.field(0, "Name", meta["name"])
    w.field(0, "Namespace", meta.get("namespace", ""))
    w.field(0, "CreationTimestamp", rfc1123z(meta.get("creationTimestamp")))
    print_labels_and_annotations(w, deployment)
    w.field(0, "Selector", str(selector_from_label_selector(spec["selector"])))
    w.field(0, "Replicas", _deployment_replicas(deployment))
    strategy = spec.get("strategy") or {}
    w.field(0, "StrategyType", strategy.get("type", ""))
    w.field(0, "MinReadySeconds", spec.get("minReadySeconds", 0))
    if (rolling := strategy.get("rollingUpdate")) is not None:
        text = (
            f"{rolling['maxUnavailable']} max unavailable,"
            f" {rolling['maxSurge']} max surge"
        )
        w.field(0, "RollingUpdateStrategy", text)
    describe_pod_template(spec["template"], w)
    print_conditions(w, deployment)
    replica_sets.write(w)
    describe_events(events, w)
    return w.tabbed


def _deployment_replicas(deployment: Object) -> str:
    status = deployment.get("status") or {}
    return (
        f"{deployment['spec']['replicas']} desired"
        f" | {status.get('updatedReplicas', 0)} updated"
        f" | {status.get('replicas', 0)} total"
        f" | {status.get('availableReplicas', 0)} available"
        f" | {status.get('unavailableReplicas', 0)} unavailable"
    )


async def pod_statuses(client: Clientset, owner: Object, selector: Selector) -> str:
    """How many of an owner's pods are in which phase. Raises StatusError."""
    meta = owner["metadata"]
    pods = await client.list_all(
        "pods", meta["namespace"], {"labelSelector": str(selector)}
    )
    phases = Counter(
        (pod.get("status") or {}).get("phase")
        for pod in pods
        for ref in pod["metadata"].get("ownerReferences") or ()
        if ref.get("controller") and ref["uid"] == meta["uid"]
    )
    return (
        f"{phases['Running']} Running / {phases['Pending']} Waiting"
        f" / {phases['Succeeded']} Succeeded / {phases['Failed']} Failed"
    )


def _replicas(obj: Object) -> str:
    current = (obj.get("status") or {}).get("replicas", 0)
    return f"{current} current / {obj['spec']['replicas']} desired"


async def describe_replica_set(client: Clientset, namespace: str, name: str) -> str:
    """Describe a ReplicaSet. Raises StatusError."""
    replica_set = await client.get("replicasets.apps", namespace, name)
    spec = replica_set["spec"]
    selector = selector_from_label_selector(spec["selector"])
    try:
        statuses = await pod_statuses(client, replica_set, selector)
    except StatusError as error:
        statuses = f"error in fetching pods: {error.message}"
    events = await events_of(client, replica_set)
    w = PrefixWriter()
    w.field(0, "Name", replica_set["metadata"]["name"])
    w.field(0, "Namespace", replica_set["metadata"].get("namespace", ""))
    w.field(0, "Selector", format_label_selector(spec["selector"]))
    print_labels_and_annotations(w, replica_set)
    print_controller(w, replica_set)
    w.field(0, "Replicas", _replicas(replica_set))
    w.field(0, "Pods Status", statuses)
    describe_pod_template(spec["template"], w)
    print_conditions(w, replica_set)
    describe_events(events, w)
    return w.tabbed


async def describe_replication_controller(
    client: Clientset, namespace: str, name: str
) -> str:
    """Describe a ReplicationController. Raises StatusError."""
    controller = await client.get("replicationcontrollers", namespace, name)
    spec = controller["spec"]
    selector = selector_from_labels(spec.get("selector") or {})
    statuses = await pod_statuses(client, controller, selector)
    events = await events_of(client, controller)
    w = PrefixWriter()
    w.field(0, "Name", controller["metadata"]["name"])
    w.field(0, "Namespace", controller["metadata"].get("namespace", ""))
    w.field(0, "Selector", format_labels(spec.get("selector")))
    print_labels_and_annotations(w, controller)
    w.field(0, "Replicas", _replicas(controller))
    w.field(0, "Pods Status", statuses)
    describe_pod_template(spec.get("template"), w)
    print_conditions(w, controller)
    describe_events(events, w)
    return w.tabbed


_ON_NODES = (
    ("Desired Number of Nodes Scheduled", "desiredNumberScheduled"),
    ("Current Number of Nodes Scheduled", "currentNumberScheduled"),
    ("Number of Nodes Scheduled with Up-to-date Pods", "updatedNumberScheduled"),
    ("Number of Nodes Scheduled with Available Pods", "numberAvailable"),
    ("Number of Nodes Misscheduled", "numberMisscheduled"),
)


async def describe_daemon_set(client: Clientset, namespace: str, name: str) -> str:
    """Describe a DaemonSet. Raises StatusError."""
    daemon = await client.get("daemonsets.apps", namespace, name)
    spec, status = daemon["spec"], daemon.get("status") or {}
    selector = selector_from_label_selector(spec["selector"])
    statuses = await pod_statuses(client, daemon, selector)
    events = await events_of(client, daemon)
    w = PrefixWriter()
    w.field(0, "Name", daemon["metadata"]["name"])
    w.field(0, "Namespace", daemon["metadata"].get("namespace", ""))
    w.field(0, "Selector", str(selector))
    node_selector = spec["template"]["spec"].get("nodeSelector")
    w.field(0, "Node-Selector", format_labels(node_selector))
    print_labels_and_annotations(w, daemon)
    for title, field in _ON_NODES:
        w.write(0, f"{title}: {status.get(field, 0)}\n")
    w.field(0, "Pods Status", statuses)
    describe_pod_template(spec["template"], w)
    describe_events(events, w)
    return w.tabbed


async def describe_stateful_set(client: Clientset, namespace: str, name: str) -> str:
    """Describe a StatefulSet. Raises StatusError."""
    stateful_set = await client.get("statefulsets.apps", namespace, name)
    meta, spec = stateful_set["metadata"], stateful_set["spec"]
    selector = selector_from_label_selector(spec["selector"])
    statuses = await pod_statuses(client, stateful_set, selector)
    events = await events_of(client, stateful_set)
    w = PrefixWriter()
    w.field(0, "Name", meta["name"])
    w.field(0, "Namespace", meta.get("namespace", ""))
    w.field(0, "CreationTimestamp", rfc1123z(meta.get("creationTimestamp")))
    w.field(0, "Selector", str(selector))
    print_labels_and_annotations(w, stateful_set)
    total = (stateful_set.get("status") or {}).get("replicas", 0)
    w.field(0, "Replicas", f"{spec['replicas']} desired | {total} total")
    strategy = spec.get("updateStrategy") or {}
    w.field(0, "Update Strategy", strategy.get("type", ""))
    rolling = strategy.get("rollingUpdate") or {}
    if rolling.get("partition") is not None:
        w.field(1, "Partition", rolling["partition"])
        if rolling.get("maxUnavailable") is not None:
            w.field(1, "MaxUnavailable", rolling["maxUnavailable"])
    w.field(0, "Pods Status", statuses)
    describe_pod_template(spec["template"], w)
    describe_volume_claim_templates(spec.get("volumeClaimTemplates"), w)
    describe_events(events, w)
    return w.tabbed
