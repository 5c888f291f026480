"""Endpoints: repacked before they are stored."""

from __future__ import annotations

from lifecycle.apiserver.registry.core.endpoints import STRATEGY
from lifecycle.apiserver.registry.rest.create import canonicalize


def test_endpoints_are_repacked() -> None:
    first = {"addresses": [{"ip": "10.0.0.2"}], "ports": [{"name": "a", "port": 1}]}
    second = {"addresses": [{"ip": "10.0.0.1"}], "ports": [{"name": "a", "port": 1}]}
    endpoints = {"apiVersion": "v1", "kind": "Endpoints", "metadata": {}, "subsets": [first, second]}
    canonicalize(STRATEGY, endpoints)
    addresses = [{"ip": "10.0.0.1"}, {"ip": "10.0.0.2"}]
    assert endpoints["subsets"] == [{"addresses": addresses, "ports": [{"name": "a", "port": 1}]}]
