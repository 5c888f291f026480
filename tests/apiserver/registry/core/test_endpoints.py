"""Endpoints: stored as they were sent."""

from __future__ import annotations

from lifecycle.apiserver.registry.core.endpoints import STRATEGY
from lifecycle.apiserver.registry.rest.create import canonicalize


def test_endpoints_are_not_repacked() -> None:
    """Their controllers repack them; a real 1.36.2 leaves what a client wrote."""
    first = {"addresses": [{"ip": "10.0.0.2"}], "ports": [{"name": "a", "port": 1}]}
    second = {"addresses": [{"ip": "10.0.0.1"}], "ports": [{"name": "a", "port": 1}]}
    endpoints = {"apiVersion": "v1", "kind": "Endpoints", "metadata": {}, "subsets": [first, second]}
    canonicalize(STRATEGY, endpoints)
    assert endpoints["subsets"] == [first, second]
