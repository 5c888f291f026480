"""Services, their pods and their slices, as small as they can be."""

from __future__ import annotations

from typing import Any

from lifecycle.api.http.wire import Object


def service(*ports: Object, **spec: Any) -> Object:
    full = {"clusterIP": "10.96.0.9", "ipFamilies": ["IPv4"], "ports": list(ports), "selector": {"app": "web"}, **spec}
    return {"metadata": {"name": "web", "namespace": "ns", "uid": "service", "labels": {}}, "spec": full}


def pod(number: int, uid: str = "", **spec: Any) -> Object:
    meta = {"name": f"web-{number}", "namespace": "ns", "uid": uid or f"pod-{number}", "resourceVersion": "1"}
    ready = {"type": "Ready", "status": "True"}
    ip = f"10.1.{number // 250}.{number % 250 + 1}"
    status = {"phase": "Running", "podIP": ip, "podIPs": [{"ip": ip}], "conditions": [ready]}
    return {"metadata": meta, "spec": {"nodeName": "node", "containers": [{"name": "c"}], **spec}, "status": status}


def stored(made: Object, number: int = 1) -> Object:
    return {**made, "metadata": {**made["metadata"], "name": f"web-{number}", "uid": f"slice-{number}"}}
