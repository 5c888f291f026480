"""Deployments, ReplicaSets and the other controllers of pods.

Upstream: `pkg/printers/internalversion/printers.go` (`printDeployment`,
`printReplicaSet`, `printDaemonSet`, `printStatefulSet`, `printReplicationController`,
`printControllerRevision`, `printScale`), v1.36.
"""

from __future__ import annotations

from lifecycle.api.human_duration import age
from lifecycle.api.labels import format_label_selector
from lifecycle.api.wire import Object
from lifecycle.apiserver.registry.apps.columns import READY
from lifecycle.apiserver.registry.printers.printer import (
    AGE,
    CONTAINERS,
    NAME,
    Cells,
    Column,
    Printer,
    container_cells,
    field,
    format_labels,
)


def _print_replica_set(obj: Object, now: float) -> Cells:
    selector = format_label_selector((obj.get("spec") or {}).get("selector"))
    return [*_replicas(obj, now), selector]


def _print_replication_controller(obj: Object, now: float) -> Cells:
    return [
        *_replicas(obj, now),
        format_labels((obj.get("spec") or {}).get("selector")),
    ]


def _replicas(obj: Object, now: float) -> Cells:
    spec, status = obj.get("spec") or {}, obj.get("status") or {}
    return [
        obj["metadata"]["name"],
        spec.get("replicas", 0),
        status.get("replicas", 0),
        status.get("readyReplicas", 0),
        age(obj, now),
        *container_cells(spec.get("template")),
    ]


_DAEMON_COUNTS = (
    "desiredNumberScheduled",
    "currentNumberScheduled",
    "numberReady",
    "updatedNumberScheduled",
    "numberAvailable",
)


def _print_daemon_set(obj: Object, now: float) -> Cells:
    spec, status = obj.get("spec") or {}, obj.get("status") or {}
    template = spec.get("template") or {}
    return [
        obj["metadata"]["name"],
        *(status.get(count, 0) for count in _DAEMON_COUNTS),
        format_labels((template.get("spec") or {}).get("nodeSelector")),
        age(obj, now),
        *container_cells(template),
        format_label_selector(spec.get("selector")),
    ]


def _print_stateful_set(obj: Object, now: float) -> Cells:
    spec, status = obj.get("spec") or {}, obj.get("status") or {}
    ready = f"{status.get('readyReplicas', 0)}/{spec.get('replicas', 0)}"
    return [
        obj["metadata"]["name"],
        ready,
        age(obj, now),
        *container_cells(spec.get("template")),
    ]


def _print_controller_revision(obj: Object, now: float) -> Cells:
    owner = next(
        (
            o
            for o in obj["metadata"].get("ownerReferences") or ()
            if o.get("controller")
        ),
        None,
    )
    controller = "<none>"
    if owner is not None:
        group = owner["apiVersion"].rpartition("/")[0]
        controller = (
            f"{owner['kind']}.{group}".rstrip(".").lower() + "/" + owner["name"]
        )
    return [obj["metadata"]["name"], controller, obj.get("revision", 0), age(obj, now)]


def _replica_columns(kind: str) -> tuple[Column, ...]:
    return (
        NAME,
        Column("Desired", field(f"{kind}Spec", "replicas"), "integer"),
        Column("Current", field(f"{kind}Status", "replicas"), "integer"),
        Column("Ready", field(f"{kind}Status", "readyReplicas"), "integer"),
        AGE,
        *CONTAINERS,
        Column("Selector", field(f"{kind}Spec", "selector"), priority=1),
    )


PRINTERS = {
    "replicasets.apps": Printer(
        _replica_columns("apps/v1.ReplicaSet"), _print_replica_set
    ),
    "replicationcontrollers": Printer(
        _replica_columns("core/v1.ReplicationController"), _print_replication_controller
    ),
    "daemonsets.apps": Printer(
        (
            NAME,
            *(
                Column(name, field("apps/v1.DaemonSetStatus", count), "integer")
                for name, count in zip(
                    ("Desired", "Current", "Ready", "Up-to-date", "Available"),
                    _DAEMON_COUNTS,
                )
            ),
            Column("Node Selector", field("core/v1.PodSpec", "nodeSelector")),
            AGE,
            *CONTAINERS,
            Column("Selector", field("apps/v1.DaemonSetSpec", "selector"), priority=1),
        ),
        _print_daemon_set,
    ),
    "statefulsets.apps": Printer((NAME, READY, AGE, *CONTAINERS), _print_stateful_set),
    "controllerrevisions.apps": Printer(
        (
            NAME,
            Column("Controller", "Controller of the object"),
            Column("Revision", field("apps/v1.ControllerRevision", "revision")),
            AGE,
        ),
        _print_controller_revision,
    ),
}
