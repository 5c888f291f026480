"""Flows that still go to pods which are no longer there.

The kernel decides where a flow goes once, at its first packet, and remembers it
(`conntrack`). A TCP connection ends with its pod. But UDP knows no end: a client that
keeps asking from one port is kept on the dead pod for as long as it asks. So after each
change of a UDP Service's endpoints its flows are looked through, and those that none of
its serving endpoints answers are forgotten.

Policies and hints do not matter here: what has begun goes on, as TCP connections do.
Nor does a Service with no endpoints at all, whose flows the rules refuse.

Upstream: `pkg/proxy/conntrack/cleanup.go` (`CleanStaleEntries`), v1.36.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple, Protocol

from lifecycle.proxy.endpoints_map import EndpointsMap
from lifecycle.proxy.service_map import ServicePort, ServicePortMap

Place = tuple[str, int]
"""Address and port."""


class Flow(NamedTuple):
    """A UDP flow: where its packets were sent to, who answers instead, and what the
    kernel calls it.
    """

    to: Place
    answered_by: Place
    key: bytes


class Conntrack(Protocol):
    """The kernel's table of flows. Both may raise OSError."""

    def udp_flows(self) -> list[Flow]:
        """All of them, of one family."""
        ...

    def forget(self, flows: Iterable[Flow]) -> None:
        """Remove entries; one that is gone already is no error."""
        ...


def stale_flows(
    services: ServicePortMap, endpoints: EndpointsMap, flows: Iterable[Flow]
) -> Iterator[Flow]:
    """The flows to a Service that no serving endpoint of it answers."""
    answering: dict[Place | int, set[Place]] = {}
    for service in services:
        serving = {(e.ip, e.port) for e in endpoints[service.name] if e.serving}
        if service.name.protocol == "UDP" and serving:
            answering |= dict.fromkeys(_ways_in(service), serving)
    for flow in flows:
        ways = (flow.to, flow.to[1])  # a node port is one on any address
        if any(
            way in answering and flow.answered_by not in answering[way] for way in ways
        ):
            yield flow


def _ways_in(service: ServicePort) -> Iterator[Place | int]:
    for address in (
        service.cluster_ip,
        *service.load_balancer_vips,
        *service.external_ips,
    ):
        yield address, service.port
    if service.node_port:
        yield service.node_port
