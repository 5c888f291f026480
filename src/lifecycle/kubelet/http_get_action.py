"""The HTTP request of a probe or a hook: what the pod says about it, and what is said when it says nothing.

Certificates are not looked at: the kubelet asks whether somebody is well, not who it is.

Upstream: `pkg/probe/http/request.go` (`NewRequestForHTTPGetAction`, `formatURL`, `v1HeaderToHTTPHeader`), v1.36.
"""

from __future__ import annotations

from lifecycle.api.wire import Object
from lifecycle.cri.runtime import PodNetwork

PROBE, HOOK = "kube-probe/1.36", "kube-lifecycle/1.36"
"""Who asks."""


def headers_of(action: Object, user_agent: str) -> list[tuple[str, str]]:
    """The action's headers, and the two that it need not name; it gets rid of these by naming them empty."""
    given = [(entry["name"], entry.get("value") or "") for entry in action.get("httpHeaders") or ()]
    for name, value in (("Accept", "*/*"), ("User-Agent", user_agent)):
        said = [v for n, v in given if n.title() == name]
        if not said:
            given.append((name, value))
        elif said[0] == "":
            given = [(n, v) for n, v in given if n.title() != name]
    return given


def in_plain(action: Object) -> Object:
    """The same without TLS, and so without what should not be overheard. Upstream: `httpDoer` in `lifecycle/handlers.go`."""
    headers = [entry for entry in action.get("httpHeaders") or () if entry["name"].title() != "Authorization"]
    return {**action, "scheme": "HTTP", "httpHeaders": headers}


async def http_get(
    network: PodNetwork, action: Object, port: int, pod_ip: str, timeout: float, user_agent: str
) -> tuple[int, str]:
    """Ask. The status code, or 0 and why there is none; `timeout` in seconds."""
    path = action.get("path") or "/"
    return await network.http_get(
        action.get("host") or pod_ip,
        port,
        path if path.startswith("/") else f"/{path}",
        timeout,
        scheme=(action.get("scheme") or "HTTP").lower(),
        headers=headers_of(action, user_agent),
    )
