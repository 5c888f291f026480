"""Ranges of Service addresses: ready, guarded while in use, gone when nothing needs them."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from copy import deepcopy
from typing import Any, TypeVar

import pytest

from lifecycle.api.http.wire import Object
from lifecycle.api.resources import resource
from lifecycle.api.status import StatusError
from lifecycle.client.rest import Client
from lifecycle.cluster.rehearsal import RehearsedCluster, rehearse
from lifecycle.controllers.servicecidrs import FINALIZER
from lifecycle.inspector import open_recording

T = TypeVar("T")
TERMINATING = {
    "status": "False",
    "reason": "Terminating",
    "message": (
        "There are still IPAddresses referencing the ServiceCIDR, please remove them or create a new ServiceCIDR"
    ),
}
SERVICES, CIDRS = resource("services"), resource("servicecidrs.networking.k8s.io")


def played(scene: Callable[[Client], Awaitable[T]]) -> T:
    """What a scene tells that somebody plays with a cluster in which the controllers run."""

    async def whole(cluster: RehearsedCluster) -> T:
        return await scene(cluster.client("me"))

    return rehearse(whole, without=("kubelet", "scheduler"))


async def create(client: Client, name: str, *cidrs: str) -> None:
    await client.create(CIDRS, {"metadata": {"name": name}, "spec": {"cidrs": list(cidrs)}})
    await asyncio.sleep(1)


async def left(client: Client) -> set[str]:
    return {item["metadata"]["name"] for item in (await client.list(CIDRS))["items"]}


def ready(service_cidr: Object) -> dict[str, str]:
    (condition,) = service_cidr["status"]["conditions"]
    return {key: condition[key] for key in ("status", "reason", "message")}


async def web(client: Client, address: str) -> None:
    await client.create(
        SERVICES, {"metadata": {"name": "web"}, "spec": {"clusterIP": address, "ports": [{"port": 80}]}}, "default"
    )


def test_the_default_range_is_the_recorded_one() -> None:
    """Who wrote what of it: the server made it, two controllers said that it is ready, one guards it."""
    recorded = next(
        exchange.response["items"][0]
        for exchange in open_recording().exchanges("services")
        if exchange.path == "/apis/networking.k8s.io/v1/servicecidrs"
    )

    async def scene(client: Client) -> Object:
        await asyncio.sleep(1)
        return await client.get(CIDRS, "kubernetes")

    def told(service_cidr: Object) -> Object:
        meta = service_cidr["metadata"]
        fields = [{k: v for k, v in entry.items() if k != "time"} for entry in deepcopy(meta["managedFields"])]
        fields.sort(key=lambda entry: str(entry["manager"]))
        said = fields[2]["fieldsV1"]["f:status"]["f:conditions"]['k:{"type":"Ready"}']
        said.pop("f:lastTransitionTime", None)  # shared, if both spoke in the same second
        return {"ready": ready(service_cidr), "finalizers": meta["finalizers"], "managedFields": fields}

    assert told(played(scene)) == told(recorded)


def test_a_range_in_use_stays_until_its_last_address_is_given_back() -> None:
    async def scene(client: Client) -> list[Any]:
        await create(client, "more", "10.97.0.0/24")
        await web(client, "10.97.0.5")
        await client.delete(CIDRS, "more")
        await asyncio.sleep(30)
        seen: list[Any] = [ready(await client.get(CIDRS, "more"))]
        with pytest.raises(StatusError, match=r"does not match the current range$"):
            await web(client, "10.97.0.6")
        await client.delete(SERVICES, "web", "default")
        await asyncio.sleep(1)
        return [*seen, await left(client)]

    assert played(scene) == [TERMINATING, {"kubernetes"}]


def test_a_range_that_nobody_uses_waits_until_every_server_has_heard() -> None:
    async def scene(client: Client) -> list[Any]:
        await create(client, "more", "10.97.0.0/24")
        await client.delete(CIDRS, "more")
        await asyncio.sleep(8)
        before = await left(client)
        await asyncio.sleep(4)
        return [before, await left(client)]

    assert played(scene) == [{"kubernetes", "more"}, {"kubernetes"}]


def test_a_range_inside_another_may_go_at_once() -> None:
    """Its addresses have another home; so may one of two that are the same."""

    async def scene(client: Client) -> set[str]:
        await create(client, "inside", "10.96.128.0/24")
        await web(client, "10.96.128.5")
        await client.delete(CIDRS, "inside")
        await asyncio.sleep(11)
        return await left(client)

    assert played(scene) == {"kubernetes"}


def test_a_new_range_around_it_frees_a_range() -> None:
    async def scene(client: Client) -> list[Any]:
        await create(client, "small", "10.97.0.0/24")
        await web(client, "10.97.0.5")
        await client.delete(CIDRS, "small")
        await asyncio.sleep(20)
        before = await left(client)
        await create(client, "large", "10.97.0.0/16")
        return [before, await left(client)]

    assert played(scene) == [{"kubernetes", "small"}, {"kubernetes", "large"}]


def test_the_finalizer_is_put_back() -> None:
    async def scene(client: Client) -> list[str]:
        await create(client, "more", "10.97.0.0/24", "fd00:97::/112")
        await client.patch(CIDRS, "more", "", {"metadata": {"finalizers": None}})
        await asyncio.sleep(1)
        found: list[str] = (await client.get(CIDRS, "more"))["metadata"]["finalizers"]
        return found

    assert played(scene) == [FINALIZER]
