"""A pod template in words: in the description of a workload, in `rollout history
--revision`, in `rollout undo --dry-run`.

Upstream: `kubectl/pkg/describe/describe.go` (`DescribePodTemplate`,
`describeTopologySpreadConstraints`, `describeSchedulingGroup`), v1.36.
"""

from __future__ import annotations

from collections.abc import Iterable

from lifecycle.api.http.wire import Object
from lifecycle.api.labels import format_label_selector
from lifecycle.kubectl.describe.containers import describe_containers
from lifecycle.kubectl.describe.multiline import (
    print_annotations_multiline,
    print_labels_multiline,
    print_pod_tolerations_multiline,
)
from lifecycle.kubectl.describe.volumes import describe_volumes
from lifecycle.kubectl.describe.writer import PrefixWriter


def describe_pod_template(template: Object | None, w: PrefixWriter) -> None:
    """The template, one level deep."""
    w.write(0, "Pod Template:\n")
    if template is None:
        w.write(1, "<unset>")
        return
    meta, spec = template.get("metadata") or {}, template.get("spec") or {}
    print_labels_multiline(w, "  Labels", meta.get("labels"))
    if meta.get("annotations"):
        print_annotations_multiline(w, "  Annotations", meta["annotations"])
    if spec.get("serviceAccountName"):
        w.field(1, "Service Account", spec["serviceAccountName"])
    if spec.get("initContainers"):
        describe_containers(
            "Init Containers", spec["initContainers"], (), None, w, "  "
        )
    describe_containers("Containers", spec.get("containers") or (), (), None, w, "  ")
    describe_volumes(spec.get("volumes"), w, "  ")
    describe_topology_spread_constraints(
        spec.get("topologySpreadConstraints") or (), w, "  "
    )
    if spec.get("priorityClassName"):
        w.field(1, "Priority Class Name", spec["priorityClassName"])
    print_labels_multiline(w, "  Node-Selectors", spec.get("nodeSelector"))
    print_pod_tolerations_multiline(w, "  Tolerations", spec.get("tolerations"))
    describe_scheduling_group(spec.get("schedulingGroup"), w, "  ")


def pod_template_in_words(template: Object) -> str:
    """The template alone, tabs and all."""
    w = PrefixWriter()
    describe_pod_template(template, w)
    return w.plain


def describe_topology_spread_constraints(
    constraints: Iterable[Object], w: PrefixWriter, space: str = ""
) -> None:
    """How evenly pods are to be spread, sorted by what they are spread over."""
    ordered = sorted(constraints, key=lambda each: str(each["topologyKey"]))
    if ordered:
        w.write(0, f"{space}Topology Spread Constraints:\t")
    for i, each in enumerate(ordered):
        if i:
            w.write(0, f"{space}\t")
        w.write(0, f"{each['topologyKey']}:{each['whenUnsatisfiable']}")
        w.write(0, f" when max skew {each['maxSkew']} is exceeded")
        if each.get("labelSelector") is not None:
            w.write(0, f" for selector {format_label_selector(each['labelSelector'])}")
        w.write(0, "\n")


def describe_scheduling_group(
    group: Object | None, w: PrefixWriter, space: str = ""
) -> None:
    """The pods that are only scheduled together, if it is one of those."""
    if group is not None:
        w.write(0, f"{space}SchedulingGroup:\n")
        w.field(1, "PodGroupName", group["podGroupName"])
