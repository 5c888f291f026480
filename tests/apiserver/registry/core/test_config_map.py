"""ConfigMaps: what is immutable stays."""

from __future__ import annotations

from lifecycle.api.schema import decode
from lifecycle.apiserver.registry.core.config_map import STRATEGY
from lifecycle.apiserver.registry.rest.update import validate_update


def test_an_immutable_config_map_stays() -> None:
    body = {"metadata": {"name": "x", "namespace": "n", "uid": "u"}, "data": {"a": "1"}, "immutable": True}
    old, _ = decode(body, "v1", "ConfigMap")
    new = {**old, "metadata": {**old["metadata"], "resourceVersion": "1"}, "data": {"a": "2"}}
    assert [str(error) for error in validate_update(STRATEGY, new, old)] == [
        "data: Forbidden: field is immutable when `immutable` is set"
    ]
