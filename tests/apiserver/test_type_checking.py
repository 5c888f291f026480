"""Policies are checked against the kinds they name: what would never work is warned of."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from lifecycle.api.http.wire import Object
from lifecycle.api.loop.clock import run_virtual
from lifecycle.api.resources import all_resources
from lifecycle.apiserver.admission.type_checking import type_check, types_to_check
from lifecycle.cluster.cluster import Cluster
from lifecycle.cluster.cluster_config import ClusterConfig
from tests.apiserver.asked_server import MERGE, Asked

POLICIES = "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies"


def policy(
    *expressions: str, groups: tuple[str, ...] = ("apps",), resources: Any = ("deployments",), **spec: Any
) -> Object:
    rule = {"apiGroups": [*groups], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": [*resources]}
    spec |= {
        "matchConstraints": {"resourceRules": [rule]},
        "validations": [{"expression": each} for each in expressions],
    }
    return {"metadata": {"name": "p"}, "spec": spec}  # fmt: skip


def warning(kind: str, column: int, why: str, expression: str) -> str:
    return f"{kind}: ERROR: <input>:1:{column}: {why}\n | {expression}\n | {'.' * (column - 1)}^\n"


@pytest.mark.parametrize(
    ("expression", "column", "why"),
    [
        ("object.spec.replica > 1", 12, "undefined field 'replica'"),
        ("object.spec.replicas == 'x'", 22, "found no matching overload for '_==_' applied to '(int, string)'"),
        ("oldObject.metadata.labels.a == 1", 29, "found no matching overload for '_==_' applied to '(string, int)'"),
        ("object.spec.template.spec.containers.all(c, c.images == 'x')", 46, "undefined field 'images'"),
        (
            "object.metadata.creationTimestamp == 'x'", 35,
            "found no matching overload for '_==_' applied to '(timestamp, string)'",
        ),
        ("object.metadata.namespace == 'x'", 16, "undefined field 'namespace'"),
    ],
)  # fmt: skip
def test_what_the_kind_does_not_have_is_warned_of_in_the_compilers_words(
    expression: str, column: int, why: str
) -> None:
    (found,) = type_check(policy("true", expression))
    assert found["fieldRef"] == "spec.validations[1].expression"
    assert found["warning"] == warning("apps/v1, Kind=Deployment", column, why, expression)


@pytest.mark.parametrize(
    "expression",
    [
        "object.spec.replicas <= 5",
        "object.metadata.name.startsWith('a') && object.metadata.labels['a'] == 'b'",
        "object.spec.strategy.rollingUpdate.maxSurge == '25%' || object.spec.strategy.rollingUpdate.maxSurge == 1",
        "has(object.spec.template.spec.securityContext) && request.userInfo.username == 'x'",
        "authorizer.group('').resource('pods').check('get').allowed()",
        "namespaceObject.metadata.labels.x == 'y'",
    ],
)
def test_what_may_work_is_not(expression: str) -> None:
    assert type_check(policy(expression)) == []


def test_each_kind_has_its_say_and_variables_and_parameters_have_types() -> None:
    (found,) = type_check(policy("object.spec.replica > 1", resources=("statefulsets", "deployments")))
    assert found["warning"].split("\n\n")[1].startswith("apps/v1, Kind=StatefulSet: ERROR")
    typed = policy(
        "variables.n == 'x'",
        "params.data.max == 1",
        variables=[{"name": "n", "expression": "object.spec.replicas"}],
        paramKind={"apiVersion": "v1", "kind": "ConfigMap"},
    )
    assert ["(int, string)" in type_check(typed)[0]["warning"], "(string, int)" in type_check(typed)[1]["warning"]] == [
        True,
        True,
    ]
    anything = policy("params.data.max == 1", paramKind={"apiVersion": "example.com/v1", "kind": "Limit"})
    assert type_check(anything) == []


@pytest.mark.parametrize(
    ("more", "kinds"),
    [
        ({}, ["Deployment"]),
        ({"groups": ("*",)}, []),
        ({"resources": ("*",)}, []),
        ({"resources": ("deployments/scale",)}, []),
        ({"groups": ("", "apps"), "resources": ("pods", "deployments")}, ["Pod", "Deployment"]),
    ],
)
def test_only_kinds_that_are_named_outright_are_checked(more: dict[str, Any], kinds: list[str]) -> None:
    assert [row.kind for row in types_to_check(policy("true", **more)["spec"])] == kinds


def test_every_built_in_kind_can_be_declared() -> None:
    for row in all_resources():
        made = policy("object.metadata.name == 'x'", groups=(row.group,), resources=(row.plural,))
        made["spec"]["matchConstraints"]["resourceRules"][0]["apiVersions"] = [row.version]
        if "create" in row.verbs and "get" in row.verbs:
            assert type_check(made) == [], row.kind


def test_a_controller_writes_what_was_found_and_once_a_generation() -> None:
    async def main() -> None:
        cluster = Cluster(ClusterConfig(nodes=1, https=False))
        await cluster.start()
        try:
            ask = Asked(cluster.server)
            assert (await ask("POST", POLICIES, policy("object.spec.replicas < 5")))[0] == 201
            await asyncio.sleep(5)
            _, found = await ask("GET", f"{POLICIES}/p")
            assert found["status"] == {"observedGeneration": 1, "typeChecking": {}}
            odd = {"spec": policy("object.spec.replica < 5")["spec"]}
            assert (await ask("PATCH", f"{POLICIES}/p", odd, **MERGE))[0] == 200
            await asyncio.sleep(5)
            _, found = await ask("GET", f"{POLICIES}/p")
            assert found["status"]["observedGeneration"] == 2
            (one,) = found["status"]["typeChecking"]["expressionWarnings"]
            assert one["fieldRef"] == "spec.validations[0].expression"
            version = found["metadata"]["resourceVersion"]
            await asyncio.sleep(30)
            assert (await ask("GET", f"{POLICIES}/p"))[1]["metadata"]["resourceVersion"] == version
        finally:
            await cluster.stop()

    run_virtual(main())
