"""ReplicationControllers: the selector is a plain map, and comes from the template."""

from __future__ import annotations

from typing import Any

from lifecycle.api.schema import decode
from lifecycle.apiserver.registry.apps import replica_set
from lifecycle.apiserver.registry.core.replication_controller import STRATEGY
from lifecycle.apiserver.registry.rest.update import before_update
from lifecycle.apiserver.registry.scales import scale_of


def controller(**metadata: Any) -> dict[str, Any]:
    template = {"metadata": {"labels": {"app": "web"}}, "spec": {"containers": [{"name": "c", "image": "i:1"}]}}
    body = {"metadata": {"name": "r", "namespace": "n", **metadata}, "spec": {"template": template}}
    obj, _ = decode(body, "v1", "ReplicationController")
    STRATEGY.set_defaults(obj)
    return obj


def test_selector_and_labels_come_from_the_template() -> None:
    obj = controller()
    assert obj["spec"]["selector"] == {"app": "web"}
    assert obj["metadata"]["labels"] == {"app": "web"}
    assert STRATEGY.validate(obj) == []


def test_a_selector_that_misses_the_template_is_refused() -> None:
    obj = controller()
    obj["spec"]["selector"] = {"app": "other"}
    assert [error.field for error in STRATEGY.validate(obj)] == ["spec.template.metadata.labels"]


def test_its_scale_has_the_map_as_a_selector() -> None:
    assert scale_of(controller(), STRATEGY)["status"]["selector"] == "app=web"
    labelled = {**controller(), "spec": {"selector": {"matchLabels": {"app": "web"}}}}
    assert scale_of(labelled, replica_set.STRATEGY)["status"]["selector"] == "app=web"


def test_a_status_write_may_change_the_labels_and_without_any_takes_the_template_s() -> None:
    for sent, labels in (({"c": "d"}, {"c": "d"}), ({}, {"app": "web"})):
        old = controller(labels={"e": "f"})
        new = controller() | {"status": {"replicas": 2}}
        new["metadata"]["labels"] = sent
        before_update(STRATEGY, new, old, "status")
        assert new["metadata"]["labels"] == labels
        assert new["status"] == {"replicas": 2}


def test_more_ready_replicas_than_replicas_are_refused() -> None:
    old = controller()
    new = old | {"status": {"replicas": 1, "readyReplicas": 2}}
    errors = STRATEGY.subresources["status"].validate_update(new, old)
    assert "status.readyReplicas" in [error.field for error in errors]
