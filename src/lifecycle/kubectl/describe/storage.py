"""Storage: claims and who uses them, volumes and where they lie, and the classes that
make them.

Upstream: `kubectl/pkg/describe/describe.go` (`describePersistentVolumeClaim`,
`getPodsForPVC`, `describePersistentVolume`, `printVolumeNodeAffinity`,
`describeStorageClass`, `describeVolumeAttributesClass`, `describeCSINode`), v1.36.
"""

from __future__ import annotations

from collections.abc import Sequence

from lifecycle.api.http.wire import Object
from lifecycle.api.quantity import canonical_quantity
from lifecycle.kubectl.describe.claims import (
    access_modes,
    print_persistent_volume_claim,
    status_or_terminating,
    storage_class,
)
from lifecycle.kubectl.describe.clientset import Clientset
from lifecycle.kubectl.describe.containers import print_bool_ptr
from lifecycle.kubectl.describe.events import describe_events, events_of
from lifecycle.kubectl.describe.moments import rfc1123z
from lifecycle.kubectl.describe.multiline import (
    format_labels,
    print_metadata,
    print_pods_multiline,
)
from lifecycle.kubectl.describe.volumes import print_volume_source
from lifecycle.kubectl.describe.writer import PrefixWriter

IS_DEFAULT = (
    "storageclass.kubernetes.io/is-default-class",
    "storageclass.beta.kubernetes.io/is-default-class",
)


async def describe_persistent_volume_claim(
    client: Clientset, namespace: str, name: str
) -> str:
    """Describe a claim, with the pods that use it. Raises StatusError."""
    claim = await client.get("persistentvolumeclaims", namespace, name)
    pods = await _pods_for(client, claim)
    events = await events_of(client, claim)
    w = PrefixWriter()
    print_persistent_volume_claim(w, claim)
    print_pods_multiline(w, "Used By", pods)
    conditions = (claim.get("status") or {}).get("conditions") or ()
    if conditions:
        w.write(0, "Conditions:\n")
        titles = ("Type", "Status", "LastProbeTime", "LastTransitionTime")
        w.header(1, *titles, "Reason", "Message", rules=(4, 6, 17, 18, 6, 7))
    for each in conditions:
        w.row(
            1,
            f"{each['type']} ",
            f"{each['status']} ",
            f"{rfc1123z(each.get('lastProbeTime'))} ",
            f"{rfc1123z(each.get('lastTransitionTime'))} ",
            f"{each.get('reason', '')} ",
            each.get("message", ""),
        )
    describe_events(events, w)
    return w.tabbed


async def _pods_for(client: Clientset, claim: Object) -> list[Object]:
    """The pods that name the claim, and those that own it."""
    meta = claim["metadata"]
    pods = await client.list_all("pods", meta["namespace"], {})
    owners = {
        ref["uid"] for ref in meta.get("ownerReferences") or () if ref["kind"] == "Pod"
    }
    using = []
    for pod in pods:
        named = [
            volume
            for volume in pod["spec"].get("volumes") or ()
            if (volume.get("persistentVolumeClaim") or {}).get("claimName")
            == meta["name"]
        ]
        # once for each volume, as upstream lists them
        using += [pod] * (len(named) or pod["metadata"]["uid"] in owners)
    return using


async def describe_persistent_volume(
    client: Clientset, namespace: str, name: str
) -> str:
    """Describe a volume. Raises StatusError."""
    volume = await client.get("persistentvolumes", "", name)
    events = await events_of(client, volume)
    w = PrefixWriter()
    spec, status = volume["spec"], volume.get("status") or {}
    print_metadata(w, volume, namespaced=False)
    w.field(0, "Finalizers", volume["metadata"].get("finalizers") or [])
    w.field(0, "StorageClass", storage_class(volume))
    status_or_terminating(w, volume)
    claim = spec.get("claimRef")
    whose = f"{claim.get('namespace', '')}/{claim.get('name', '')}" if claim else ""
    w.field(0, "Claim", whose)
    w.field(0, "Reclaim Policy", spec.get("persistentVolumeReclaimPolicy", ""))
    w.field(0, "Access Modes", access_modes(spec.get("accessModes")))
    if spec.get("volumeMode") is not None:
        w.field(0, "VolumeMode", spec["volumeMode"])
    amount = (spec.get("capacity") or {}).get("storage", "0")
    w.field(0, "Capacity", canonical_quantity(amount))
    _node_affinity(spec.get("nodeAffinity") or {}, w)
    w.field(0, "Message", status.get("message", ""))
    w.write(0, "Source:\n")
    print_volume_source(spec, w, persistent=True)
    describe_events(events, w)
    return w.tabbed


def _node_affinity(affinity: Object, w: PrefixWriter) -> None:
    w.write(0, "Node Affinity:\t")
    if (required := affinity.get("required")) is None:
        w.write_line("<none>")
        return
    w.write_line("")
    terms = required.get("nodeSelectorTerms") or ()
    w.write(1, "Required Terms:\t")
    w.write_line("" if terms else "<none>")
    for i, term in enumerate(terms):
        lines = [
            _requirement(each["key"], each["operator"].lower(), each.get("values"))
            for each in term.get("matchExpressions") or ()
        ]
        _term(2, i, lines, w)


def _term(level: int, number: int, lines: Sequence[str], w: PrefixWriter) -> None:
    w.write(level, f"Term {number}:\t")
    if not lines:
        w.write_line("<none>")
    for i, line in enumerate(lines):
        if i:
            w.write(level, "\t")
        w.write(0, f"{line}\n")


def _requirement(key: str, operator: str, values: Sequence[str] | None) -> str:
    among = f" [{', '.join(values)}]" if values else ""
    return f"{key} {operator}{among}"


async def describe_storage_class(client: Clientset, namespace: str, name: str) -> str:
    """Describe a StorageClass. Raises StatusError."""
    storage = await client.get("storageclasses.storage.k8s.io", "", name)
    events = await events_of(client, storage)
    w = PrefixWriter()
    annotations = storage["metadata"].get("annotations") or {}
    is_default = any(annotations.get(key) == "true" for key in IS_DEFAULT)
    w.field(0, "Name", storage["metadata"]["name"])
    w.field(0, "IsDefaultClass", "Yes" if is_default else "No")
    w.field(0, "Annotations", format_labels(annotations))
    w.field(0, "Provisioner", storage["provisioner"])
    w.field(0, "Parameters", format_labels(storage.get("parameters")))
    expansion = print_bool_ptr(storage.get("allowVolumeExpansion"))
    w.field(0, "AllowVolumeExpansion", expansion)
    options = storage.get("mountOptions") or ()
    w.write(0, "MountOptions:\n" if options else "MountOptions:\t<none>\n")
    for option in options:
        w.write(1, f"{option}\n")
    for title, field in (
        ("ReclaimPolicy", "reclaimPolicy"),
        ("VolumeBindingMode", "volumeBindingMode"),
    ):
        if storage.get(field) is not None:
            w.field(0, title, storage[field])
    if topologies := storage.get("allowedTopologies"):
        w.write(0, "AllowedTopologies:\t\n")
        for i, term in enumerate(topologies):
            expressions = term.get("matchLabelExpressions") or ()
            lines = [_requirement(x["key"], "in", x["values"]) for x in expressions]
            _term(1, i, lines, w)
    describe_events(events, w)
    return w.tabbed


async def describe_volume_attributes_class(
    client: Clientset, namespace: str, name: str
) -> str:
    """Describe a VolumeAttributesClass. Raises StatusError."""
    attributes = await client.get("volumeattributesclasses.storage.k8s.io", "", name)
    events = await events_of(client, attributes)
    w = PrefixWriter()
    w.field(0, "Name", attributes["metadata"]["name"])
    annotations = attributes["metadata"].get("annotations")
    w.field(0, "Annotations", format_labels(annotations))
    w.field(0, "DriverName", attributes["driverName"])
    w.field(0, "Parameters", format_labels(attributes.get("parameters")))
    describe_events(events, w)
    return w.tabbed


async def describe_csi_node(client: Clientset, namespace: str, name: str) -> str:
    """Describe a CSINode. Raises StatusError."""
    csi = await client.get("csinodes.storage.k8s.io", "", name)
    events = await events_of(client, csi)
    w = PrefixWriter()
    print_metadata(w, csi, namespaced=False)
    created = rfc1123z(csi["metadata"].get("creationTimestamp"))
    w.field(0, "CreationTimestamp", created)
    w.write(0, "Spec:\n")
    drivers = (csi.get("spec") or {}).get("drivers") or ()
    if drivers:
        w.write(1, "Drivers:\n")
    for driver in drivers:
        w.write(2, f"{driver['name']}:\n")
        w.field(3, "Node ID", driver["nodeID"])
        count = (driver.get("allocatable") or {}).get("count")
        if count is not None:
            w.write(3, "Allocatables:\n")
            w.field(4, "Count", count)
        if driver.get("topologyKeys"):
            w.field(3, "Topology Keys", list(driver["topologyKeys"]))
    describe_events(events, w)
    return w.tabbed
