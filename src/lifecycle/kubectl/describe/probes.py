"""A probe in one line: what is asked, how often, and how patiently.

Upstream: `kubectl/pkg/describe/describe.go` (`DescribeProbe`), v1.36.
"""

from __future__ import annotations

from urllib.parse import quote

from lifecycle.api.go.net import join_host_port
from lifecycle.api.http.wire import Object

_PATH = "$&+,/:;=@!'()*[]~"
"""What Go's `URL.String` leaves in a path as it is."""


def describe_probe(probe: Object) -> str:
    """The probe, its delays in seconds."""
    return f"{_action(probe)} {_attributes(probe)}"


def _attributes(probe: Object) -> str:
    return (
        f"delay={probe.get('initialDelaySeconds', 0)}s"
        f" timeout={probe.get('timeoutSeconds', 0)}s"
        f" period={probe.get('periodSeconds', 0)}s"
        f" #success={probe.get('successThreshold', 0)}"
        f" #failure={probe.get('failureThreshold', 0)}"
    )


def _action(probe: Object) -> str:
    if (command := probe.get("exec")) is not None:
        return f"exec [{' '.join(command.get('command') or ())}]"
    if (get := probe.get("httpGet")) is not None:
        host = join_host_port(get.get("host", ""), get["port"])
        path = quote(get.get("path", ""), safe=_PATH)
        slash = "/" if path and not path.startswith("/") else ""
        return f"http-get {get.get('scheme', '').lower()}://{host}{slash}{path}"
    if (socket := probe.get("tcpSocket")) is not None:
        return f"tcp-socket {socket.get('host', '')}:{socket['port']}"
    if (grpc := probe.get("grpc")) is not None:
        return f"grpc <pod>:{grpc['port']} {grpc.get('service') or ''}"
    return "unknown"
