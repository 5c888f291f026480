"""DaemonSets: what their tables hide, and what they cannot become."""

from __future__ import annotations

from typing import Any

from lifecycle.api.resources import resource
from lifecycle.api.schema import decode
from lifecycle.apiserver.registry.apps import replica_set
from lifecycle.apiserver.registry.apps.daemon_set import PRINTER, STRATEGY, TEMPLATE_GENERATION
from lifecycle.apiserver.registry.printers.table import table


def daemon_set(**metadata: Any) -> dict[str, Any]:
    labels = {"app": "log"}
    template = {"metadata": {"labels": labels}, "spec": {"containers": [{"name": "c", "image": "i:1"}]}}
    body = {
        "metadata": {"name": "d", "namespace": "n", **metadata},
        "spec": {"selector": {"matchLabels": labels}, "template": template},
    }
    obj, _ = decode(body, "apps/v1", "DaemonSet")
    STRATEGY.set_defaults(obj)
    return obj


def test_a_table_hides_the_annotation_that_is_a_field_inside() -> None:
    annotations = {TEMPLATE_GENERATION: "3", "kept": "yes"}
    obj = daemon_set(annotations=annotations)
    row = table(PRINTER, resource("daemonsets.apps"), [obj], now=0)["rows"][0]
    assert row["object"]["metadata"]["annotations"] == {"kept": "yes"}
    assert obj["metadata"]["annotations"] == annotations
    other = table(replica_set.PRINTER, resource("replicasets.apps"), [obj], now=0)["rows"][0]
    assert other["object"]["metadata"]["annotations"] == annotations


def test_one_node_at_a_time_by_default() -> None:
    rolling = daemon_set()["spec"]["updateStrategy"]["rollingUpdate"]
    assert rolling == {"maxUnavailable": 1, "maxSurge": 0}


def test_surge_and_unavailability_exclude_each_other() -> None:
    obj = daemon_set()
    obj["spec"]["updateStrategy"]["rollingUpdate"]["maxSurge"] = 1
    assert [error.field for error in STRATEGY.validate(obj)] == ["spec.updateStrategy.rollingUpdate.maxSurge"]


def test_the_selector_stays() -> None:
    old, new = daemon_set(resourceVersion="1"), daemon_set(resourceVersion="1")
    for labels in (new["spec"]["selector"]["matchLabels"], new["spec"]["template"]["metadata"]["labels"]):
        labels["app"] = "other"
    assert [error.field for error in STRATEGY.validate_update(new, old)] == ["spec.selector"]
