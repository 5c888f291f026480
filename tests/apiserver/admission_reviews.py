"""What a webhook is told of each kind of request: how a real API server is asked.

`KUBE_BIN=… python -m tests.apiserver.admission_reviews` asks, and keeps what it heard in `admission_review_answers.json`.
"""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

from lifecycle.apiserver.admission.webhook_server import WebhookServer
from tests.apiserver.questions import keep, until
from tests.differential.answers import settled
from tests.differential.player import Target
from tests.differential.scenes import APPLY, MERGE, STRATEGIC

ANSWERS = Path(__file__).parent / "admission_review_answers.json"
WEBHOOKS = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations"
N = "/api/v1/namespaces/default"
DEPLOYMENTS, POD = "/apis/apps/v1/namespaces/default/deployments", f"{N}/pods/p"
WIDGETS = "/apis/example.com/{}/namespaces/default/widgets"
AUTOSCALERS = "/apis/autoscaling/{}/namespaces/default/horizontalpodautoscalers"

TEMPLATE = {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "c", "image": "i"}]}}
DEPLOYMENT = {
    "metadata": {"name": "d"},
    "spec": {"replicas": 1, "selector": {"matchLabels": {"a": "b"}}, "template": TEMPLATE},
}
CONTROLLER = {"metadata": {"name": "rc"}, "spec": {"replicas": 1, "selector": {"a": "b"}, "template": TEMPLATE}}
CONFIG_MAP = {"metadata": {"name": "c"}, "data": {"a": "c"}}
BINDING = {"metadata": {"name": "p"}, "target": {"kind": "Node", "name": "n"}}
EVICTION = {"metadata": {"name": "p"}, "deleteOptions": {"dryRun": ["All"]}}
APPLIED = "apiVersion: v1\nkind: ConfigMap\ndata: {q: r}\n"
NOW = {"gracePeriodSeconds": 0, "propagationPolicy": "Background"}
RESIZED = {"spec": {"containers": [{"name": "c", "resources": {"requests": {"cpu": "1"}}}]}}
SIGNING = {"metadata": {"name": "c"}, "spec": {"signerName": "example.com/x", "request": "LS0t", "usages": ["any"]}}
AUTOSCALER = {
    "metadata": {"name": "h"},
    "spec": {"maxReplicas": 3, "scaleTargetRef": {"kind": "Deployment", "name": "d", "apiVersion": "apps/v1"}},
}


def _definition() -> Any:
    anything = {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}}
    scale = {"specReplicasPath": ".spec.replicas", "statusReplicasPath": ".status.replicas"}
    versions = [
        {
            "name": "v1", "served": True, "storage": True, "schema": anything,
            "subresources": {"status": {}, "scale": scale},
        },
        {"name": "v1beta1", "served": True, "storage": False, "schema": anything},
    ]  # fmt: skip
    names = {"plural": "widgets", "kind": "Widget"}
    spec = {"group": "example.com", "scope": "Namespaced", "names": names, "versions": versions}
    return {"metadata": {"name": "widgets.example.com"}, "spec": spec}


def _widget(version: str) -> list[tuple[str, str, Any, str]]:
    path, one = WIDGETS.format(version), f"{WIDGETS.format(version)}/{version}"
    head = {"apiVersion": f"example.com/{version}", "kind": "Widget"}
    return [
        ("POST", path, {**head, "metadata": {"name": version}, "spec": {"replicas": 2}}, ""),
        ("PATCH", one, {"spec": {"replicas": 3}}, MERGE),
        ("PATCH", f"{one}/status", {"status": {"replicas": 3}}, MERGE),
        ("PATCH", f"{one}/scale", {"spec": {"replicas": 4}}, MERGE),
        ("DELETE", one, None, ""),
    ]


STEPS: list[tuple[str, str, Any, str]] = [
    ("POST", f"{N}/configmaps", CONFIG_MAP, ""),
    ("POST", f"{N}/configmaps?fieldManager=me&fieldValidation=Warn", {"metadata": {"name": "other"}}, ""),
    ("PUT", f"{N}/configmaps/c", {**CONFIG_MAP, "data": {"a": "d"}}, ""),
    ("PUT", f"{N}/configmaps/new", {**CONFIG_MAP, "metadata": {"name": "new"}}, ""),
    ("PATCH", f"{N}/configmaps/c", {"data": {"x": "y"}}, MERGE),
    ("PATCH", f"{N}/configmaps/c?dryRun=All", {"data": {"x": "z"}}, STRATEGIC),
    ("PATCH", f"{N}/configmaps/c?fieldManager=m&force=true", APPLIED, APPLY),
    ("PATCH", f"{N}/configmaps/applied?fieldManager=m", APPLIED, APPLY),
    ("DELETE", f"{N}/configmaps/c", NOW, ""),
    ("DELETE", f"{N}/configmaps/applied?gracePeriodSeconds=7&orphanDependents=true&dryRun=All", None, ""),
    ("DELETE", f"{N}/configmaps?labelSelector=none%3Dsuch", None, ""),
    ("DELETE", f"{N}/configmaps?dryRun=All", None, ""),
    ("DELETE", f"{N}/configmaps/nowhere", None, ""),
    ("POST", "/api/v1/namespaces", {"metadata": {"name": "n"}}, ""),
    ("PATCH", "/api/v1/namespaces/n", {"metadata": {"labels": {"a": "b"}}}, MERGE),
    ("PUT", "/api/v1/namespaces/n/finalize", {"metadata": {"name": "n"}, "spec": {"finalizers": ["kubernetes"]}}, ""),
    ("PATCH", "/api/v1/namespaces/n/status", {"status": {"phase": "Active"}}, MERGE),
    ("DELETE", "/api/v1/namespaces/n", None, ""),
    ("POST", DEPLOYMENTS, DEPLOYMENT, ""),
    ("GET", f"{DEPLOYMENTS}/d/scale", None, ""),
    ("PUT", f"{DEPLOYMENTS}/d/scale", {"metadata": {"name": "d", "namespace": "default"}, "spec": {"replicas": 3}}, ""),
    ("PATCH", f"{DEPLOYMENTS}/d/scale?fieldManager=me", {"spec": {"replicas": 2}}, MERGE),
    ("PATCH", f"{DEPLOYMENTS}/d/status", {"status": {"replicas": 2}}, MERGE),
    ("DELETE", f"{DEPLOYMENTS}/d?propagationPolicy=Foreground", None, ""),
    ("POST", f"{N}/replicationcontrollers", CONTROLLER, ""),
    ("PATCH", f"{N}/replicationcontrollers/rc/scale", {"spec": {"replicas": 2}}, MERGE),
    ("POST", f"{N}/serviceaccounts", {"metadata": {"name": "default"}}, ""),
    ("POST", f"{N}/pods", {**TEMPLATE, "metadata": {"name": "p"}}, ""),
    ("POST", f"{POD}/binding", BINDING, ""),
    (
        "PATCH",
        f"{POD}/ephemeralcontainers",
        {"spec": {"ephemeralContainers": [{"name": "e", "image": "i"}]}},
        STRATEGIC,
    ),
    ("PATCH", f"{POD}/resize", RESIZED, STRATEGIC),
    ("PATCH", f"{POD}/status", {"status": {"phase": "Running"}}, MERGE),
    ("POST", f"{POD}/eviction", {"apiVersion": "policy/v1", "kind": "Eviction", **EVICTION}, ""),
    ("POST", f"{POD}/exec?command=ls&container=c&stdout=true", None, ""),
    ("GET", f"{POD}/exec?command=ls&container=c&stdout=true", None, ""),
    ("POST", f"{POD}/attach?stdin=true&container=c", None, ""),
    ("POST", f"{POD}/portforward?ports=80", None, ""),
    ("GET", f"{POD}/proxy/x", None, ""),
    ("GET", f"{POD}/log?container=c", None, ""),
    ("GET", "/api/v1/nodes/n/proxy/stats", None, ""),
    ("DELETE", f"{POD}?dryRun=All", None, ""),
    ("DELETE", f"{POD}?dryRun=All&gracePeriodSeconds=5&propagationPolicy=Orphan", None, ""),
    ("DELETE", POD, {"gracePeriodSeconds": 0}, ""),
    ("POST", f"{N}/serviceaccounts/default/token", {"spec": {"audiences": ["x"]}}, ""),
    ("POST", "/apis/certificates.k8s.io/v1/certificatesigningrequests", SIGNING, ""),
    *_widget("v1"),
    *_widget("v1beta1"),
    ("POST", AUTOSCALERS.format("v1"), AUTOSCALER, ""),
    ("PATCH", f"{AUTOSCALERS.format('v2')}/h", {"spec": {"maxReplicas": 4}}, MERGE),
    ("POST", "/apis/rbac.authorization.k8s.io/v1/clusterroles", {"metadata": {"name": "r"}}, ""),
    ("DELETE", f"{WEBHOOKS}/nowhere", None, ""),
]
"""Method, path, document or text, content type (JSON if empty)."""


def _configuration(client: Any) -> Any:
    """A webhook that is told of everything but of what a real server does by itself."""
    everything = {"apiGroups": ["*"], "apiVersions": ["*"], "resources": ["*/*"]}
    asked = "'system:masters' in request.userInfo.groups && !request.userInfo.username.startsWith('system:apiserver')"
    hook = {
        "name": "a.example.com", "clientConfig": client, "sideEffects": "None", "admissionReviewVersions": ["v1"],
        "rules": [{**everything, "operations": ["CREATE", "UPDATE", "DELETE", "CONNECT"]}],
        "matchConditions": [{"name": "asked", "expression": asked}],
    }  # fmt: skip
    return {"metadata": {"name": "w"}, "webhooks": [hook]}


async def answers(target: Target) -> list[Any]:
    """For each step what was answered, and what the webhook was told meanwhile."""

    async def ask(method: str, path: str, document: Any, content_type: str = "") -> int:
        sent = {"Content-Type": content_type or "application/json", "User-Agent": "differential"}
        text = document if isinstance(document, str) else "" if document is None else json.dumps(document)
        status, _, _ = await target.request(method, path, sent, text.encode())
        return status

    told = []
    with WebhookServer(lambda request: {"allowed": True}) as hooks:
        definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
        assert await ask("POST", definitions, _definition()) == 201
        assert await ask("POST", WEBHOOKS, _configuration(hooks.client_config())) == 201

        async def heard_of() -> bool:
            await ask("POST", f"{N}/configmaps?dryRun=All", {"metadata": {"name": "probe"}})
            return bool(hooks.asked) and await ask("GET", WIDGETS.format("v1beta1"), None) == 200

        await until(heard_of)
        for method, path, document, content_type in STEPS:
            await asyncio.sleep(0.3)  # a real server that has not yet heard of a write asks twice about the next
            hooks.asked.clear()
            status = await ask(method, path, document, content_type)
            reviews = [settled(200, {}, json.dumps(review).encode(), "")["body"] for review in hooks.asked]
            told.append({"status": status, "reviews": reviews})
    return told


if __name__ == "__main__":
    keep(ANSWERS, answers)
