"""What a kubelet makes of volumes: files, links, modes, and why it cannot."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from generators.programs.admitted import BUSY, pod, resources
from generators.programs.answer import Answer
from generators.programs.api_server import namespace
from generators.programs.control_plane import Server, until
from generators.programs.node import RealNode
from lifecycle.agreements.kubelet.mounted_volumes import (
    VOLUME,
    look,
    told,
    written_anew,
)

WHO = "kubelet v1.36.2"
Object = dict[str, Any]
MERGE = "application/merge-patch+json"
SEES = 15.0
"""Seconds in which a kubelet that looks every two seconds has seen a change."""


def _object(kind: str, name: str, **fields: Any) -> Object:
    return {"apiVersion": "v1", "kind": kind, "metadata": {"name": name}, **fields}


CONF = {"nginx.conf": "worker_processes 1;\n", "motd": "hello\n"}
OBJECTS: tuple[tuple[str, Object], ...] = (
    ("configmaps", _object("ConfigMap", "conf", data=CONF)),
    (
        "configmaps",
        _object("ConfigMap", "bytes", data={"a": "text"}, binaryData={"b": "AAEC"}),
    ),
    ("configmaps", _object("ConfigMap", "empty")),
    ("configmaps", _object("ConfigMap", "fixed", data={"a": "1"}, immutable=True)),
    ("secrets", _object("Secret", "words", stringData={"user": "me", "word": "x"})),
)
CHANGES: tuple[tuple[str, str, Object], ...] = (
    ("configmaps", "conf", {"data": {"nginx.conf": "changed\n", "new": "1"}}),
    ("secrets", "words", {"stringData": {"word": "longer than before"}}),
    ("configmaps", "bytes", {"binaryData": {"b": None}}),
    ("pods", "labels", {"metadata": {"labels": {"tier": "front"}}}),
)
"""What changes: of which object, and how."""
CHANGED = (
    "config-map",
    "config-map-items",
    "config-map-bytes",
    "secret",
    "labels",
    "projected",
    "empty",
    "optional-and-missing",
    "config-map-item-mode",
    "config-map-immutable",
    "fields",
    "limits",
)
"""Whose directories are looked at again."""


def volume(name: str, source: Object, *containers: Object, **spec: Any) -> Object:
    """A pod with one volume, which all of its containers mount. `spec`: more of it."""
    mount = {"name": VOLUME, "mountPath": "/v"}
    made = pod(
        name,
        *({**BUSY, "volumeMounts": [mount], **each} for each in containers or ({},)),
        volumes=[{"name": VOLUME, **source}],
        **spec,
    )
    made["metadata"] |= {"labels": {"app": "web"}, "annotations": {"why": "because"}}
    return made


def items(*pairs: tuple[str, str], **more: Any) -> list[Object]:
    """Keys and paths."""
    return [{"key": key, "path": path, **more} for key, path in pairs]


def fields(**paths: str) -> list[Object]:
    """Files of the downward API."""
    return [
        {"path": name, "fieldRef": {"fieldPath": path}} for name, path in paths.items()
    ]


def limit(name: str, divisor: str) -> Object:
    """A file with a limit of the container."""
    which = {"containerName": "c0", "resource": name, "divisor": divisor}
    return {"path": name, "resourceFieldRef": which}


def token(name: str, *containers: Object, **of_pod: int) -> Object:
    """A pod with a token that the kubelet asks for. `of_pod`: its security context."""
    source = {"projected": {"sources": [{"serviceAccountToken": {"path": "token"}}]}}
    return volume(name, source, *containers, securityContext=of_pod)


def user(number: int) -> Object:
    """A container that somebody runs."""
    return {"securityContext": {"runAsUser": number}}


NESTED = items(("nginx.conf", "deep/er/nginx.conf"), ("motd", "motd"))
HOST = "/tmp/lifecycle-no-such-place"
PODS: tuple[Object, ...] = (
    volume("config-map", {"configMap": {"name": "conf"}}),
    volume("config-map-mode", {"configMap": {"name": "conf", "defaultMode": 0o400}}),
    volume("config-map-items", {"configMap": {"name": "conf", "items": NESTED}}),
    volume(
        "config-map-item-mode",
        {"configMap": {"name": "conf", "items": items(("motd", "m"), mode=0o777)}},
    ),
    volume("config-map-bytes", {"configMap": {"name": "bytes"}}),
    volume("config-map-empty", {"configMap": {"name": "empty"}}),
    volume("config-map-immutable", {"configMap": {"name": "fixed"}}),
    volume("missing", {"configMap": {"name": "no-such"}}),
    volume("missing-secret", {"secret": {"secretName": "no-such"}}),
    volume(
        "optional-and-missing", {"configMap": {"name": "no-such", "optional": True}}
    ),
    volume(
        "missing-key", {"configMap": {"name": "conf", "items": items(("no", "no"))}}
    ),
    volume(
        "missing-secret-key",
        {"secret": {"secretName": "words", "items": items(("no", "no"))}},
    ),
    volume(
        "optional-key",
        {
            "configMap": {
                "name": "conf",
                "items": items(("no", "no"), ("motd", "motd")),
                "optional": True,
            }
        },
    ),
    volume("secret", {"secret": {"secretName": "words"}}),
    volume("secret-mode", {"secret": {"secretName": "words", "defaultMode": 0o440}}),
    volume("empty", {"emptyDir": {}}),
    volume("memory", {"emptyDir": {"medium": "Memory"}}),
    volume("memory-16", {"emptyDir": {"medium": "Memory", "sizeLimit": "16Mi"}}),
    volume(
        "memory-of-the-pod",
        {"emptyDir": {"medium": "Memory"}},
        resources(limit_memory="32Mi"),
    ),
    volume(
        "labels",
        {"downwardAPI": {"items": fields(labels="metadata.labels")}},
    ),
    volume(
        "fields",
        {
            "downwardAPI": {
                "items": fields(
                    name="metadata.name",
                    annotation="metadata.annotations['why']",
                    one="metadata.labels['app']",
                )
            }
        },
    ),
    volume(
        "limits",
        {
            "downwardAPI": {
                "items": [limit("limits.memory", "1Mi"), limit("limits.cpu", "1m")],
                "defaultMode": 0o600,
            }
        },
        resources(limit_cpu="250m", limit_memory="64Mi"),
    ),
    volume(
        "projected",
        {
            "projected": {
                "sources": [
                    {"configMap": {"name": "conf"}},
                    {"secret": {"name": "words", "items": items(("user", "in/user"))}},
                    {"downwardAPI": {"items": fields(name="metadata.name")}},
                ]
            }
        },
    ),
    volume(
        "projected-missing",
        {"projected": {"sources": [{"secret": {"name": "no-such"}}]}},
    ),
    token("token"),
    token("token-of-a-user", runAsUser=1000),
    token("token-of-a-containers-user", user(1000)),
    token("token-of-a-user-and-nobody", user(1000), {}),
    token("token-of-two-alike", user(1000), user(1000)),
    token("token-of-two-users", user(1000), user(1001)),
    token("token-of-a-group", fsGroup=2000),
    token("token-of-a-user-in-a-group", user(1000), fsGroup=2000),
    volume(
        "token-mode",
        {
            "projected": {
                "sources": [{"serviceAccountToken": {"path": "in/token"}}],
                "defaultMode": 0o440,
            }
        },
    ),
    volume(
        "config-map-of-a-group",
        {"configMap": {"name": "conf"}},
        securityContext={"fsGroup": 2000},
    ),
    volume("empty-of-a-group", {"emptyDir": {}}, securityContext={"fsGroup": 2000}),
    volume("host-directory", {"hostPath": {"path": HOST, "type": "Directory"}}),
    volume("host-file", {"hostPath": {"path": "/proc", "type": "File"}}),
    volume("host-socket", {"hostPath": {"path": HOST, "type": "Socket"}}),
)


def answers(server: Server, programs: Path) -> Iterator[Answer]:
    """All of it. A controller manager runs."""
    admin = server.admin
    path = namespace(admin, "mounted")
    with RealNode(server, programs, {"syncFrequency": "2s"}) as node:
        for plural, obj in OBJECTS:
            admin("POST", f"{path}/{plural}", obj)
        for each in PODS:
            made = admin("POST", f"{path}/pods", each)
            if made.status != 201:
                raise ValueError(f"{each['metadata']['name']}: {made.message}")
        names = [each["metadata"]["name"] for each in PODS]
        until("every pod", lambda: all(_decided(node, path, name) for name in names))
        time.sleep(1)
        before = {name: _look(node, path, name) for name in names}
        for plural, name, patch in CHANGES:
            admin("PATCH", f"{path}/{plural}/{name}", patch, content_type=MERGE)
        time.sleep(SEES)
        after = {name: _look(node, path, name) for name in CHANGED}
        written_anew(before, after)
        yield Answer(
            "mounted/volumes",
            WHO,
            "pods with one volume each: what is in its directory on the node, before"
            " and after some objects change, and why it could not be mounted",
            {
                "machine": node.machine(),
                "objects": list(OBJECTS),
                "pods": list(PODS),
                "before": before,
                "changes": list(CHANGES),
                "after": after,
            },
        )
        node.clear(path)


def _decided(node: RealNode, path: str, name: str) -> bool:
    seen = node.admin("GET", f"{path}/pods/{name}").body
    return seen["status"]["phase"] == "Running" or bool(_told(node, path, name))


def _told(node: RealNode, path: str, name: str) -> list[str]:
    return told(node.admin("GET", f"{path}/events").body["items"], name)


def _look(node: RealNode, path: str, name: str) -> Object:
    uid = node.admin("GET", f"{path}/pods/{name}").body["metadata"]["uid"]
    return look(node.folder / "kubelet/pods" / uid, _sizes(), _told(node, path, name))


def _sizes() -> dict[str, int]:
    sizes = {}
    for line in Path("/proc/self/mounts").read_text().splitlines():
        device, where, _, options, *_ = line.split()
        size = [each for each in options.split(",") if each.startswith("size=")]
        if device == "tmpfs" and size:
            sizes[where] = int(size[0][5:].removesuffix("k")) * 1024
    return sizes
