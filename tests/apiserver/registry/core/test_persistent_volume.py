"""Persistent volumes: what is advised against, and since when they are in a phase."""

from __future__ import annotations

import pytest

from lifecycle.api.http.wire import Object
from lifecycle.api.schema import decode
from lifecycle.apiserver.registry.core.persistent_volume.strategy import STRATEGY

OLD = "2019-01-01T00:00:00Z"


def test_warnings_of_a_volume() -> None:
    term = {"matchExpressions": [{"key": "beta.kubernetes.io/os", "operator": "Exists"}]}
    spec = {"nodeAffinity": {"required": {"nodeSelectorTerms": [term]}}, "rbd": {"monitors": ["m"], "image": "i"}}
    volume, _ = decode({"metadata": {"name": "v"}, "spec": spec}, "v1", "PersistentVolume")
    assert STRATEGY.warnings_on_create(volume) == [
        "spec.nodeAffinity.required.nodeSelectorTerms[0].matchExpressions[0].key: beta.kubernetes.io/os is "
        'deprecated since v1.14; use "kubernetes.io/os" instead',
        "spec.rbd: deprecated in v1.28, non-functional in v1.31+",
    ]


@pytest.mark.parametrize(
    ("phase", "sent", "dated"),
    [
        ("Bound", OLD, True),
        ("Bound", None, True),
        ("Bound", "2020-01-01T00:00:00Z", False),
        ("Available", OLD, False),
    ],
)
def test_another_phase_is_dated_unless_its_writer_has_dated_it(phase: str, sent: str | None, dated: bool) -> None:
    def volume(status: Object) -> Object:
        return {"metadata": {"name": "v"}, "spec": {}, "status": {k: v for k, v in status.items() if v}}

    new = volume({"phase": phase, "lastPhaseTransitionTime": sent})
    write = STRATEGY.subresources["status"]
    write.prepare_for_update(new, volume({"phase": "Available", "lastPhaseTransitionTime": OLD}))
    assert (new["status"]["lastPhaseTransitionTime"] not in (OLD, sent)) is dated
