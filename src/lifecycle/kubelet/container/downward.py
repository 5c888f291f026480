"""The downward API: what a pod may know of itself, as text.

Fields of its metadata, spec and status; and what its containers may use, in a unit of
one's choosing, rounded up. A limit that is not set is answered with what the node could
give.

Upstream: `pkg/fieldpath/fieldpath.go` (`ExtractFieldPathAsString`, `FormatMap`),
`pkg/api/v1/resource/helpers.go` (`ExtractContainerResourceValue`,
`MergeContainerResourceLimits`), `pkg/kubelet/kubelet_pods.go`
(`podFieldSelectorRuntimeValue`), v1.36.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from lifecycle.api.go.format import go_quote
from lifecycle.api.http.wire import Object
from lifecycle.api.quantity import parse_quantity


class DownwardError(Exception):
    """That field cannot be had; the text is upstream's."""


LIMITED_BY_THE_NODE = ("cpu", "memory", "ephemeral-storage")
"""Of which a container without a limit may use all that there is. Huge pages are none:
without a limit it gets not a single one.
"""
SUBSCRIPT = re.compile(r"^(metadata\.(?:labels|annotations))\['(.*)'\]$")


def format_map(entries: Mapping[str, str]) -> str:
    """One `key="value"` a line, sorted, no newline at the end."""
    return "\n".join(f"{key}={go_quote(entries[key])}" for key in sorted(entries))


def extract_field_path(pod: Object, path: str) -> str:
    """A field of metadata. Raises DownwardError."""
    metadata = pod["metadata"]
    subscript = SUBSCRIPT.match(path)
    if subscript:
        return str(
            (metadata.get(subscript[1].removeprefix("metadata.")) or {}).get(
                subscript[2], ""
            )
        )
    if path in ("metadata.labels", "metadata.annotations"):
        return format_map(metadata.get(path.removeprefix("metadata.")) or {})
    if path in ("metadata.name", "metadata.namespace", "metadata.uid"):
        return str(metadata.get(path.removeprefix("metadata."), ""))
    raise DownwardError(f"unsupported fieldPath: {path}")


def field_value(pod: Object, path: str, status: Object) -> str:
    """A field that only the kubelet knows, or one of metadata. `status`: `hostIP`,
    `hostIPs`, `podIP`, `podIPs` as far as known.
    """
    spec = pod["spec"]
    if path == "spec.nodeName":
        return str(spec.get("nodeName", ""))
    if path == "spec.serviceAccountName":
        return str(spec.get("serviceAccountName", ""))
    if path in ("status.hostIP", "status.podIP"):
        return str(status.get(path.removeprefix("status."), ""))
    if path in ("status.hostIPs", "status.podIPs"):
        return ",".join(
            entry["ip"] for entry in status.get(path.removeprefix("status.")) or ()
        )
    return extract_field_path(pod, path)


def find_container(pod: Object, name: str) -> Object:
    """A container by name, init containers too. Raises DownwardError."""
    spec = pod["spec"]
    for container in [*spec["containers"], *(spec.get("initContainers") or ())]:
        if container["name"] == name:
            return container
    raise DownwardError(f"container {name} not found")


def allocatable_within(
    pod: Object, allocatable: Mapping[str, str]
) -> Mapping[str, str]:
    """What a container without a limit may use: the pod's limits, where it has any for
    all of its containers, and else what the node can give. Variables are told so; files
    of a volume are told of the node alone. Upstream: `pkg/kubelet/kubelet_resources.go`
    (`defaultPodLimitsForDownwardAPI`).
    """
    limits = (pod["spec"].get("resources") or {}).get("limits") or {}
    of_the_pod = {
        name: limits[name]
        for name in ("cpu", "memory")
        if name in limits
        and name in allocatable
        and not parse_quantity(str(limits[name])).is_zero
    }
    return {**allocatable, **of_the_pod}


def resource_value(
    pod: Object, selector: Object, container: Object, allocatable: Mapping[str, str]
) -> str:
    """A `resourceFieldRef`. `container` is meant if the selector names none;
    `allocatable` stands in for limits that are zero or not there. Raises
    DownwardError.
    """
    if selector.get("containerName"):
        container = find_container(pod, selector["containerName"])
    kind, _, name = str(selector["resource"]).partition(".")
    if kind not in ("limits", "requests") or not name:
        raise DownwardError(f"unsupported container resource : {selector['resource']}")
    resources = container.get("resources") or {}
    quantity = parse_quantity(str((resources.get(kind) or {}).get(name) or "0"))
    if quantity.is_zero and kind == "limits" and name in LIMITED_BY_THE_NODE:
        quantity = parse_quantity(str(allocatable.get(name) or "0"))
    divisor = parse_quantity(str(selector.get("divisor") or "1"))
    if divisor.is_zero:
        divisor = parse_quantity("1")
    if name == "cpu":
        return str(-(-quantity.milli() // divisor.milli()))
    return str(-(-quantity.value() // divisor.value()))
