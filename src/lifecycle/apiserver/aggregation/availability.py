"""Is an added API server there? The condition `Available` of each APIService, and why
not.

First what can be read off: is there such a Service, does it listen on the port, has it
ready endpoints with a port of that name? Then the server is asked for its discovery
document, as `system:kube-aggregator` in `system:masters`; five tries at once, one
success is enough. Nobody's request is sent to a server that failed here.

It is asked again when its APIService, Service or EndpointSlices change, and every
thirty seconds; after a failure sooner, 5 ms at first and then twice as long each time.

Upstream: `kube-aggregator/pkg/controllers/status/remote/remote_available_controller.go`
(`sync`, `hasAvailableEndpoint`), v1.36.
"""

from __future__ import annotations

import asyncio
from typing import NamedTuple

from lifecycle.api.go.format import go_quote
from lifecycle.api.http.wire import MASTERS, Object, UserInfo
from lifecycle.api.resources import resource
from lifecycle.apiserver.aggregation.api_services import service_reference
from lifecycle.apiserver.aggregation.backend import Backend, BackendError
from lifecycle.apiserver.storage.object_reader import ObjectReader
from lifecycle.apiserver.webhook.service_resolver import (
    SERVICES,
    ResolveError,
    ServiceResolver,
    is_ready,
    slices_of,
)

AGGREGATOR = UserInfo("system:kube-aggregator", (MASTERS,))
ATTEMPTS = 5
CHECK_TIMEOUT = 5.0
RESYNC = 30.0
FIRST_RETRY, LAST_RETRY = 0.005, 30.0


class Finding(NamedTuple):
    """A condition's status, reason and message."""

    status: str
    reason: str
    message: str


PASSED = Finding("True", "Passed", "all checks passed")


def check_service(reader: ObjectReader, api_service: Object) -> Finding:
    """What the Service and its EndpointSlices say."""
    reference = service_reference(api_service)
    assert reference is not None, "only for APIServices with a Service"
    namespace, name, port = reference
    where = f"service/{name} in {go_quote(namespace)}"
    service = reader.get(resource(SERVICES), namespace, name)
    if service is None:
        return Finding("False", "ServiceNotFound", f"{where} is not present")
    if service["spec"].get("type", "ClusterIP") != "ClusterIP":
        return PASSED
    service_port = next(
        (each for each in service["spec"].get("ports") or () if each["port"] == port),
        None,
    )
    if service_port is None:
        return Finding(
            "False", "ServicePortError", f"{where} is not listening on port {port}"
        )
    slices = slices_of(reader, namespace, name)
    if not slices:
        return Finding(
            "False", "EndpointsNotFound", f"cannot find endpointslices for {where}"
        )
    port_name = service_port.get("name", "")
    if not any(_has_endpoint(each, port_name) for each in slices):
        message = (
            f"endpointslices for {where} have no addresses with port name"
            f" {go_quote(port_name)}"
        )
        return Finding("False", "MissingEndpoints", message)
    return PASSED


def _has_endpoint(endpoint_slice: Object, port_name: str) -> bool:
    ready = any(
        is_ready(endpoint) for endpoint in endpoint_slice.get("endpoints") or ()
    )
    ports = endpoint_slice.get("ports") or ()
    return ready and any(
        (p.get("name") or "") == port_name and p.get("port") is not None for p in ports
    )


async def check_discovery(
    api_service: Object, resolver: ServiceResolver, backend: Backend
) -> Finding:
    """Whether the server answers."""
    tries = [
        asyncio.ensure_future(_try(api_service, resolver, backend))
        for _ in range(ATTEMPTS)
    ]
    last = ""
    try:
        for attempt in asyncio.as_completed(tries):
            last = await attempt
            if not last:
                return PASSED
    finally:
        for each in tries:
            each.cancel()
        await asyncio.gather(*tries, return_exceptions=True)
    return Finding("False", "FailedDiscoveryCheck", last)


async def _try(api_service: Object, resolver: ServiceResolver, backend: Backend) -> str:
    """What went wrong; empty if nothing."""
    reference = service_reference(api_service)
    assert reference is not None, "only for APIServices with a Service"
    try:
        host, port = resolver.resolve_endpoint(*reference)
    except ResolveError as error:
        return str(error)
    spec = api_service["spec"]
    path = (
        f"/apis/{spec['group']}/{spec['version']}"
        if spec.get("group")
        else f"/api/{spec['version']}"
    )
    url = f"https://{host}:{port}{path}"
    try:
        answer = await backend.send(
            "GET", host, port, path, user=AGGREGATOR, timeout=CHECK_TIMEOUT
        )
    except BackendError as error:
        message = str(error)
        return f"failing or missing response from {url}: " + (
            message if message.startswith("Get ") else f'Get "{url}": {message}'
        )
    answer.close()
    if not 200 <= answer.status < 300:
        return (
            f"failing or missing response from {url}: bad status from {url}:"
            f" {answer.status}"
        )
    return ""


class Retries:
    """When to look again: soon after a failure, then later and later; at the latest
    after `RESYNC` seconds.
    """

    def __init__(self) -> None:
        self._failures: dict[str, int] = {}

    def after(self, name: str, failed: bool) -> float:
        """Seconds until the next look."""
        if not failed:
            self._failures.pop(name, None)
            return RESYNC
        times = self._failures[name] = self._failures.get(name, -1) + 1
        return float(min(FIRST_RETRY * 2 ** min(times, 20), LAST_RETRY))
