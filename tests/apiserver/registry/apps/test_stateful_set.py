"""StatefulSets: claims in normal form, and the short list of what may change."""

from __future__ import annotations

from typing import Any

from lifecycle.api.schema import decode
from lifecycle.apiserver.registry.apps.stateful_set import STRATEGY


def stateful_set(**spec: Any) -> dict[str, Any]:
    labels = {"app": "db"}
    template = {"metadata": {"labels": labels}, "spec": {"containers": [{"name": "c", "image": "i:1"}]}}
    claim = {
        "metadata": {"name": "data"},
        "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}},
    }
    body = {
        "metadata": {"name": "s", "namespace": "n", "resourceVersion": "1"},
        "spec": {
            "selector": {"matchLabels": labels},
            "template": template,
            "volumeClaimTemplates": [claim],
            **spec,
        },
    }
    obj, _ = decode(body, "apps/v1", "StatefulSet")
    STRATEGY.set_defaults(obj)
    return obj


def test_a_claim_template_says_what_it_is_and_has_its_defaults() -> None:
    claim = stateful_set()["spec"]["volumeClaimTemplates"][0]
    assert (claim["kind"], claim["apiVersion"]) == ("PersistentVolumeClaim", "v1")
    assert claim["spec"]["volumeMode"] == "Filesystem"
    assert claim["status"] == {"phase": "Pending"}


def test_replicas_may_change_and_the_claims_may_not() -> None:
    old = stateful_set()
    assert STRATEGY.validate_update(stateful_set(replicas=5), old) == []
    errors = STRATEGY.validate_update(stateful_set(volumeClaimTemplates=[]), old)
    assert [error.field for error in errors] == ["spec"]
    assert "'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' are forbidden" in errors[0].cause()["message"]


def test_a_history_without_end_is_warned_of() -> None:
    endless = stateful_set(revisionHistoryLimit=-1)
    assert any("spec.revisionHistoryLimit" in warning for warning in STRATEGY.warnings_on_create(endless))
    unchanged = {**endless, "metadata": {**endless["metadata"], "generation": 1}}
    assert STRATEGY.warnings_on_update(unchanged, unchanged) == []
