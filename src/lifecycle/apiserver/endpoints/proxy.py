"""`/proxy/PATH`: the API server as a web proxy for pods, services and nodes.

A name may say more than a name: `NAME`, `NAME:PORT` or `http:NAME:PORT`. A pod is asked
at its own address, a service at one of its endpoints that is a pod, a node at its
kubelet unless a port says otherwise. Method, path, query, headers and body go through
as they are; the path is only cleaned, as every path is that Go joins.

Upstream: `pkg/registry/core/{pod,node}/strategy.go` and
`core/service/storage/storage.go` (`ResourceLocation`),
`apimachinery/pkg/util/proxy/upgradeaware.go`, `util/net/port_split.go`,
v1.36; `proxied_page` is its `transport.go`. Left out: upgraded connections,
`X-Forwarded-*`.
"""

from __future__ import annotations

import itertools
import posixpath
import re
import string
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from ipaddress import ip_address
from typing import Protocol
from urllib.parse import quote, urlencode

from lifecycle.api import status
from lifecycle.api.go.format import go_quote
from lifecycle.api.http.wire import Object, Request, Response
from lifecycle.apiserver.endpoints.proxied_page import rewrite_response, rewrite_url

METHODS = frozenset({"GET", "HEAD", "OPTIONS", "POST", "PUT", "PATCH", "DELETE"})
DEFAULT_PORTS = {"": 80, "http": 80, "https": 443}
KUBELET_PORT = 10250
ROTATION = itertools.count()
"""Which endpoint is asked next. Upstream draws lots."""

_NOT_PASSED_ON = frozenset(
    {
        "connection",
        "keep-alive",
        "proxy-authenticate",
        "proxy-authorization",
        "proxy-connection",
        "te",
        "trailer",
    }
    | {"transfer-encoding", "upgrade", "content-length"}
)
_INTEGER = re.compile(r"[+-]?[0-9]+")
_PATH_SAFE = "/$&+,:;=@"
"""What Go leaves as it is in a path (`net/url`, `shouldEscape`), beside letters, digits
and `-_.~`.
"""

Read = Callable[[str, str, str], Object]
"""The object of a resource (`pods`), a namespace and a name. Raises StatusError 404."""


class ProxyTransport(Protocol):
    """The way to one node."""

    async def round_trip(self, request: Request) -> Response:
        """Ask its kubelet. Raises OSError."""
        ...

    async def reach_pod(
        self, ip: str, port: int, request: Request, scheme: str = "http"
    ) -> Response:
        """Ask whoever listens at an address of that node. Raises OSError."""
        ...


@dataclass(slots=True, frozen=True)
class Location:
    """Where to ask. `port` is as it was asked for; empty: the scheme's own. `kubelet`:
    the node's kubelet instead.
    """

    node: str
    scheme: str
    address: str
    port: str
    kubelet: bool = False


def split_scheme_name_port(id: str) -> tuple[str, str, str] | None:
    """Scheme, name and port of `http:NAME:PORT`; None if it cannot be one. What is left
    out is empty.
    """
    parts = id.split(":")
    if len(parts) > 3:
        return None
    scheme, name, port = {1: ("", *parts, ""), 2: ("", *parts), 3: tuple(parts)}[
        len(parts)
    ]
    return (scheme, name, port) if name and scheme in DEFAULT_PORTS else None


def locate(resource: str, namespace: str, id: str, read: Read) -> Location:
    """Where a pod, service or node is to be asked. Raises StatusError 400, 404, 503."""
    split = split_scheme_name_port(id)
    kind = resource.removesuffix("s")
    if split is None:
        raise status.bad_request(f"invalid {kind} request {go_quote(id)}")
    scheme, name, port = split
    if resource == "services":
        return _service_location(namespace, id, scheme, name, port, read)
    obj = read(resource, namespace, name)
    if resource == "nodes":
        addresses = (obj.get("status") or {}).get("addresses") or ()
        address = next(
            (a["address"] for a in addresses if a["type"] == "InternalIP"), ""
        )
        _check_proxyable(address)
        daemon = ((obj.get("status") or {}).get("daemonEndpoints") or {}).get(
            "kubeletEndpoint"
        ) or {}
        kubelet = port in ("", str(daemon.get("Port") or KUBELET_PORT))
        return Location(name, scheme, address, port, kubelet)
    address = (obj.get("status") or {}).get("podIP", "")
    if not port:
        first = next(
            (c["ports"] for c in obj["spec"]["containers"] if c.get("ports")), None
        )
        port = str(first[0]["containerPort"]) if first else ""
    _check_proxyable(address)
    return Location(obj["spec"].get("nodeName", ""), scheme, address, port)


def _service_location(
    namespace: str, id: str, scheme: str, name: str, port: str, read: Read
) -> Location:
    if _INTEGER.fullmatch(port):
        ports = read("services", namespace, name)["spec"].get("ports") or ()
        numbered = next((p for p in ports if p["port"] == int(port[:20])), None)
        if numbered is None:
            raise _unavailable(
                f"no service port {int(port[:20])} found for service {go_quote(name)}"
            )
        port = numbered.get("name", "")
    try:
        subsets = read("endpoints", namespace, name).get("subsets") or ()
    except status.StatusError as error:
        if error.code != 404:
            raise
        raise status.not_found("services", name) from None
    if not subsets:
        raise _unavailable(f"no endpoints available for service {go_quote(name)}")
    backends = [
        Location(node, scheme, address["ip"], str(each["port"]))
        for subset in subsets
        for each in subset.get("ports") or ()
        if each.get("name", "") == port
        for address in subset.get("addresses") or ()
        if (node := _node_of(namespace, address, read)) is not None
    ]
    if not backends:
        raise _unavailable(f"no endpoints available for service {go_quote(id)}")
    return backends[next(ROTATION) % len(backends)]


def _node_of(namespace: str, address: Object, read: Read) -> str | None:
    """The node of the pod that has an address; None for what is no pod: nobody may be
    led elsewhere by Endpoints of their own.
    """
    target = address.get("targetRef")
    if not target or target.get("namespace") != namespace:
        return None
    try:
        pod = read("pods", namespace, target.get("name", ""))
    except status.StatusError:
        return None
    mine = {each.get("ip") for each in (pod.get("status") or {}).get("podIPs") or ()}
    return str(pod["spec"].get("nodeName", "")) if address["ip"] in mine else None


def _check_proxyable(address: str) -> None:
    """Raises StatusError 400 for what is not a unicast address of the network.
    Upstream: `proxyutil.IsProxyableIP`.
    """
    try:
        ip = ip_address(address)
    except ValueError:
        raise status.bad_request("address not allowed") from None
    if ip.is_loopback or ip.is_unspecified or ip.is_multicast or ip.is_link_local:
        raise status.bad_request("address not allowed")


async def proxy(
    request: Request,
    location: Location,
    nodes: Mapping[str, ProxyTransport],
    rest: str,
) -> Response:
    """Pass a request on, and the answer back. `rest` is the path that is asked for
    there: empty, or beginning with a slash. Raises StatusError 503.
    """
    prefix = _prefix(request)
    query = request.target.partition("?")[2] or urlencode(request.query, doseq=True)
    query = quote(
        query, string.punctuation, errors="surrogateescape"
    )  # as it came, but for bytes that are no text
    if not rest and request.method in (
        "GET",
        "HEAD",
    ):  # or the links of the page would lead nowhere
        moved = _escaped(prefix) + "/" + (f"?{query}" if query else "")
        return Response(301, {"Location": moved}, body=b"")
    path = posixpath.normpath("/" + rest.lstrip("/"))
    path += "/" if rest.endswith("/") and path != "/" else ""
    target = _escaped(path) + (f"?{query}" if query else "")
    headers = {
        key: value for key, value in request.headers.items() if _passed_on(key, value)
    }
    passed = Request(
        request.method, path, request.query, headers, request.body, target=target
    )
    try:
        response = await _ask(passed, location, nodes)
    except OSError as error:
        raise _unavailable(f"error trying to reach service: {error}") from None
    through_proxy = partial(
        rewrite_url,
        prefix=_escaped(prefix),
        source=f"{location.address}:{location.port}",
        host=request.headers.get("host", ""),
    )
    response = await rewrite_response(response, through_proxy)
    return replace(response, verbatim=True)


async def _ask(
    request: Request, location: Location, nodes: Mapping[str, ProxyTransport]
) -> Response:
    transport, port = (
        nodes.get(location.node),
        location.port or str(DEFAULT_PORTS[location.scheme]),
    )
    if location.kubelet and transport is not None:
        return await transport.round_trip(request)
    if not (port.isascii() and port.isdigit()):
        raise OSError(f"dial tcp: lookup tcp/{port}: unknown port")
    if len(port) > 5 or int(port) > 65535:
        raise OSError(f"dial tcp: address {port}: invalid port")
    if transport is None:
        raise OSError(f"dial tcp {location.address}:{port}: connect: no route to host")
    return await transport.reach_pod(
        location.address, int(port), request, location.scheme or "http"
    )


def _prefix(request: Request) -> str:
    """The path up to `/proxy`."""
    assert request.info is not None
    segments = request.path.strip("/").split("/")
    kept = len(segments) - len(request.info.parts) + 3  # up to and with the subresource
    return "/" + "/".join(segments[:kept])


def _escaped(path: str) -> str:
    return quote(path, _PATH_SAFE, errors="surrogateescape")


def _passed_on(header: str, value: str) -> bool:
    """Not what belongs to one connection, what names another user, and what is no
    text.
    """
    is_text = not any("\ud800" <= char <= "\udfff" for char in value)
    return (
        is_text
        and header not in _NOT_PASSED_ON
        and not header.startswith("impersonate-")
    )


def _unavailable(message: str) -> status.StatusError:
    return status.failure(503, "ServiceUnavailable", message)
