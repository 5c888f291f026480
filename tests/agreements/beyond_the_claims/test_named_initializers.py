"""Which initializers an object has to wait for, in which order; and what the examples of that time did to it."""

from __future__ import annotations

import base64
from typing import Any, cast

import pytest

from lifecycle.api.resources import resource
from lifecycle.historical.apiserver.initializers import Initializers
from lifecycle.historical.controllers.initializer_controller import Refused
from lifecycle.historical.controllers.initializer_examples import (
    SIDECAR,
    TEST_NAMESPACE,
    inject_sidecar,
    mount_test_certificate,
    refuse_short_secret,
)


def rule(group: str, version: str, plural: str) -> dict[str, Any]:
    return {"apiGroups": [group], "apiVersions": [version], "resources": [plural]}


DEPLOYMENTS = rule("apps", "v1", "deployments")


def configuration(*named: tuple[str, list[dict[str, Any]]]) -> dict[str, Any]:
    return {"initializers": [{"name": name, "rules": rules} for name, rules in named]}


@pytest.mark.parametrize(
    ("configurations", "found"),
    [
        ({}, []),
        ({"a": {}}, []),
        ({"a": configuration(("one", [DEPLOYMENTS]))}, ["one"]),
        ({"a": configuration(("one", []))}, []),
        ({"a": configuration(("one", [rule("", "v1", "pods")]))}, []),
        ({"a": configuration(("one", [rule("", "v1", "pods"), DEPLOYMENTS]))}, ["one"]),
        ({"a": configuration(("one", [rule("*", "*", "*")]))}, ["one"]),
        ({"a": configuration(("one", [rule("apps", "v1beta1", "deployments")]))}, []),
        ({"a": configuration(("one", [rule("extensions", "v1", "deployments")]))}, []),
        # configurations by their names, what is in them as it stands; each waited for once
        (
            {
                "b": configuration(("three", [DEPLOYMENTS]), ("one", [DEPLOYMENTS])),
                "a": configuration(("two", [DEPLOYMENTS]), ("four", [rule("", "v1", "pods")]), ("one", [DEPLOYMENTS])),
            },
            ["two", "one", "three"],
        ),
    ],
)
def test_who_cares_about_a_kind_is_waited_for_by_the_names_of_the_configurations(
    configurations: dict[str, Any], found: list[str]
) -> None:
    """Upstream (1.7–1.13): `initialization.go`, `configuration/initializer_manager.go` (`mergeInitializerConfigurations`)."""
    plugin = Initializers(cast(Any, None), configurations)
    assert plugin.initializers_for(resource("deployments.apps")) == found


def _workload(namespace: str, *names: str, **spec: Any) -> dict[str, Any]:
    template = {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": n} for n in names], **spec}}
    return {"metadata": {"name": "w", "namespace": namespace}, "spec": {"replicas": 2, "template": template}}


@pytest.mark.parametrize("wanted", [True, False])
@pytest.mark.parametrize("there", [True, False])
def test_a_sidecar_is_added_once_to_who_wants_it(wanted: bool, there: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lifecycle.historical.controllers.initializer_examples.wants_sidecar", lambda _: wanted)
    workload = _workload("shop", "main", *([SIDECAR["name"]] if there else []), nodeName="x")
    inject_sidecar(workload)
    containers = workload["spec"]["template"]["spec"].pop("containers")
    added = [SIDECAR] if wanted and not there else []
    assert containers == [{"name": "main"}, *([{"name": SIDECAR["name"]}] if there else []), *added]
    assert workload["spec"] == {
        "replicas": 2,
        "template": {"metadata": {"labels": {"a": "b"}}, "spec": {"nodeName": "x"}},
    }


def test_a_certificate_is_seen_by_every_container_of_the_test_namespace_and_beside_what_it_sees_already() -> None:
    workload = _workload(TEST_NAMESPACE, "a", "b", volumes=[{"name": "data"}])
    workload["spec"]["template"]["spec"]["containers"][0]["volumeMounts"] = [{"name": "data", "mountPath": "/data"}]
    mount_test_certificate(workload)
    spec = workload["spec"]["template"]["spec"]
    own, certificate = spec["volumes"]
    assert own == {"name": "data"}
    name = certificate["name"]
    assert certificate == {"name": name, "secret": {"secretName": name}}
    first, second = (container["volumeMounts"] for container in spec["containers"])
    assert first == [{"name": "data", "mountPath": "/data"}, *second]
    [mount] = second
    assert (mount["name"], mount["readOnly"]) == (name, True)
    again = {**spec}
    mount_test_certificate(workload)
    assert workload["spec"]["template"]["spec"] == again, "once"
    elsewhere = _workload("shop", "a")
    mount_test_certificate(elsewhere)
    assert elsewhere == _workload("shop", "a")


@pytest.mark.parametrize(("length", "refused"), [(0, True), (19, True), (20, False), (21, False)])
def test_a_secret_of_fewer_than_twenty_bytes_is_none(length: int, refused: bool) -> None:
    long = base64.b64encode(b"x" * 40).decode()
    secret = {"data": {"b": base64.b64encode(b"x" * length).decode(), "a": long, "c": long}}
    if not refused:
        refuse_short_secret(secret)
        return
    with pytest.raises(Refused, match=f"b has {length} characters, 20 are the least"):
        refuse_short_secret(secret)


def test_a_secret_without_values_is_no_short_one() -> None:
    for secret in ({}, {"data": None}, {"data": {}}):
        refuse_short_secret(secret)
