"""What a client may say of an object that it creates, and what of that is forgotten."""

from __future__ import annotations

from typing import Any

import pytest

from lifecycle.agreements.apiserver.resource_handling import on_a_server
from lifecycle.api.resources import resource
from lifecycle.apiserver.registry.rest.create import before_create
from lifecycle.apiserver.registry.strategies import strategy_for
from lifecycle.apiserver.server.generic_api_server import GenericAPIServer
from lifecycle.client.rest import Client

THEN = "2020-01-01T00:00:00Z"
SAID: dict[str, Any] = {
    "uid": "mine",
    "creationTimestamp": THEN,
    "deletionTimestamp": THEN,
    "deletionGracePeriodSeconds": 7,
    "selfLink": "/mine",
    "labels": {"a": "b"},
    "annotations": {"c": "d"},
    "finalizers": ["example.com/f"],
}
KINDS: dict[str, dict[str, Any]] = {
    "configmaps": {"apiVersion": "v1", "kind": "ConfigMap", "data": {"k": "v"}},
    "services": {"apiVersion": "v1", "kind": "Service", "spec": {"ports": [{"port": 80}]}},
    "poddisruptionbudgets.policy": {
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "spec": {"minAvailable": 1},
    },
}


@pytest.mark.parametrize("name", KINDS)
def test_who_made_it_when_and_that_it_goes_is_the_servers_to_say(name: str) -> None:
    """Upstream: `rest.BeforeCreate`, `WipeObjectMetaSystemFields`, `FillObjectMetaSystemFields`."""

    async def scene(server: GenericAPIServer, client: Client) -> dict[str, Any]:
        return await client.create(resource(name), {**KINDS[name], "metadata": {"name": "x", **SAID}}, "default")

    meta = on_a_server(scene)["metadata"]
    assert not meta.keys() & {"deletionTimestamp", "deletionGracePeriodSeconds", "selfLink"}
    assert meta["uid"] not in ("", "mine")
    assert meta["creationTimestamp"] not in ("", THEN)
    assert {key: meta[key] for key in ("labels", "annotations", "finalizers")} == {
        key: SAID[key] for key in ("labels", "annotations", "finalizers")
    }


@pytest.mark.parametrize("gone", ["deletionTimestamp", "deletionGracePeriodSeconds", "selfLink"])
@pytest.mark.parametrize(("api_version", "kind"), [("v1", "ConfigMap"), ("apps/v1", "Deployment"), ("v1", "Pod")])
def test_each_of_these_is_forgotten_by_itself(api_version: str, kind: str, gone: str) -> None:
    meta = {"name": "x", "namespace": "shop", gone: SAID[gone], "labels": {"a": "b"}}
    obj: dict[str, Any] = {"apiVersion": api_version, "kind": kind, "metadata": meta, "spec": {"containers": []}}
    before_create(strategy_for(api_version, kind), obj)
    assert gone not in obj["metadata"]
    assert (obj["metadata"]["name"], obj["metadata"]["labels"]) == ("x", {"a": "b"})


@pytest.mark.parametrize(
    ("api_version", "kind", "said", "told"),
    [
        ("apps/v1", "Deployment", None, 1),
        ("apps/v1", "Deployment", 7, 1),
        ("apps/v1", "Deployment", 0, 1),
        # where nobody counts, whoever says one has it
        ("v1", "ConfigMap", None, None),
        ("v1", "ConfigMap", 0, None),
        ("v1", "ConfigMap", 7, 7),
    ],
)
def test_generations_begin_with_one_where_they_are_counted(
    api_version: str, kind: str, said: int | None, told: int | None
) -> None:
    """Upstream: the strategies' `PrepareForCreate`."""
    meta = {"name": "x", **({} if said is None else {"generation": said})}
    obj: dict[str, Any] = {"apiVersion": api_version, "kind": kind, "metadata": meta, "spec": {}}
    before_create(strategy_for(api_version, kind), obj)
    assert obj["metadata"].get("generation") == told


@pytest.mark.parametrize(
    ("api_version", "kind"),
    [("apps/v1", "Deployment"), ("apps/v1", "ReplicaSet"), ("v1", "Service")],
)
def test_how_it_is_doing_is_not_its_makers_to_say(api_version: str, kind: str) -> None:
    status = {
        "replicas": 7,
        "active": 7,
        "loadBalancer": {"ingress": [{"ip": "192.0.2.1"}]},
        "conditions": [{"type": "X"}],
    }
    obj: dict[str, Any] = {"apiVersion": api_version, "kind": kind, "metadata": {}, "spec": {}, "status": status}
    before_create(strategy_for(api_version, kind), obj)
    assert obj.get("status") in ({}, None, {"replicas": 0}, {"loadBalancer": {}})
