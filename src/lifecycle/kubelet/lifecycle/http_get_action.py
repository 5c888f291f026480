"""The HTTP request of a probe or a hook: what the pod says about it, and what is said
when it says nothing.

Certificates are not looked at: the kubelet asks whether somebody is well, not who it
is. A redirect is followed as long as it stays with the same host, whatever the port;
where it leads elsewhere, the redirect itself is the answer: the server is well enough
to send others away, and the kubelet goes to nobody whom the pod has not named.

Upstream: `pkg/probe/http/request.go` (`NewRequestForHTTPGetAction`, `formatURL`,
`v1HeaderToHTTPHeader`), `pkg/probe/http/http.go` (`RedirectChecker`), Go's `net/http`
(`Client.Do`), v1.36.
"""

from __future__ import annotations

import asyncio
from dataclasses import replace
from urllib.parse import urljoin, urlsplit

from lifecycle.api.http.wire import Object
from lifecycle.cri.apis.pod_network import HTTPAnswer, HTTPRequest, PodNetwork

PROBE, HOOK = "kube-probe/1.36", "kube-lifecycle/1.36"
"""Who asks."""

REDIRECTS = (301, 302, 303, 307, 308)
MAX_REDIRECTS = 10
DEFAULT_PORTS = {"http": 80, "https": 443}


def headers_of(action: Object, user_agent: str) -> list[tuple[str, str]]:
    """The action's headers, and the two that it need not name; it gets rid of these by
    naming them empty.
    """
    headers = [
        (entry["name"], entry.get("value") or "")
        for entry in action.get("httpHeaders") or ()
    ]
    for name, value in (("Accept", "*/*"), ("User-Agent", user_agent)):
        values = [v for n, v in headers if n.title() == name]
        if not values:
            headers.append((name, value))
        elif values[0] == "":
            headers = [(n, v) for n, v in headers if n.title() != name]
    return headers


def in_plain(action: Object) -> Object:
    """The same without TLS, and so without what should not be overheard. Upstream:
    `httpDoer` in `lifecycle/handlers.go`.
    """
    headers = [
        entry
        for entry in action.get("httpHeaders") or ()
        if entry["name"].title() != "Authorization"
    ]
    return {**action, "scheme": "HTTP", "httpHeaders": headers}


def request_for(action: Object, port: int, pod_ip: str, user_agent: str) -> HTTPRequest:
    """The first request. `port` is the action's, by number."""
    path = action.get("path") or "/"
    return HTTPRequest(
        action.get("host") or pod_ip,
        port,
        path if path.startswith("/") else f"/{path}",
        (action.get("scheme") or "HTTP").lower(),
        tuple(headers_of(action, user_agent)),
    )


def redirected(request: HTTPRequest, answer: HTTPAnswer) -> HTTPRequest | None:
    """Where a redirect leads, if it may be followed."""
    if answer.status not in REDIRECTS or not answer.location:
        return None
    target = urlsplit(urljoin(request.url, answer.location))
    if (
        target.hostname != request.host.strip("[]").lower()
        or target.scheme not in DEFAULT_PORTS
    ):
        return None
    path = (target.path or "/") + (f"?{target.query}" if target.query else "")
    port = target.port or DEFAULT_PORTS[target.scheme]
    return replace(request, port=port, path=path, scheme=target.scheme)


async def http_get(
    network: PodNetwork,
    action: Object,
    port: int,
    pod_ip: str,
    timeout: float,
    user_agent: str,
) -> HTTPAnswer:
    """Ask, and ask on where one is sent. `timeout` in seconds for all together, 0:
    none.
    """
    loop = asyncio.get_running_loop()
    deadline = loop.time() + timeout
    request = request_for(action, port, pod_ip, user_agent)
    answer = await network.http_get(request, timeout)
    for _ in range(MAX_REDIRECTS - 1):
        following = redirected(request, answer)
        if following is None:
            return answer
        request = following
        answer = await network.http_get(
            request, max(deadline - loop.time(), 0.001) if timeout else 0.0
        )
    if redirected(request, answer) is None:
        return answer
    return HTTPAnswer(
        0, f'Get "{answer.location}": stopped after {MAX_REDIRECTS} redirects'
    )
