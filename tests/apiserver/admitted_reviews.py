"""Questions that are answered and not stored, and who has a say in them: how a real API server is asked for its answers.

`KUBE_BIN=… python -m tests.apiserver.admitted_reviews` asks, and keeps them in `admitted_review_answers.json`.
"""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

from tests.apiserver.questions import Asker, keep
from tests.differential.player import Target

ANSWERS = Path(__file__).parent / "admitted_review_answers.json"
REGISTRATION = "/apis/admissionregistration.k8s.io/v1"
AUTHENTICATION, AUTHORIZATION = "/apis/authentication.k8s.io/v1", "/apis/authorization.k8s.io/v1"
CONFIG_MAPS = "/api/v1/namespaces/default/configmaps"
EVERYTHING = {"apiGroups": ["*"], "apiVersions": ["*"], "operations": ["*"], "resources": ["*"]}
GET_PODS = {"verb": "get", "resource": "pods", "namespace": "default"}

REVIEWS: tuple[tuple[str, Any], ...] = (
    (f"{AUTHENTICATION}/tokenreviews", {"spec": {"token": "nobody's"}}),
    (f"{AUTHENTICATION}/tokenreviews", {"spec": {}}),
    (f"{AUTHENTICATION}/selfsubjectreviews", {}),
    (f"{AUTHORIZATION}/subjectaccessreviews", {"spec": {"user": "eve", "resourceAttributes": GET_PODS}}),
    (f"{AUTHORIZATION}/subjectaccessreviews", {"spec": {"user": "eve"}}),
    (
        f"{AUTHORIZATION}/namespaces/default/localsubjectaccessreviews",
        {"spec": {"user": "eve", "resourceAttributes": GET_PODS}},
    ),
    (
        f"{AUTHORIZATION}/namespaces/default/localsubjectaccessreviews",
        {"spec": {"user": "eve", "nonResourceAttributes": {"path": "/", "verb": "get"}}},
    ),
    (f"{AUTHORIZATION}/selfsubjectaccessreviews", {"spec": {"resourceAttributes": GET_PODS}}),
    (f"{AUTHORIZATION}/selfsubjectrulesreviews", {"spec": {}}),
    (f"{AUTHORIZATION}/selfsubjectrulesreviews", {"spec": {"namespace": "default"}}),
)
"""Good ones, and such as are refused before anybody is asked, or after."""


FAILS = "[JSONPatch{op: 'remove', path: string(1 / (object.metadata.name == '' ? 1 : 0))}]"


def _webhooks(kind: str) -> Any:
    # nobody listens there
    client = {"url": "https://127.0.0.1:1/"}
    hook = {"name": "a.example.com", "clientConfig": client, "rules": [EVERYTHING], "sideEffects": "None"}
    return {
        "kind": f"{kind}WebhookConfiguration", "metadata": {"name": "w"},
        "webhooks": [{**hook, "admissionReviewVersions": ["v1"], "timeoutSeconds": 5}],
    }  # fmt: skip


def _policy(kind: str) -> list[tuple[str, Any]]:
    spec: Any = {"matchConstraints": {"resourceRules": [EVERYTHING]}}
    binding: Any = {"policyName": "p"}
    if kind == "validating":
        spec["validations"] = [{"expression": "false"}]
        binding["validationActions"] = ["Deny"]
    else:
        spec |= {
            "reinvocationPolicy": "Never",
            "mutations": [{"patchType": "JSONPatch", "jsonPatch": {"expression": FAILS}}],
        }  # fmt: skip
    return [
        (f"{REGISTRATION}/{kind}admissionpolicies", {"metadata": {"name": "p"}, "spec": spec}),
        (f"{REGISTRATION}/{kind}admissionpolicybindings", {"metadata": {"name": "p"}, "spec": binding}),
    ]


PLUGINS: dict[str, list[tuple[str, Any]]] = {
    "a mutating webhook": [(f"{REGISTRATION}/mutatingwebhookconfigurations", _webhooks("Mutating"))],
    "a validating webhook": [(f"{REGISTRATION}/validatingwebhookconfigurations", _webhooks("Validating"))],
    "a validating policy": _policy("validating"),
    "a mutating policy": _policy("mutating"),
}
"""Each refuses everything that it sees."""


async def answers(target: Target) -> list[Any]:
    """To all reviews, under each plugin; what it says of a ConfigMap first."""
    asker = Asker(target)

    async def ask(method: str, path: str, document: Any = None) -> Any:
        said = await asker(method, path, document)
        status = said["body"].get("status")
        if path.endswith("/selfsubjectrulesreviews") and isinstance(status, dict):
            for rules in (status["resourceRules"], status["nonResourceRules"]):
                rules.sort(key=json.dumps)  # they come from a map of Go's, in no order
        return said

    async def about_a_config_map() -> Any:
        return await ask("POST", f"{CONFIG_MAPS}?dryRun=All", {"metadata": {"name": "c"}})

    async def until(refused: bool) -> Any:
        """Until it has been heard of: a real server's informers take a moment."""
        for _ in range(600):
            said = await about_a_config_map()
            if (said["status"] != 201) == refused:
                return said
            await asyncio.sleep(0.1)
        raise AssertionError("it is not heard of")

    said = []
    for configured in PLUGINS.values():
        for path, document in configured:
            assert (await ask("POST", path, document))["status"] == 201
        said.append(await until(refused=True))
        said += [await ask("POST", path, document) for path, document in REVIEWS]
        for path, document in reversed(configured):
            await ask("DELETE", f"{path}/{document['metadata']['name']}")
        await until(refused=False)
    return said


if __name__ == "__main__":
    keep(ANSWERS, answers)
