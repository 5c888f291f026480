"""Deployments: what the registry keeps, resets, counts and warns of."""

from __future__ import annotations

from typing import Any

from lifecycle.api.schema import decode
from lifecycle.apiserver.registry.apps.deployment import STRATEGY
from lifecycle.apiserver.registry.rest.create import before_create
from lifecycle.apiserver.registry.rest.update import before_update


def deployment(**spec: Any) -> dict[str, Any]:
    labels = {"app": "web"}
    template = {"metadata": {"labels": labels}, "spec": {"containers": [{"name": "c", "image": "i:1"}]}}
    body = {
        "metadata": {"name": "d", "namespace": "n"},
        "spec": {"selector": {"matchLabels": labels}, "template": template, **spec},
    }
    obj, _ = decode(body, "apps/v1", "Deployment")
    STRATEGY.set_defaults(obj)
    return obj


def test_a_new_deployment_has_generation_one_and_no_status() -> None:
    obj = deployment()
    obj["status"] = {"replicas": 9}
    obj["metadata"]["generation"] = 7
    before_create(STRATEGY, obj)
    assert obj["metadata"]["generation"] == 1
    assert obj["status"] == {}


def test_an_update_counts_changes_of_the_spec_and_keeps_the_status() -> None:
    old = deployment()
    old["metadata"]["generation"], old["status"] = 3, {"replicas": 1}
    same = deployment()
    before_update(STRATEGY, same, old)
    assert same["metadata"]["generation"] == 3
    assert same["status"] == {"replicas": 1}
    scaled = deployment(replicas=5)
    before_update(STRATEGY, scaled, old)
    assert scaled["metadata"]["generation"] == 4


def test_a_new_annotation_is_a_new_generation() -> None:
    old, new = deployment(), deployment()
    old["metadata"]["generation"] = 1
    new["metadata"]["annotations"] = {"a": "b"}
    before_update(STRATEGY, new, old)
    assert new["metadata"]["generation"] == 2


def test_a_status_update_keeps_the_spec() -> None:
    old = deployment()
    old["metadata"]["generation"] = 2
    new = deployment(replicas=9)
    new["metadata"]["labels"] = {"not": "allowed"}
    new["status"] = {"replicas": 1}
    before_update(STRATEGY, new, old, "status")
    assert new["spec"] == old["spec"]
    assert "labels" not in new["metadata"]
    assert (new["status"], new["metadata"]["generation"]) == ({"replicas": 1}, 2)


def test_a_template_is_warned_of_again_only_if_the_generation_has_changed() -> None:
    old = deployment()
    old["spec"]["template"]["spec"]["containers"].append({"name": "c", "image": "i:1", "env": [{"name": "A"}] * 2})
    new = {**old, "metadata": {**old["metadata"], "generation": 2}}
    assert STRATEGY.warnings_on_create(old)
    assert STRATEGY.warnings_on_update(old, old) == []
    assert STRATEGY.warnings_on_update(new, old) == STRATEGY.warnings_on_create(old)
