"""Questions to a kubelet's own server, and the pods that they are about."""

from __future__ import annotations

import re
from typing import Any

from lifecycle.api.http.wire import Object

Answer = tuple[int, str]
Question = tuple[str, str, dict[str, str]]


def shell(script: str, **more: Any) -> Object:
    return {"name": "c", "command": ["sh", "-c", script], **more}


STAY = "echo hello; trap 'exit 0' TERM; sleep 1000 & wait"
PODS: dict[str, tuple[tuple[Object, ...], dict[str, Any]]] = {
    "talk": ((shell(STAY), {**shell(STAY), "name": "d"}), {}),
    "ended": ((shell("echo bye; exit 3"),), {"restartPolicy": "Never"}),
    "pulls": (({"name": "c", "image": "registry.invalid/none:1"},), {}),
    "absent": ((shell("true", envFrom=[{"configMapRef": {"name": "none"}}]),), {}),
    "unmounted": (
        (shell("true", volumeMounts=[{"name": "v", "mountPath": "/v"}]),),
        {"volumes": [{"name": "v", "configMap": {"name": "none"}}]},
    ),
}
"""Containers and the rest of a spec, by name."""


def settled(pods: dict[str, Object]) -> bool:
    """Whether each has come as far as it comes."""

    def state(name: str) -> Any:
        statuses = (pods.get(name, {}).get("status") or {}).get("containerStatuses") or [{}]
        return [
            next(iter(each.get("state") or {"": ""})) + str((each.get("state") or {}).get("waiting", {}).get("reason"))
            for each in statuses
        ]

    return (
        state("talk") == ["runningNone"] * 2
        and state("ended") == ["terminatedNone"]
        and state("pulls")[0] in ("waitingErrImagePull", "waitingImagePullBackOff")
        and state("absent") == ["waitingCreateContainerConfigError"]
        and state("unmounted") == ["waitingContainerCreating"]
    )


LOGS = "/containerLogs/judge"
WEBSOCKET = {
    "Upgrade": "websocket",
    "Connection": "Upgrade",
    "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==",
    "Sec-WebSocket-Version": "13",
}
SPDY = {"Upgrade": "SPDY/3.1", "Connection": "Upgrade"}
COMMAND = "command=true&output=1"


def offering(headers: dict[str, str], protocols: str) -> dict[str, str]:
    name = "Sec-WebSocket-Protocol" if headers is WEBSOCKET else "X-Stream-Protocol-Version"
    return {**headers, name: protocols}


QUESTIONS: list[Question] = [
    *(("GET", path, {}) for path in ("/", "/nothing", "/containerLogs", f"{LOGS}/talk", "/exec", "/portForward/judge", "/healthz")),
    *(("GET", f"{LOGS}/{which}", {}) for which in (
        "talk/c", "talk/none", "nobody/c", "ended/c", "ended/c?previous=true", "talk/c?previous=true", "pulls/c", "absent/c",
        "unmounted/c", "talk/c?tailLines=x", "talk/c?sinceSeconds=x", "talk/c?tailLines=-1", "talk/c?limitBytes=0", "talk/c?limitBytes=3",
        "talk/c?sinceSeconds=0", "talk/c?sinceTime=yesterday", "talk/c?sinceSeconds=1&sinceTime=2026-01-01T00:00:00Z",
        "ended/c?follow=perhaps", "talk/c?follow=false", "talk/c?follow=0", "talk/c?timestamps=perhaps&tailLines=0",
        "talk/c?stream=Stdout", "talk/c?stream=All&tailLines=1",
    )),
    ("GET", "/containerLogs/elsewhere/talk/c", {}),
    *((method, path, {}) for method in ("GET", "POST") for path in (
        f"/exec/judge/talk/c?{COMMAND}", "/exec/judge/talk/c", "/exec/judge/talk/c?command=true", f"/exec/judge/nobody/c?{COMMAND}",
        f"/exec/judge/talk/none?{COMMAND}", f"/exec/judge/ended/c?{COMMAND}", f"/exec/judge/pulls/c?{COMMAND}",
        "/exec/judge/talk/{uid}/c?" + COMMAND, f"/exec/judge/talk/00000000-0000-0000-0000-000000000000/c?{COMMAND}",
        "/attach/judge/talk/c", "/attach/judge/talk/c?output=1", "/attach/judge/nobody/c?output=1",
        "/attach/judge/talk/c?tty=1&error=1&output=1",
        "/portForward/judge/talk", "/portForward/judge/nobody", "/portForward/judge/unmounted", "/portForward/judge/pulls",
    )),
    ("DELETE", f"/exec/judge/talk/c?{COMMAND}", {}),
    *(("GET", path, {}) for path in (
        "/pods/x", "/runningpods/x", "/configz/x", "/metrics/x", "/healthz/x", "/exec/judge/talk/a/b/c",
        f"{LOGS}/talk/c?tail=1", f"{LOGS}/talk/c?tail=all", f"{LOGS}/talk/c?tail=x",
        f"{LOGS}/talk/c?stream=Stdout&tailLines=1", f"{LOGS}/talk/c?stream=Stdin", f"{LOGS}/talk/c?stream=",
    )),
    *(("POST", path, {}) for path in ("/pods", "/runningpods", "/healthz", "/logs/", "/nothing")),
    ("PUT", "/portForward/judge/talk", {}),
    ("POST", f"{LOGS}/talk/c", {}),
    *(("GET", path, offering(WEBSOCKET, protocols)) for protocols in ("v9.channel.k8s.io", "a, b") for path in (
        f"/exec/judge/talk/c?{COMMAND}", "/portForward/judge/talk?port=80",
    )),
    *(("POST", path, offering(SPDY, protocols)) for protocols in ("v9.channel.k8s.io", "a, b") for path in (
        f"/exec/judge/talk/c?{COMMAND}", "/portForward/judge/talk",
    )),
    *(("GET", f"/portForward/judge/talk?{ports}", offering(WEBSOCKET, "v4.channel.k8s.io")) for ports in (
        "", "port=", "port=x", "port=0", "port=65536", "port=80,x", "port=-1",
    )),
]  # fmt: skip


def masked(status: int, body: str) -> Answer:
    """Without what differs between any two nodes."""
    body = re.sub(r"containerd://[0-9a-f]{64}", "containerd://ID", body)
    body = re.sub(r"server accepts \[v[^]]*\]", "server accepts [VERSIONS OF THE RUNTIME]", body)
    return status, re.sub(r"[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}", "UID", body)
