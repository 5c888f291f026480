"""The host ports that pods want, and whether they get in each other's way.

A host port is an address, a protocol and a number. Two pods may share the number if
they differ in one of the others; but whoever wants every address wants yours, too.

Upstream: `pkg/scheduler/framework/types.go` (`HostPortInfo`), `util/utils.go`
(`GetHostPorts`), v1.36: the scheduler's, which the kubelet asks when it admits a pod.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator

from lifecycle.api.http.wire import Object

HostPort = tuple[str, str, int]
"""Address, protocol, port."""

ANY_IP = "0.0.0.0"


def host_ports(pod: Object) -> list[HostPort]:
    """The host ports that a pod's containers (and sidecars) want."""
    spec = pod["spec"]
    return [
        (port.get("hostIP") or ANY_IP, port.get("protocol") or "TCP", port["hostPort"])
        for container in _long_running(spec)
        for port in container.get("ports") or ()
        if port.get("hostPort")
    ]


def _long_running(spec: Object) -> Iterator[Object]:
    yield from spec["containers"]
    for container in spec.get("initContainers") or ():
        if container.get("restartPolicy") == "Always":
            yield container


def ports_conflict(used: Collection[HostPort], requested: Iterable[HostPort]) -> bool:
    """Whether one of the wanted ports is taken: the any-address conflicts with every
    address.
    """
    for ip, protocol, port in requested:
        if ip == ANY_IP:
            if any(p == port and proto == protocol for _, proto, p in used):
                return True
        elif (ip, protocol, port) in used or (ANY_IP, protocol, port) in used:
            return True
    return False
