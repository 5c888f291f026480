"""What an API server's audit log keeps of which request, under two policies."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from typing import Any

from generators.programs.answer import Answer
from generators.programs.control_plane import ControlPlane, Server, until
from lifecycle.agreements.apiserver.audited import events_of, lines_of

WHO = "kube-apiserver v1.36.2"
Object = dict[str, Any]
HERE = "/api/v1/namespaces/audited"
POLICIES: dict[str, Object] = {
    "every sort of rule": {
        "omitManagedFields": True,
        "rules": [
            {"level": "None", "users": ["mute"]},
            {
                "level": "None",
                "verbs": ["get"],
                "resources": [{"group": "", "resources": ["endpoints"]}],
            },
            {"level": "None", "nonResourceURLs": ["/healthz*", "/version"]},
            {
                "level": "Metadata",
                "resources": [
                    {"group": "", "resources": ["secrets"], "resourceNames": ["key"]}
                ],
                "omitStages": ["RequestReceived"],
            },
            {
                "level": "RequestResponse",
                "userGroups": ["devs"],
                "omitManagedFields": False,
            },
            {
                "level": "Request",
                "namespaces": ["audited"],
                "resources": [{"group": "", "resources": ["configmaps", "*/token"]}],
            },
            {
                "level": "RequestResponse",
                "resources": [{"group": "apps"}, {"group": "batch"}],
                "omitStages": ["RequestReceived", "ResponseStarted"],
            },
            {"level": "Metadata", "nonResourceURLs": ["*"]},
            {
                "level": "Request",
                "resources": [{"group": "", "resources": ["pods/*"]}],
            },
            {
                "level": "Metadata",
                "resources": [{"group": "*", "resources": ["roles", "endpointslices"]}],
            },
        ],
    },
    "everything": {
        "omitStages": ["RequestReceived"],
        "rules": [{"level": "RequestResponse"}],
    },
}


def config_map(name: str, **data: str) -> Object:
    """One."""
    meta = {"name": name}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": meta, "data": data}


def named(kind: str, name: str, api_version: str = "v1", **more: Any) -> Object:
    """An object that has a name and little else."""
    meta = {"name": name}
    return {"apiVersion": api_version, "kind": kind, "metadata": meta, **more}


LABELS = {"app": "web"}
DEPLOYMENT = named(
    "Deployment",
    "web",
    "apps/v1",
    spec={
        "replicas": 0,
        "selector": {"matchLabels": LABELS},
        "template": {
            "metadata": {"labels": LABELS},
            "spec": {"containers": [{"name": "c", "image": "nginx"}]},
        },
    },
)
POD = named(
    "Pod",
    "p",
    spec={
        "automountServiceAccountToken": False,
        "containers": [{"name": "c", "image": "nginx"}],
    },
)
RBAC = "/apis/rbac.authorization.k8s.io/v1"
DEVS = named(
    "ClusterRoleBinding",
    "devs",
    "rbac.authorization.k8s.io/v1",
    roleRef={
        "apiGroup": "rbac.authorization.k8s.io",
        "kind": "ClusterRole",
        "name": "cluster-admin",
    },
    subjects=[
        {"apiGroup": "rbac.authorization.k8s.io", "kind": "Group", "name": "devs"}
    ],
)
ADMIN, JANE = ("admin", ["system:masters"]), ("jane", ["devs"])
MUTE, STRANGER = ("mute", ["system:masters"]), ("stranger", ["others"])
MERGE = {"Content-Type": "application/merge-patch+json"}
APPLY = {"Content-Type": "application/apply-patch+yaml"}
AS_JANE = {"Impersonate-User": "jane", "Impersonate-Group": "devs"}
APPS = "/apis/apps/v1/namespaces/audited/deployments"
SLICES = "/apis/discovery.k8s.io/v1/namespaces/audited/endpointslices"
MAPS = f"{HERE}/configmaps"
NODE: Object = {"target": {"kind": "Node", "name": "node-a"}}
Asked = tuple[str, tuple[str, list[str]], str, str, Object | None, dict[str, str]]
TOKEN = {
    "apiVersion": "authentication.k8s.io/v1",
    "kind": "TokenRequest",
    "spec": {"expirationSeconds": 3600},
}
SECRET = named("Secret", "key")
NAMESPACE = named("Namespace", "audited")
ACCOUNT = named("ServiceAccount", "default")
BINDING = named("Binding", "p", **NODE)
MINE, YOURS = config_map("three", a="b"), config_map("three", a="c")
ACCOUNTS = f"{HERE}/serviceaccounts"
TOKENS = f"{ACCOUNTS}/default/token"
BINDINGS = f"{RBAC}/clusterrolebindings"
BOUND = f"{HERE}/pods/p/binding"
ELSEWHERE = "/api/v1/namespaces/default/configmaps"
WATCH = f"{MAPS}?watch=true&timeoutSeconds=1&resourceVersion=0"
THREE = f"{MAPS}/three?fieldManager"
REQUESTS: tuple[Asked, ...] = (
    ("a namespace", ADMIN, "POST", "/api/v1/namespaces", NAMESPACE, {}),
    ("an account", ADMIN, "POST", ACCOUNTS, ACCOUNT, {}),
    ("rights for a group", ADMIN, "POST", BINDINGS, DEVS, {}),
    ("a path that is left out", ADMIN, "GET", "/version", None, {}),
    ("a path whose beginning is left out", ADMIN, "GET", "/healthz", None, {}),
    ("any other path", ADMIN, "GET", "/apis", None, {}),
    ("a path that is not there", ADMIN, "GET", "/nowhere", None, {}),
    ("a verb that is left out", ADMIN, "GET", f"{HERE}/endpoints/none", None, {}),
    ("another verb", ADMIN, "DELETE", f"{HERE}/endpoints/none", None, {}),
    ("an object", ADMIN, "POST", MAPS, config_map("one", a="b"), {}),
    ("read", ADMIN, "GET", f"{MAPS}/one", None, {}),
    ("patched", ADMIN, "PATCH", f"{MAPS}/one", {"data": {"a": "c"}}, MERGE),
    ("there already", ADMIN, "POST", MAPS, config_map("one"), {}),
    ("an object of no use", ADMIN, "POST", MAPS, config_map("No Name"), {}),
    ("only to see", ADMIN, "POST", f"{MAPS}?dryRun=All", config_map("two"), {}),
    ("a watch of a second", ADMIN, "GET", WATCH, None, {}),
    ("outside the namespace", ADMIN, "GET", ELSEWHERE, None, {}),
    ("a secret, not named yet", ADMIN, "POST", f"{HERE}/secrets", SECRET, {}),
    ("a secret by its name", ADMIN, "GET", f"{HERE}/secrets/key", None, {}),
    ("a secret of another name", ADMIN, "GET", f"{HERE}/secrets/other", None, {}),
    ("a subresource of anything", ADMIN, "POST", TOKENS, TOKEN, {}),
    ("a group's object", ADMIN, "POST", APPS, DEPLOYMENT, {}),
    ("a group's object by its scale", ADMIN, "GET", f"{APPS}/web/scale", None, {}),
    ("of any group", ADMIN, "GET", f"{RBAC}/namespaces/audited/roles", None, {}),
    ("of any group, deleted", ADMIN, "DELETE", f"{SLICES}/none", None, {}),
    ("deleted", ADMIN, "DELETE", f"{APPS}/web", None, {}),
    ("a pod", ADMIN, "POST", f"{HERE}/pods", POD, {}),
    ("a pod's binding", ADMIN, "POST", BOUND, BINDING, {}),
    ("who is left out", MUTE, "GET", MAPS, None, {}),
    ("somebody of a group", JANE, "GET", f"{MAPS}/one", None, {}),
    ("somebody of a group, for a path", JANE, "GET", "/nowhere", None, {}),
    ("somebody of a group writes", JANE, "POST", MAPS, config_map("hers"), {}),
    ("who may not", STRANGER, "GET", f"{MAPS}/one", None, {}),
    ("as somebody else", ADMIN, "GET", f"{MAPS}/one", None, AS_JANE),
    ("as somebody, who may not", STRANGER, "GET", f"{MAPS}/one", None, AS_JANE),
    ("applied", ADMIN, "PATCH", f"{THREE}=me", MINE, APPLY),
    ("a conflict", ADMIN, "PATCH", f"{THREE}=you", YOURS, APPLY),
    ("all at once", ADMIN, "DELETE", MAPS, None, {}),
)  # fmt: skip


def answers(plane: ControlPlane) -> Iterator[Answer]:
    """All of it, of API servers with a part of etcd each."""
    for number, (name, policy) in enumerate(POLICIES.items()):
        document = {"apiVersion": "audit.k8s.io/v1", "kind": "Policy", **policy}
        file = plane.file(f"audited-{number}.json", json.dumps(document))
        log = plane.file(f"events-{number}.jsonl", "")
        flags = (
            f"--etcd-prefix=/audited-{number}",
            f"--audit-policy-file={file}",
            f"--audit-log-path={log}",
            "--api-audiences=https://kubernetes.default.svc.cluster.local",
        )
        server = plane.api_server(f"audited-{number}", *flags)
        _wait(server)
        requests = []
        for what, (user, groups), method, path, body, headers in REQUESTS:
            before = len(lines_of(log))
            connection = server.connection(user, *groups)
            sent = {"Content-Type": "application/json", **headers}
            content_type = sent.pop("Content-Type")
            connection.with_headers(**sent)(
                method, path, body, content_type=content_type
            )
            time.sleep(0.5)
            requests.append(
                {
                    "what": what,
                    "user": user,
                    "groups": groups,
                    "method": method,
                    "path": path,
                    "body": body,
                    "headers": {"Content-Type": content_type, **sent},
                    "events": events_of(path, lines_of(log)[before:]),
                }
            )
        yield Answer(
            f"audited/{name}",
            WHO,
            "each request in turn, and the events that it left in the audit log",
            {"policy": document, "requests": requests},
        )


def _wait(server: Server) -> None:
    """Until it has written everything that it needs itself."""
    admin = server.admin
    until("a server that is ready", lambda: admin("GET", "/readyz").status == 200)
