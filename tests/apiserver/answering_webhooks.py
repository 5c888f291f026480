"""Webhooks that answer oddly: how a real API server is asked what it makes of it.

`KUBE_BIN=… python -m tests.apiserver.answering_webhooks` asks, and keeps the answers in `answering_webhook_answers.json`.
"""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

from lifecycle.apiserver.admission.webhook_server import WebhookServer, json_patch
from tests.apiserver.questions import Asker, keep, until
from tests.differential.player import Target

ANSWERS = Path(__file__).parent / "answering_webhook_answers.json"
REGISTRATION = "/apis/admissionregistration.k8s.io/v1"
CONFIG_MAPS = "/api/v1/namespaces/default/configmaps?dryRun=All"
POD = {"apiVersion": "v1", "kind": "Pod", "name": "p"}


def _refusal(**status: Any) -> Any:
    return {"allowed": False, "status": status}


def _patch(path: str, value: Any, op: str = "add") -> Any:
    return json_patch({"op": op, "path": path, "value": value})


def _text(patch: bytes, **more: Any) -> Any:
    return {"allowed": True, "patch": base64.b64encode(patch).decode(), **more}


def _review(version: str = "v1", **response: Any) -> Any:
    head = {"kind": "AdmissionReview", "apiVersion": f"admission.k8s.io/{version}"}
    return {"raw": json.dumps({**head, "response": response}).encode()}


TYPED = {"patchType": "JSONPatch"}
CAUSE = {"reason": "FieldValueInvalid", "message": "m", "field": "spec"}
WEBHOOKS: dict[str, Any] = {
    "allows": {"allowed": True},
    "refuses": {"allowed": False},
    "refuses-with-a-message": _refusal(message="no way"),
    "refuses-with-a-code": _refusal(message="no way", code=418),
    "refuses-with-a-reason": _refusal(message="no", reason="Conflict", code=409),
    "refuses-with-a-reason-only": _refusal(reason="TooManyRequests"),
    "refuses-with-a-good-code": _refusal(message="odd", code=200),
    "refuses-with-details": _refusal(
        message="no", details={"name": "x", "kind": "y", "causes": [CAUSE], "retryAfterSeconds": 3}
    ),
    "refuses-and-says-success": _refusal(status="Success", message="x"),
    "refuses-with-metadata": _refusal(metadata={"resourceVersion": "3"}, message="x"),
    "warns": {"allowed": True, "warnings": ["careful", "twice", "careful"]},
    "warns-oddly": {"allowed": False, "warnings": ["w\nnewline", "\u00e9", "x" * 300, ""]},
    "notes": {"allowed": True, "auditAnnotations": {"k": "v", "bad key": "x"}},
    "patches": _patch("/data", {"a": "b"}),
    "patches-with-null": _patch("/data", None),
    "patches-and-refuses": {**_patch("/data", {"a": "b"}), "allowed": False},
    "patches-without-a-type": _text(b"[]"),
    "names-a-type-without-a-patch": {"allowed": True, **TYPED},
    "names-another-type": _text(b"[]", patchType="MergePatch"),
    "names-another-type-of-an-object": _text(b"{}", patchType="MergePatch"),
    "names-an-empty-type": _text(b"[]", patchType=""),
    "patches-with-nothing": _text(b"null", **TYPED),
    "patches-with-an-object": _text(b"{}", **TYPED),
    "patches-with-numbers": _text(b"[1]", **TYPED),
    "patches-with-half-a-text": _text(b"[{", **TYPED),
    "patches-with-an-empty-text": {"allowed": True, "patch": "", **TYPED},
    "patches-with-no-base64": {"allowed": True, "patch": "%%%", **TYPED},
    "gives-another-name": _patch("/metadata/name", "other", "replace"),
    "gives-another-namespace": _patch("/metadata/namespace", "kube-system", "replace"),
    "gives-another-kind": _patch("/kind", "Secret", "replace"),
    "gives-a-version-that-is-none": _patch("/apiVersion", "v2", "replace"),
    "takes-the-kind-away": json_patch({"op": "remove", "path": "/kind"}),
    "gives-a-uid": _patch("/metadata/uid", "abc"),
    "gives-a-revision": _patch("/metadata/resourceVersion", "5"),
    "gives-a-generation": _patch("/metadata/generation", 7),
    "gives-a-birthday": _patch("/metadata/creationTimestamp", "2020-01-01T00:00:00Z"),
    "gives-a-bad-label": _patch("/metadata/labels", {"a b": "c"}),
    "gives-a-finalizer": _patch("/metadata/finalizers", ["a.b/c"]),
    "gives-half-an-owner": _patch("/metadata/ownerReferences", [POD]),
    "gives-an-owner-twice": _patch("/metadata/ownerReferences", [{**POD, "uid": "u"}] * 2),
    "gives-an-unknown-field": _patch("/nothing", 1),
    "forgets-who-manages": _patch("/metadata/managedFields", []),
    "says-nonsense-about-managers": _patch("/metadata/managedFields", [{"manager": "x"}], "replace"),
    "says-nothing": {"raw": b""},
    "says-a-word": {"raw": b"hello"},
    "says-null": {"raw": b"null"},
    "says-a-list": {"raw": b"[]"},
    "does-not-say-what-it-says": {"raw": b'{"response": {"uid": "x", "allowed": true}}'},
    "has-no-response": {"raw": b'{"kind": "AdmissionReview", "apiVersion": "admission.k8s.io/v1"}'},
    "answers-another-question": _review(uid="wrong", allowed=True),
    "answers-in-another-version": _review("v1beta1", uid="x", allowed=True),
    "answers-in-no-version": _review("v9", uid="x", allowed=True),
    "answers-with-a-pod": {"raw": b'{"kind": "Pod", "apiVersion": "v1"}'},
    "goes-wrong": None,
}
"""By the name of the ConfigMap about which they are asked."""
PHASES = [(kind, policy) for kind in ("mutating", "validating") for policy in ("Fail", "Ignore")]
ASKED = [(kind, policy, name) for kind, policy in PHASES for name in WEBHOOKS]


def _answer(request: Any) -> Any:
    answer = WEBHOOKS.get(request["object"]["metadata"]["name"], {"allowed": False})
    if answer is None:
        raise RuntimeError("it went wrong")
    return answer


async def answers(target: Target) -> list[Any]:
    """What is said of each ConfigMap when a webhook has answered so."""
    ask = Asker(target)

    async def about(name: str) -> Any:
        return await ask("POST", CONFIG_MAPS, {"metadata": {"name": name}})

    async def until_refused(name: str, refused: bool) -> None:
        async def is_so() -> bool:
            return bool((await about(name))["status"] != 201) == refused

        await until(is_so)

    said = []
    rule = {"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["configmaps"]}
    with WebhookServer(_answer) as hooks:
        for kind, policy in PHASES:
            hook = {
                "name": "a.example.com", "clientConfig": hooks.client_config(), "rules": [rule], "sideEffects": "None",
                "admissionReviewVersions": ["v1", "v1beta1"], "timeoutSeconds": 5, "failurePolicy": policy,
            }  # fmt: skip
            path = f"{REGISTRATION}/{kind}webhookconfigurations"
            made = await ask("POST", path, {"metadata": {"name": "w"}, "webhooks": [hook]})
            assert made["status"] == 201, made
            await until_refused("refuses", refused=True)
            said += [await about(name) for name in WEBHOOKS]
            await ask("DELETE", f"{path}/w")
            await until_refused("refuses", refused=False)
    return said


if __name__ == "__main__":
    keep(ANSWERS, answers)
