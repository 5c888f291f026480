"""Persistent volumes: what is advised against."""

from __future__ import annotations

from lifecycle.api.schema import decode
from lifecycle.apiserver.registry.core.persistent_volume.strategy import STRATEGY


def test_warnings_of_a_volume() -> None:
    term = {"matchExpressions": [{"key": "beta.kubernetes.io/os", "operator": "Exists"}]}
    spec = {"nodeAffinity": {"required": {"nodeSelectorTerms": [term]}}, "rbd": {"monitors": ["m"], "image": "i"}}
    volume, _ = decode({"metadata": {"name": "v"}, "spec": spec}, "v1", "PersistentVolume")
    assert STRATEGY.warnings_on_create(volume) == [
        "spec.nodeAffinity.required.nodeSelectorTerms[0].matchExpressions[0].key: beta.kubernetes.io/os is "
        'deprecated since v1.14; use "kubernetes.io/os" instead',
        "spec.rbd: deprecated in v1.28, non-functional in v1.31+",
    ]
