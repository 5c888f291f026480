"""Where the addresses of Services come from: ServiceCIDRs, and the IPAddresses that are
taken.

Upstream: `kubectl/pkg/describe/describe.go` (`describeServiceCIDRV1`,
`describeIPAddressV1`), v1.36. Left out: the beta versions that servers before 1.33 have
instead.
"""

from __future__ import annotations

from lifecycle.kubectl.describe.clientset import Clientset
from lifecycle.kubectl.describe.events import describe_events, events_of
from lifecycle.kubectl.describe.moments import rfc1123z
from lifecycle.kubectl.describe.multiline import print_metadata
from lifecycle.kubectl.describe.writer import PrefixWriter


async def describe_service_cidr(client: Clientset, namespace: str, name: str) -> str:
    """Describe a ServiceCIDR. Raises StatusError."""
    cidr = await client.get("servicecidrs.networking.k8s.io", "", name)
    events = await events_of(client, cidr)
    w = PrefixWriter()
    print_metadata(w, cidr, namespaced=False)
    w.field(0, "CIDRs", ", ".join(cidr["spec"].get("cidrs") or ()))
    conditions = (cidr.get("status") or {}).get("conditions")
    if conditions:
        w.write(0, "Status:\n")
        w.write(0, "Conditions:\n")
        w.header(1, "Type", "Status", "LastTransitionTime", "Reason", "Message")
    for each in conditions or ():
        w.row(
            1,
            each["type"],
            each["status"],
            rfc1123z(each.get("lastTransitionTime")),
            each.get("reason", ""),
            each.get("message", ""),
        )
    describe_events(events, w)
    return w.tabbed


async def describe_ip_address(client: Clientset, namespace: str, name: str) -> str:
    """Describe an IPAddress. Raises StatusError."""
    address = await client.get("ipaddresses.networking.k8s.io", "", name)
    events = await events_of(client, address)
    w = PrefixWriter()
    print_metadata(w, address, namespaced=False)
    if (parent := address["spec"].get("parentRef")) is not None:
        w.write(0, "Parent Reference:\n")
        for field in ("group", "resource", "namespace", "name"):
            w.field(1, field.capitalize(), parent.get(field, ""))
    describe_events(events, w)
    return w.tabbed
