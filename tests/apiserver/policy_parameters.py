"""Parameters of admission policies, those that are not there too: how a real API server is asked what it does with them.

`KUBE_BIN=… python -m tests.apiserver.policy_parameters` asks, and keeps the answers in `policy_parameter_answers.json`.
"""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

from tests.apiserver.questions import Asker, keep, until
from tests.differential.player import Target

ANSWERS = Path(__file__).parent / "policy_parameter_answers.json"
REGISTRATION = "/apis/admissionregistration.k8s.io/v1"
CONFIG_MAPS, NAMESPACES = "/api/v1/namespaces/default/configmaps", "/api/v1/namespaces"
CLASSES = "/apis/scheduling.k8s.io/v1/priorityclasses"
LIMITS = "/apis/example.com/v1/namespaces/default/limits"

NOTHING = ("example.com/v1", "Nothing")
CONFIG_MAP, CLASS, CUSTOM = ("v1", "ConfigMap"), ("scheduling.k8s.io/v1", "PriorityClass"), ("example.com/v1", "Limit")
DENY, ALLOW = {"parameterNotFoundAction": "Deny"}, {"parameterNotFoundAction": "Allow"}
IN_DEFAULT = {"namespace": "default"}

CASES: dict[str, tuple[tuple[str, str], tuple[dict[str, Any] | None, ...], str]] = {
    "nobody-knows-it": (NOTHING, ({"name": "x", **DENY},), "Fail"),
    "nobody-knows-it-and-nothing-is-bound": (NOTHING, (), "Fail"),
    "nobody-knows-it-nor-asks-for-it": (NOTHING, (None,), "Fail"),
    "nobody-knows-it-nor-minds": (NOTHING, ({"name": "x", **DENY},), "Ignore"),
    "nobody-knows-it-and-it-may-be-missing": (NOTHING, ({"name": "x", **ALLOW},), "Fail"),
    "a-kind-of-long-ago": (("extensions/v1beta1", "Deployment"), ({"name": "x", **DENY},), "Fail"),
    "a-kind-that-cannot-be-listed": (("v1", "Binding"), ({"name": "x", **DENY},), "Fail"),
    "everywhere-but-in-a-namespace": (CLASS, ({"name": "x", **IN_DEFAULT, **DENY},), "Fail"),
    "everywhere": (CLASS, ({"name": "system-node-critical", **DENY},), "Fail"),
    "everywhere-but-not-there": (CLASS, ({"name": "x", **DENY},), "Fail"),
    "where-the-object-is": (CONFIG_MAP, ({"name": "parameters", **DENY},), "Fail"),
    "in-a-namespace": (CONFIG_MAP, ({"name": "parameters", **IN_DEFAULT, **DENY},), "Fail"),
    "not-in-that-namespace": (CONFIG_MAP, ({"name": "parameters", "namespace": "kube-system", **DENY},), "Fail"),
    "not-there-and-may-be-missing": (CONFIG_MAP, ({"name": "x", **IN_DEFAULT, **ALLOW},), "Fail"),
    "all-that-are-alike": (CONFIG_MAP, ({"selector": {"matchLabels": {"a": "b"}}, **IN_DEFAULT, **DENY},), "Fail"),
    "none-is-alike": (CONFIG_MAP, ({"selector": {"matchLabels": {"a": "c"}}, **IN_DEFAULT, **DENY},), "Fail"),
    "none-at-all": (("v1", "Secret"), ({"selector": {}, **IN_DEFAULT, **DENY},), "Fail"),
    "a-custom-kind": (CUSTOM, ({"name": "low", **IN_DEFAULT, **DENY},), "Fail"),
    "a-custom-kind-not-there": (CUSTOM, ({"name": "high", **IN_DEFAULT, **DENY},), "Fail"),
    "all-of-a-custom-kind": (CUSTOM, ({"selector": {}, **DENY},), "Fail"),
}  # fmt: skip
"""Of which kind the parameters are, what each binding says of them, and the policy's `failurePolicy`; by its name, and the object's."""
KINDS = ("validating", "mutating")
OBJECTS = ((CONFIG_MAPS, {}), (NAMESPACES, {}), (CLASSES, {"value": 5}))
ASKED = [(kind, name, path) for kind in KINDS for name in CASES for path, _ in OBJECTS]

DEFINITION = {
    "metadata": {"name": "limits.example.com"},
    "spec": {
        "group": "example.com", "scope": "Namespaced", "names": {"plural": "limits", "kind": "Limit"},
        "versions": [
            {
                "name": "v1", "served": True, "storage": True,
                "schema": {"openAPIV3Schema": {"type": "object", "properties": {"most": {"type": "integer"}}}},
            }
        ],
    },
}  # fmt: skip


def _rules(name: str) -> list[Any]:
    rule = {"apiVersions": ["v1"], "operations": ["CREATE"], "resourceNames": [name]}
    plurals = {"": ["configmaps", "namespaces"], "scheduling.k8s.io": ["priorityclasses"]}
    return [{**rule, "apiGroups": [group], "resources": resources} for group, resources in plurals.items()]


def _specification(kind: str, name: str) -> Any:
    rules = {"matchConstraints": {"resourceRules": _rules(name)}}
    if kind == "validating":
        told = "'it is ' + params.metadata.name"
        return {**rules, "validations": [{"expression": "params == null", "messageExpression": told}]}
    value = "{'it': params == null ? 'none' : params.metadata.name}"
    expression = f"[JSONPatch{{op: 'add', path: '/metadata/labels', value: {value}}}]"
    mutation = {"patchType": "JSONPatch", "jsonPatch": {"expression": expression}}
    return {**rules, "reinvocationPolicy": "Never", "mutations": [mutation]}


async def answers(target: Target) -> list[Any]:
    """What is said of each object under each policy."""
    ask = Asker(target)

    async def made(path: str, document: Any) -> None:
        """A real server takes a moment for a definition."""

        async def is_so() -> bool:
            return bool((await ask("POST", path, document))["status"] == 201)

        await until(is_so)

    async def until_refused(refused: bool) -> None:
        """Until the last policy has been heard of, and thus all before it."""

        async def is_so() -> bool:
            said = await ask("POST", f"{CONFIG_MAPS}?dryRun=All", {"metadata": {"name": "a-custom-kind"}})
            return (said["status"] == 201 and "labels" not in said["body"]["metadata"]) != refused

        await until(is_so)

    await made("/apis/apiextensions.k8s.io/v1/customresourcedefinitions", DEFINITION)
    await made(LIMITS, {"apiVersion": "example.com/v1", "kind": "Limit", "metadata": {"name": "low"}, "most": 3})
    await made(CONFIG_MAPS, {"metadata": {"name": "parameters", "labels": {"a": "b"}}})
    said = []
    for kind in KINDS:
        path = f"{REGISTRATION}/{kind}admissionpolic"
        for name, ((api_version, param_kind), bindings, failure_policy) in CASES.items():
            kinds = {"paramKind": {"apiVersion": api_version, "kind": param_kind}, "failurePolicy": failure_policy}
            specification = {**_specification(kind, name), **kinds}
            await made(f"{path}ies", {"metadata": {"name": name}, "spec": specification})
            for number, reference in enumerate(bindings):
                bound: dict[str, Any] = {"policyName": name}
                if reference is not None:
                    bound["paramRef"] = reference
                if kind == "validating":
                    bound["validationActions"] = ["Deny"]
                await made(f"{path}ybindings", {"metadata": {"name": f"{name}-{number}"}, "spec": bound})
        await until_refused(refused=True)
        await asyncio.sleep(2)  # a real server fills a cache for each kind of parameters
        for name in CASES:
            for where, more in OBJECTS:
                said.append(await ask("POST", f"{where}?dryRun=All", {"metadata": {"name": name}, **more}))
        for name in CASES:
            await ask("DELETE", f"{path}ies/{name}")
        await until_refused(refused=False)
    return said


if __name__ == "__main__":
    keep(ANSWERS, answers)
