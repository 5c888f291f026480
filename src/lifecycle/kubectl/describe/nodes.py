"""A node: what it is and has, how it is, and the pods on it.

Upstream: `kubectl/pkg/describe/describe.go` (`NodeDescriber`, `describeNode`,
`describeNodeLease`, `describeNodeResourceSlices`, `findNodeRoles`), v1.36.
"""

from __future__ import annotations

from collections.abc import Iterable

from lifecycle.api.http.wire import Object
from lifecycle.api.quantity import canonical_quantity
from lifecycle.api.status import StatusError
from lifecycle.kubectl.describe.clientset import Clientset
from lifecycle.kubectl.describe.events import describe_events, events_of
from lifecycle.kubectl.describe.moments import rfc1123z
from lifecycle.kubectl.describe.multiline import (
    print_labels_and_annotations,
    print_taints_multiline,
)
from lifecycle.kubectl.describe.node_resources import describe_node_resource
from lifecycle.kubectl.describe.writer import PrefixWriter

ROLE_PREFIX, ROLE = "node-role.kubernetes.io/", "kubernetes.io/role"
MOST_POOLS = 10
_SYSTEM_INFO = (
    ("Machine ID", "machineID"),
    ("System UUID", "systemUUID"),
    ("Boot ID", "bootID"),
    ("Kernel Version", "kernelVersion"),
    ("OS Image", "osImage"),
    ("Operating System", "operatingSystem"),
    ("Architecture", "architecture"),
    ("Container Runtime Version", "containerRuntimeVersion"),
    ("Kubelet Version", "kubeletVersion"),
)


async def describe_node(client: Clientset, namespace: str, name: str) -> str:
    """Describe a node. Raises StatusError."""
    node = await client.get("nodes", "", name)
    pods = await _non_terminated_pods(client, name)
    events = await events_of(client, node)
    slices = await _resource_slices(client, name)
    w = PrefixWriter()
    meta, spec, status = node["metadata"], node["spec"], node.get("status") or {}
    w.field(0, "Name", meta["name"])
    w.field(0, "Roles", ",".join(find_node_roles(node)) or "<none>")
    print_labels_and_annotations(w, node)
    w.field(0, "CreationTimestamp", rfc1123z(meta.get("creationTimestamp")))
    print_taints_multiline(w, spec.get("taints") or ())
    w.field(0, "Unschedulable", bool(spec.get("unschedulable")))
    await _lease(client, name, w)
    _conditions(status.get("conditions") or (), w)
    w.write(0, "Addresses:\n")
    for address in status.get("addresses") or ():
        w.field(1, address["type"], address["address"])
    for field in ("capacity", "allocatable"):
        amounts = status.get(field) or {}
        if amounts:
            w.write(0, f"{field.capitalize()}:\n")
        for resource in sorted(amounts):
            w.field(1, resource, canonical_quantity(amounts[resource]))
    _pools(slices, w)
    w.write(0, "System Info:\n")
    for title, field in _SYSTEM_INFO:
        w.field(1, title, (status.get("nodeInfo") or {}).get(field, ""))
    if spec.get("podCIDR"):
        w.field(0, "PodCIDR", spec["podCIDR"])
    if spec.get("podCIDRs"):
        w.field(0, "PodCIDRs", ",".join(spec["podCIDRs"]))
    if spec.get("providerID"):
        w.field(0, "ProviderID", spec["providerID"])
    if pods is None:
        w.field(0, "Pods", "not authorized")
    else:
        describe_node_resource(pods, node, w)
    describe_events(events, w)
    return w.tabbed


async def _non_terminated_pods(client: Clientset, name: str) -> list[Object] | None:
    """The node's pods; None if they may not be seen."""
    selector = f"spec.nodeName={name},status.phase!=Failed,status.phase!=Succeeded"
    try:
        return await client.list_all("pods", "", {"fieldSelector": selector})
    except StatusError as error:
        if error.reason != "Forbidden":
            raise
        return None


async def _resource_slices(client: Clientset, name: str) -> list[Object]:
    """What drivers offer on this node only; nothing where that cannot be asked."""
    query = {"fieldSelector": f"spec.nodeName={name}"}
    try:
        return await client.list_all(
            "resourceslices.resource.k8s.io", "", query, chunk=False
        )
    except StatusError:
        return []


def find_node_roles(node: Object) -> list[str]:
    """The roles that its labels give a node, sorted."""
    labels = node["metadata"].get("labels") or {}
    roles = {
        key.removeprefix(ROLE_PREFIX) for key in labels if key.startswith(ROLE_PREFIX)
    }
    return sorted({*roles, labels.get(ROLE, "")} - {""})


async def _lease(client: Clientset, name: str, w: PrefixWriter) -> None:
    try:
        lease = await client.get("leases.coordination.k8s.io", "kube-node-lease", name)
    except StatusError as error:
        w.field(0, "Lease", f"Failed to get lease: {error.message}")
        return
    spec = lease.get("spec") or {}
    w.write(0, "Lease:\n")
    holder = spec.get("holderIdentity")
    w.field(1, "HolderIdentity", "<unset>" if holder is None else holder)
    for title, field in (("AcquireTime", "acquireTime"), ("RenewTime", "renewTime")):
        moment = spec.get(field)
        w.field(1, title, "<unset>" if moment is None else rfc1123z(moment))


def _conditions(conditions: Iterable[Object], w: PrefixWriter) -> None:
    if not conditions:
        return
    w.write(0, "Conditions:\n")
    titles = ("Type", "Status", "LastHeartbeatTime", "LastTransitionTime")
    w.header(1, *titles, "Reason", "Message")
    for each in conditions:
        w.row(
            1,
            f"{each['type']} ",
            f"{each['status']} ",
            f"{rfc1123z(each.get('lastHeartbeatTime'))} ",
            f"{rfc1123z(each.get('lastTransitionTime'))} ",
            f"{each.get('reason', '')} ",
            each.get("message", ""),
        )


def _pools(slices: Iterable[Object], w: PrefixWriter) -> None:
    """How many devices each driver has in which pool; ten pools at most."""
    pools: dict[str, tuple[str, str, int, int]] = {}
    for each in slices:
        driver, pool = each["spec"]["driver"], each["spec"]["pool"]["name"]
        key = f"{driver}/{pool}"
        _, _, count, devices = pools.get(key, (driver, pool, 0, 0))
        more = len(each["spec"].get("devices") or ())
        pools[key] = (driver, pool, count + 1, devices + more)
    if not pools:
        return
    w.write(0, "Node-Local ResourceSlices:\n")
    w.header(1, "Driver", "Pool", "Slices", "Devices")
    for key in sorted(pools)[:MOST_POOLS]:
        w.row(1, *pools[key])
    if len(pools) > MOST_POOLS:
        w.write(1, f"...and {len(pools) - MOST_POOLS} more pools\n")
