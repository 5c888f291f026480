"""A subnet lease: this piece of the pod network belongs to that host, and this is how
to reach it.

flannel keeps leases in one of two places. As Node annotations, next to the `podCIDR`
that the node controller gave; or as keys of an etcd of its own,
`/coreos.com/network/subnets/10.244.2.0-24`, which expire unless renewed.

Upstream: flannel v0.28, `pkg/lease/lease.go`, `pkg/subnet/kube/{annotations,kube}.go`,
`pkg/subnet/etcd/registry.go`. Left out: IPv6 leases, wireguard's attributes, renewal of
the etcd leases.
"""

from __future__ import annotations

import ipaddress
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from lifecycle.api.go.json.encode import marshal
from lifecycle.cni.errors import CNIError

ANNOTATION_PREFIX = "flannel.alpha.coreos.com"
ETCD_PREFIX = "/coreos.com/network"
ADDED, REMOVED = "added", "removed"

Subnet = ipaddress.IPv4Network


@dataclass(slots=True, frozen=True)
class LeaseAttrs:
    """How to reach a subnet: the host's address, and what the backend needs besides."""

    public_ip: ipaddress.IPv4Address
    backend_type: str
    backend_data: Mapping[str, Any] | None = None


@dataclass(slots=True, frozen=True)
class Lease:
    """A subnet and its attributes."""

    subnet: Subnet
    attrs: LeaseAttrs


@dataclass(slots=True, frozen=True)
class LeaseEvent:
    """A lease came (or changed), or went."""

    type: str
    lease: Lease


def annotation(name: str, prefix: str = ANNOTATION_PREFIX) -> str:
    """`flannel.alpha.coreos.com/public-ip`; a prefix with a path gets a dash. Raises
    CNIError for two slashes.
    """
    if prefix.count("/") > 1:
        raise CNIError("subnet/kube: prefix can contain at most single slash")
    prefix += "" if "/" in prefix else "/"
    return f"{prefix}{name}" if prefix.endswith(("/", "-")) else f"{prefix}-{name}"


def lease_annotations(attrs: LeaseAttrs) -> dict[str, str]:
    """What flanneld writes on its own Node."""
    return {
        annotation("backend-data"): marshal(attrs.backend_data),
        annotation("backend-type"): attrs.backend_type,
        annotation("kube-subnet-manager"): "true",
        annotation("public-ip"): str(attrs.public_ip),
    }


def pod_subnet(node: Mapping[str, Any]) -> Subnet:
    """A node's IPv4 piece of the pod network. Raises CNIError."""
    name, spec = node["metadata"]["name"], node.get("spec", {})
    if not spec.get("podCIDR"):
        raise CNIError(f'node "{name}" pod cidr not assigned')
    cidrs = spec.get("podCIDRs") or [spec["podCIDR"]]
    if len(cidrs) > 2:
        raise CNIError(f'node "{name}" pod cidrs should be IPv4/IPv6 only or dualstack')
    for cidr in cidrs:
        if ":" not in cidr:
            return ipaddress.IPv4Network(cidr, strict=False)
    raise CNIError("missing IPv4 address on n.Spec.PodCIDRs")


def node_to_lease(node: Mapping[str, Any]) -> Lease | None:
    """The lease that a Node's annotations tell of; None if flannel does not manage it.
    Raises CNIError.
    """
    notes = node["metadata"].get("annotations") or {}
    if notes.get(annotation("kube-subnet-manager")) != "true":
        return None
    try:
        public_ip = ipaddress.IPv4Address(notes.get(annotation("public-ip"), ""))
    except ValueError:
        raise CNIError("failed to parse IP") from None
    try:
        data = json.loads(notes.get(annotation("backend-data"), ""))
    except ValueError:
        data = None
    return Lease(
        pod_subnet(node),
        LeaseAttrs(
            public_ip,
            notes.get(annotation("backend-type"), ""),
            data if isinstance(data, dict) else None,
        ),
    )


def etcd_key(subnet: Subnet, prefix: str = ETCD_PREFIX) -> str:
    """Where a lease lies in etcd: a slash would begin a folder, so the length comes
    after a dash.
    """
    return f"{prefix}/subnets/{subnet.network_address}-{subnet.prefixlen}"


def parse_etcd_key(key: str) -> Subnet:
    """Raises CNIError for other keys."""
    address, dash, length = key.rpartition("/")[2].partition("-")
    try:
        return ipaddress.IPv4Network(f"{address}/{int(length)}")
    except ValueError:
        raise CNIError(
            f"{key} is not the key of a subnet lease{'' if dash else ' (no dash)'}"
        ) from None


def etcd_value(attrs: LeaseAttrs) -> str:
    """A lease's value in etcd."""
    value: dict[str, Any] = {
        "PublicIP": str(attrs.public_ip),
        "PublicIPv6": None,
        "BackendType": attrs.backend_type,
    }
    if attrs.backend_data is not None:
        value["BackendData"] = attrs.backend_data
    return marshal(value)


def etcd_lease(key: str, value: str) -> Lease:
    """The lease behind a key and its value. Raises CNIError."""
    raw = json.loads(value)
    attrs = LeaseAttrs(
        ipaddress.IPv4Address(raw["PublicIP"]),
        raw.get("BackendType", ""),
        raw.get("BackendData"),
    )
    return Lease(parse_etcd_key(key), attrs)


@dataclass(slots=True)
class LeaseWatcher:
    """The leases of the other hosts; turns a snapshot into what changed. One's own
    subnet is never reported.
    """

    own: Subnet
    leases: dict[Subnet, Lease] = field(default_factory=dict)

    def reset(self, leases: Iterable[Lease]) -> list[LeaseEvent]:
        """A snapshot after a gap: additions first, then what is gone. (A lease that is
        known is not reported again, changed or not.)
        """
        fresh = {lease.subnet: lease for lease in leases if lease.subnet != self.own}
        batch = [
            LeaseEvent(ADDED, lease)
            for subnet, lease in fresh.items()
            if subnet not in self.leases
        ]
        batch += [
            LeaseEvent(REMOVED, lease)
            for subnet, lease in self.leases.items()
            if subnet not in fresh
        ]
        self.leases = fresh
        return batch

    def update(self, event: LeaseEvent) -> list[LeaseEvent]:
        """One event of a watch."""
        subnet = event.lease.subnet
        if subnet == self.own:
            return []
        if event.type == ADDED:
            self.leases[subnet] = event.lease
            return [event]
        return [LeaseEvent(REMOVED, self.leases.pop(subnet, event.lease))]
