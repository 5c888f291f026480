"""Ports on every node: for a NodePort or LoadBalancer Service, and for the health check
of a `Local` load balancer.

A port number is one thing on a node, whatever the protocol: a Service that offers DNS
on 53 over TCP and UDP gets one node port for both, and no other Service can have that
number. A first band of the range is left for numbers people choose themselves; random
picks come from above it, and from the band only when nothing else is left.

Upstream: `pkg/registry/core/service/storage/alloc.go` (`initNodePorts`,
`updateNodePorts`, `allocHealthCheckNodePort`, `updateHealthCheckNodePort`),
`portallocator/allocator.go` (`calculateRangeOffset`), `operation.go`
(`PortAllocationOperation`), v1.36. Left out: the bitmap at
`/registry/ranges/servicenodeports`; what is taken is what stored Services hold.
"""

from __future__ import annotations

from collections.abc import Collection
from random import Random

from lifecycle.api import status
from lifecycle.api.field_errors import invalid
from lifecycle.api.http.wire import Object
from lifecycle.apiserver.registry.core.service.types import (
    OUTSIDE,
    needs_health_check,
    needs_node_ports,
)

NODE_PORTS = range(30000, 32768)
DRY_RUN_PORT = 32768
"""A dry run takes nothing. It answers with numbers above the last, which nobody can
have.
"""


def ports_offset(ports: range) -> int:
    """How many ports at the start are left for fixed ones: a thirty-second, at least
    16, at most 128; none of 16 or fewer.
    """
    return 0 if len(ports) <= 16 else min(max(16, len(ports) // 32), 128)


def node_ports_of(spec: Object) -> list[int]:
    """The node ports a Service holds, that of its health check included."""
    numbers = [
        port["nodePort"] for port in spec.get("ports") or () if port.get("nodePort")
    ]
    if needs_health_check(spec) and spec.get("healthCheckNodePort"):
        numbers.append(spec["healthCheckNodePort"])
    return numbers


class PortRefusedError(Exception):
    """A wished port cannot be had; the text says why."""


class PortOperation:
    """What one request takes. `taken`: what others hold."""

    def __init__(
        self, taken: Collection[int], source: Random, *, dry_run: bool
    ) -> None:
        self._taken = set(taken)
        self._source = source
        self._dry_run = dry_run
        self._mine: list[int] = []

    def allocate(self, port: int) -> None:
        """Take a wished port. Raises PortRefusedError."""
        if port not in NODE_PORTS and not self._dry_run:
            low, high = NODE_PORTS[0], NODE_PORTS[-1]
            raise PortRefusedError(
                "provided port is not in the valid range. The range of valid ports is"
                f" {low}-{high}"
            )
        if port in self._taken or port in self._mine:
            raise PortRefusedError("provided port is already allocated")
        self._mine.append(port)

    def allocate_next(self) -> int:
        """Take any free port. Raises PortRefusedError if there is none."""
        if self._dry_run:
            port = max(self._mine, default=DRY_RUN_PORT) + 1
        else:
            border = ports_offset(NODE_PORTS)
            taken = self._taken.union(self._mine)
            bands = (NODE_PORTS[border:], NODE_PORTS[:border])
            free = next(
                (
                    free
                    for band in bands
                    if (free := [p for p in band if p not in taken])
                ),
                None,
            )
            if free is None:
                raise PortRefusedError("range is full")
            port = self._source.choice(free)
        self._mine.append(port)
        return port


def init_node_ports(service: Object, operation: PortOperation) -> None:
    """For a new Service: ports with the same number (TCP and UDP) share a node port.
    Raises StatusError.
    """
    spec = service["spec"]
    ports = spec.get("ports") or ()
    by_number: dict[int, int] = {}
    for index, port in enumerate(ports if spec.get("type") in OUTSIDE else ()):
        wish, number = port.get("nodePort"), port.get("port", 0)
        if not wish and not needs_node_ports(spec):
            continue
        if number not in by_number:
            wish = next(
                (
                    p["nodePort"]
                    for p in ports
                    if p.get("port", 0) == number and p.get("nodePort")
                ),
                0,
            )
            by_number[number] = (
                _wished(service, index, wish, operation) if wish else _any(operation)
            )
            port["nodePort"] = by_number[number]
        elif not wish:
            port["nodePort"] = by_number[number]
        elif wish != by_number[number]:
            _wished(service, index, wish, operation)
    if needs_health_check(spec):
        _init_health_check(spec, operation)


def update_node_ports(service: Object, old: Object, operation: PortOperation) -> None:
    """For a changed Service: what it had it may keep, what it lacks is given. Raises
    StatusError.
    """
    spec, before = service["spec"], old.get("spec") or {}
    mine = {port.get("nodePort") for port in before.get("ports") or ()}
    seen: set[tuple[str, int]] = set()
    for index, port in enumerate(
        (spec.get("ports") or ()) if spec.get("type") in OUTSIDE else ()
    ):
        wish = port.get("nodePort")
        if wish and wish not in mine:
            mine.add(_wished(service, index, wish, operation))
        elif not wish:
            if not needs_node_ports(spec):
                continue
            port["nodePort"] = _any(operation)
        taken = port.get("protocol", ""), port["nodePort"]
        if taken in seen:
            why = f"duplicate nodePort: {{{taken[0]} {taken[1]}}}"
            raise status.failure(500, "", why)
        seen.add(taken)
    if needs_health_check(spec) and not needs_health_check(before):
        _init_health_check(spec, operation)


def _wished(service: Object, index: int, port: int, operation: PortOperation) -> int:
    try:
        operation.allocate(port)
    except PortRefusedError as refused:
        error = invalid(f"spec.ports[{index}].nodePort", port, str(refused))
        raise status.invalid(
            "Service", service["metadata"].get("name", ""), [error.cause()]
        ) from refused
    return port


def _any(operation: PortOperation) -> int:
    try:
        return operation.allocate_next()
    except PortRefusedError as refused:
        raise status.internal_error(
            f"failed to allocate a nodePort: {refused}"
        ) from refused


def _init_health_check(spec: Object, operation: PortOperation) -> None:
    wish = spec.get("healthCheckNodePort") or 0
    try:
        if wish:
            operation.allocate(wish)
        else:
            spec["healthCheckNodePort"] = operation.allocate_next()
    except PortRefusedError as refused:
        which = (
            f"requested HealthCheck NodePort {wish}"
            if wish
            else "a HealthCheck NodePort 0"
        )
        raise status.internal_error(
            f"failed to allocate {which}: {refused}"
        ) from refused
