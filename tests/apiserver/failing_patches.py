"""JSON patches of webhooks and mutating policies that cannot be applied: how a real API server is asked what it says of them.

`KUBE_BIN=… python -m tests.apiserver.failing_patches` asks, and keeps the answers in `failing_patch_answers.json`.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from lifecycle.apiserver.admission.webhook_server import WebhookServer, json_patch
from tests.apiserver.questions import Asker, keep, until
from tests.differential.player import Target

ANSWERS = Path(__file__).parent / "failing_patch_answers.json"
REGISTRATION = "/apis/admissionregistration.k8s.io/v1"
SERVICES = "/api/v1/namespaces/default/services?dryRun=All"
"""Of all small kinds one with a list, maps and numbers in it."""

PATCHES: dict[str, list[Any]] = {
    "nothing-to-remove": [{"op": "remove", "path": "/spec/nothing"}],
    "an-item-too-far-to-remove": [{"op": "remove", "path": "/spec/ports/1"}],
    "an-item-too-far-from-the-end-to-remove": [{"op": "remove", "path": "/spec/ports/-2"}],
    "no-number-to-remove": [{"op": "remove", "path": "/spec/ports/one"}],
    "too-large-a-number-to-remove": [{"op": "remove", "path": "/spec/ports/99999999999999999999"}],
    "removed-within-nothing": [{"op": "remove", "path": "/nothing/here"}],
    "removed-within-a-text": [{"op": "remove", "path": "/kind/here"}],
    "removed-without-a-slash": [{"op": "remove", "path": "kind"}],
    "everything-removed": [{"op": "remove", "path": ""}],
    "added-within-nothing": [{"op": "add", "path": "/nothing/~1here", "value": 1}],
    "an-item-too-far-to-add": [{"op": "add", "path": "/spec/ports/2", "value": {"port": 1}}],
    "no-number-to-add": [{"op": "add", "path": "/spec/ports/one", "value": {"port": 1}}],
    "nothing-to-replace": [{"op": "replace", "path": "/spec/ports/0/nothing", "value": 1}],
    "an-item-too-far-to-replace": [{"op": "replace", "path": "/spec/ports/7", "value": 1}],
    "replaced-within-nothing": [{"op": "replace", "path": "/nothing/here", "value": 1}],
    "replaced-by-a-number": [{"op": "replace", "path": "", "value": 1}],
    "moved-from-nothing": [{"op": "move", "from": "/spec/nothing", "path": "/spec/selector"}],
    "moved-from-within-nothing": [{"op": "move", "from": "/nothing/here", "path": "/spec/selector"}],
    "moved-from-an-item-too-far": [{"op": "move", "from": "/spec/ports/3", "path": "/spec/selector"}],
    "moved-into-nothing": [{"op": "move", "from": "/spec/ports", "path": "/nothing/here"}],
    "moved-to-an-item-too-far": [{"op": "move", "from": "/spec/selector", "path": "/spec/ports/5"}],
    "copied-from-within-nothing": [{"op": "copy", "from": "/nothing/here", "path": "/spec/selector"}],
    "copied-from-an-item-too-far": [{"op": "copy", "from": "/spec/ports/3", "path": "/spec/selector"}],
    "copied-into-nothing": [{"op": "copy", "from": "/spec/ports", "path": "/nothing/here"}],
    "copied-to-no-number": [{"op": "copy", "from": "/spec/ports/0", "path": "/spec/ports/one"}],
    "a-test-of-another-value": [{"op": "test", "path": "/spec/ports/0/port", "value": 81}],
    "a-test-of-nothing": [{"op": "test", "path": "/spec/nothing", "value": 1}],
    "a-test-within-nothing": [{"op": "test", "path": "/nothing/here", "value": 1}],
    "a-test-of-an-item-too-far": [{"op": "test", "path": "/spec/ports/4", "value": 1}],
    "a-test-that-holds-and-nothing-to-remove": [
        {"op": "test", "path": "/spec/ports/0/port", "value": 80},
        {"op": "remove", "path": "/spec/nothing"},
    ],
    "a-change-and-a-test-that-fails": [
        {"op": "add", "path": "/metadata/labels", "value": {"seen": "yes"}},
        {"op": "test", "path": "/spec/ports/0/port", "value": 81},
    ],
    "a-kind-that-does-not-fit": [{"op": "replace", "path": "/spec/ports", "value": "none"}],
}
"""By the name of the Service to which it is done."""
BY_WEBHOOKS_ONLY: dict[str, list[Any]] = {
    "another-operation": [{"op": "frobnicate", "path": "/spec"}],
    "no-operation": [{"path": "/spec"}],
    "a-number-for-an-operation": [{"op": 1, "path": "/spec"}],
    "no-path-to-add": [{"op": "add", "value": 1}],
    "no-path-to-remove": [{"op": "remove"}],
    "no-path-to-replace": [{"op": "replace", "value": 1}],
    "no-path-to-test": [{"op": "test", "value": 1}],
    "a-number-for-a-path": [{"op": "remove", "path": 1}],
    "a-number-for-a-path-to-replace": [{"op": "replace", "path": 1, "value": 1}],
    "nowhere-to-move-from": [{"op": "move", "path": "/spec/selector"}],
    "nowhere-to-move-to": [{"op": "move", "from": "/spec/selector"}],
    "nowhere-to-copy-from": [{"op": "copy", "path": "/spec/selector"}],
    "nowhere-to-copy-to": [{"op": "copy", "from": "/spec/selector"}],
    "copied-too-often": [
        {"op": "add", "path": "/metadata/annotations", "value": {"a": "x" * 200_000}},
        *({"op": "copy", "from": "/metadata", "path": f"/metadata/annotations/{n}"} for n in range(8)),
    ],
}
"""What an expression cannot say."""
ASKED = [
    *(("webhook", name) for name in (*PATCHES, *BY_WEBHOOKS_ONLY)),
    *(("policy", name) for name in PATCHES),
]
ALL = {**PATCHES, **BY_WEBHOOKS_ONLY}


def _expression(operations: list[Any]) -> str:
    written = []
    for operation in operations:
        fields = [f"{key}: {_literal(value)}" for key, value in operation.items()]
        written.append(f"JSONPatch{{{', '.join(fields)}}}")
    return f"[{', '.join(written)}]"


def _literal(value: Any) -> str:
    return json.dumps(value)  # what is used here reads alike in both languages


def _rules() -> Any:
    return {"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["services"]}


def _webhook(client: Any) -> Any:
    hook = {"name": "a.example.com", "clientConfig": client, "rules": [_rules()], "sideEffects": "None"}
    return {"metadata": {"name": "w"}, "webhooks": [{**hook, "admissionReviewVersions": ["v1"], "timeoutSeconds": 5}]}


def _policy(name: str, operations: list[Any]) -> Any:
    return {
        "metadata": {"name": name},
        "spec": {
            "matchConstraints": {"resourceRules": [_rules()]},
            "matchConditions": [{"name": "mine", "expression": f"object.metadata.name == '{name}'"}],
            "reinvocationPolicy": "Never",
            "mutations": [{"patchType": "JSONPatch", "jsonPatch": {"expression": _expression(operations)}}],
        },
    }


async def answers(target: Target) -> list[Any]:
    """What is said of a Service to which each of the patches is done: by a webhook, and by a policy."""
    ask = Asker(target)

    async def about(name: str) -> Any:
        spec = {"type": "ExternalName", "externalName": "a.example.com", "ports": [{"port": 80}]}
        return await ask("POST", SERVICES, {"metadata": {"name": name}, "spec": {**spec, "selector": {"a": "b"}}})

    async def until_refused(name: str, refused: bool) -> None:
        async def is_so() -> bool:
            return bool((await about(name))["status"] != 201) == refused

        await until(is_so)

    async def made(path: str, document: Any) -> None:
        said = await ask("POST", path, document)
        assert said["status"] == 201, said

    said = []
    with WebhookServer(lambda request: json_patch(*ALL.get(request["object"]["metadata"]["name"], []))) as hooks:
        path = f"{REGISTRATION}/mutatingwebhookconfigurations"
        await made(path, _webhook(hooks.client_config()))
        await until_refused("nothing-to-remove", refused=True)
        said += [await about(name) for by, name in ASKED if by == "webhook"]
        await ask("DELETE", f"{path}/w")
        await until_refused("nothing-to-remove", refused=False)
    for name, operations in (*PATCHES.items(), ("the-last", PATCHES["nothing-to-remove"])):
        await made(f"{REGISTRATION}/mutatingadmissionpolicies", _policy(name, operations))
        binding = {"metadata": {"name": name}, "spec": {"policyName": name}}
        await made(f"{REGISTRATION}/mutatingadmissionpolicybindings", binding)
    await until_refused("the-last", refused=True)
    said += [await about(name) for by, name in ASKED if by == "policy"]
    return said


if __name__ == "__main__":
    keep(ANSWERS, answers)
