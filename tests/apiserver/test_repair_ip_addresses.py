"""Each Service has its IPAddress and each IPAddress its Service, whatever was lost between the two writes."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from lifecycle.api import fast_json
from lifecycle.api.http.wire import Object
from lifecycle.api.loop.clock import Clock
from lifecycle.api.resources import resource
from lifecycle.apiserver.server.repair_ip_addresses import GRACE_PERIOD, INTERVAL, _Repair
from lifecycle.client.rest import Client
from lifecycle.client.shared_informer import SharedInformerFactory
from lifecycle.etcd.keys import registry_key
from tests.apiserver.admission_server import ROOT, Asker, play

ADDRESSES = "/apis/networking.k8s.io/v1/ipaddresses"
ADDRESS = "10.96.7.7"


def service(name: str = "web", address: str = ADDRESS) -> Object:
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": name, "namespace": "default"},
        "spec": {"clusterIP": address, "ports": [{"port": 80}]},
    }


def ip_address(name: str = ADDRESS, parent: str = "web", **more: Any) -> Object:
    return {
        "apiVersion": "networking.k8s.io/v1",
        "kind": "IPAddress",
        "metadata": {
            "name": name,
            "labels": {
                "ipaddress.kubernetes.io/ip-family": "IPv4",
                "ipaddress.kubernetes.io/managed-by": "ipallocator.k8s.io",
            },
        },
        "spec": {"parentRef": {"resource": "services", "namespace": "default", "name": parent} | more},
    }


async def parent_of(asker: Asker, address: str = ADDRESS) -> Object | None:
    answer = await asker.ask("GET", f"{ADDRESSES}/{address}")
    return answer.obj["spec"]["parentRef"] if answer.status == 200 and answer.obj else None


async def reasons(asker: Asker) -> list[tuple[str, str]]:
    events = (await asker.ask("GET", "/api/v1/namespaces/default/events")).obj
    assert events is not None
    return [
        (event["reason"], event["message"])
        for event in events["items"]
        if event["source"]["component"] == "ipallocator-repair-controller"
    ]


async def erased(asker: Asker, kind: str, namespace: str, name: str) -> None:
    """As a server that died half-way leaves it: one of the two is not in the store, and nobody was asked."""
    key = registry_key(resource(kind), namespace, name)
    found = await asker.server.store.get(key)
    assert found is not None
    assert await asker.server.store.delete(key, expected=found.mod_revision)


async def planted(asker: Asker, obj: Object) -> None:
    """Written past the server."""
    metadata = obj["metadata"]
    key = registry_key(resource("services"), metadata["namespace"], metadata["name"])
    await asker.server.store.put(key, fast_json.dumps(obj))


OF_WEB = {"resource": "services", "namespace": "default", "name": "web"}


def test_an_address_that_is_heard_of_after_its_service_is_not_missing() -> None:
    class Told(list[str]):
        def event(self, obj: Object, kind: str, reason: str, message: str) -> None:
            self.append(reason)

    async def scene(asker: Asker) -> None:
        client = Client(asker.server.in_process_transport(ROOT), "test")
        informers, told = SharedInformerFactory(client), Told()
        repair = _Repair(client, informers, told, Clock())  # type: ignore[arg-type]
        await asker.made(service())
        await informers.wait_for_cache_sync()
        while repair._service_keys:
            repair._service_keys.done(await repair._service_keys.get())
        assert repair._addresses.indexer.remove(ADDRESS) is not None  # as if nobody had told of it yet
        await repair._sync_service("default/web")
        assert told == []
        assert await repair._service_keys.get() == "default/web"  # looked at once more
        await informers.stop()

    play(scene)


def test_an_address_that_no_service_has_is_deleted_after_a_minute() -> None:
    async def scene(asker: Asker) -> None:
        await asker.made(ip_address())
        await asyncio.sleep(GRACE_PERIOD - 1)
        assert await parent_of(asker) == OF_WEB
        await asyncio.sleep(3)
        assert await parent_of(asker) is None
        assert await reasons(asker) == [
            (
                "IPAddressNotAllocated",
                f"IPAddress: {ADDRESS} for Service default/web appears to have leaked: cleaning up",
            )
        ]
        await asker.made(service())  # it can be had again

    play(scene)


def test_an_address_whose_service_went_without_it_is_found_at_the_next_look() -> None:
    async def scene(asker: Asker) -> None:
        await asker.made(service())
        await asyncio.sleep(GRACE_PERIOD)
        await erased(asker, "services", "default", "web")
        await asyncio.sleep(INTERVAL + 1)
        assert await parent_of(asker) is None

    play(scene)


def test_a_service_without_its_address_gets_it_again() -> None:
    async def scene(asker: Asker) -> None:
        await asker.made(service())
        await erased(asker, "ipaddresses.networking.k8s.io", "", ADDRESS)
        await asyncio.sleep(INTERVAL + 1)
        assert await parent_of(asker) == OF_WEB
        assert await reasons(asker) == [
            ("ClusterIPNotAllocated", f"Cluster IP [IPv4]: {ADDRESS} is not allocated; repairing")
        ]

    play(scene)


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        (
            ip_address(parent="gone"),
            f"the ClusterIP [IPv4]: {ADDRESS} for Service default/web has a wrong reference; repairing",
        ),
        (
            ip_address(parent="infra", group="gateway.networking.k8s.io", resource="gateways"),
            f"the ClusterIP [IPv4]: {ADDRESS} for Service default/web has a wrong reference; repairing",
        ),
        ({**ip_address(), "metadata": {"name": ADDRESS}}, ""),
    ],
    ids=["a service that is gone", "no service", "no labels"],
)
def test_an_address_that_tells_another_story_than_its_service_is_made_again(wrong: Object, told: str) -> None:
    async def scene(asker: Asker) -> None:
        await asker.made(service())
        await asker.ask("DELETE", f"{ADDRESSES}/{ADDRESS}")
        await asker.made(wrong)
        await asyncio.sleep(INTERVAL + 1)
        assert await parent_of(asker) == OF_WEB
        again = (await asker.ask("GET", f"{ADDRESSES}/{ADDRESS}")).obj
        assert again is not None
        assert again["metadata"]["labels"] == ip_address()["metadata"]["labels"]
        if told:
            assert told in [message for _, message in await reasons(asker)]

    play(scene)


def test_of_two_services_with_one_address_the_named_one_keeps_it() -> None:
    async def scene(asker: Asker) -> None:
        first = await asker.made(service())
        second = {**first, "metadata": {**first["metadata"], "name": "twin", "uid": "u2"}}
        await planted(asker, second)
        await asyncio.sleep(INTERVAL + 1)
        assert await parent_of(asker) == OF_WEB
        assert (
            "ClusterIPAlreadyAllocated",
            f"Cluster IP [IPv4]:{ADDRESS} was assigned to multiple services; please recreate service",
        ) in await reasons(asker)

    play(scene)


def test_a_service_outside_of_all_ranges_is_told_so_and_left_alone() -> None:
    async def scene(asker: Asker) -> None:
        made = await asker.made(service())
        strange = {**made, "metadata": {**made["metadata"], "name": "far", "uid": "u3"}}
        strange["spec"] = {**made["spec"], "clusterIP": "192.0.2.9", "clusterIPs": ["192.0.2.9"]}
        await planted(asker, strange)
        await asyncio.sleep(INTERVAL + 1)
        assert await parent_of(asker, "192.0.2.9") is None
        assert [reason for reason, _ in await reasons(asker)] == ["ClusterIPOutOfRange"]

    play(scene)


@pytest.mark.parametrize(
    ("address", "reason"),
    [
        (ip_address("10.96.8.8", parent="kubernetes"), "IPAddressWrongReference"),
        (ip_address("10.96.8.8", resource="gateways", group="example.org"), "IPAddressNotAllocated"),
    ],
    ids=["one that its service does not speak of", "one that names no service"],
)
def test_an_address_of_the_allocator_that_its_parent_does_not_have_is_deleted_at_once(
    address: Object, reason: str
) -> None:
    async def scene(asker: Asker) -> None:
        await asker.made(address)
        await asyncio.sleep(1)
        assert await parent_of(asker, "10.96.8.8") is None
        assert [each for each, _ in await reasons(asker)] == [reason]

    play(scene)


def test_what_others_made_is_left_alone() -> None:
    async def scene(asker: Asker) -> None:
        theirs = ip_address("10.96.8.8", resource="gateways", group="example.org")
        theirs["metadata"]["labels"] = {"ipaddress.kubernetes.io/managed-by": "gateway.example.org"}
        await asker.made(theirs)
        await asyncio.sleep(INTERVAL + GRACE_PERIOD)
        assert await parent_of(asker, "10.96.8.8") is not None

    play(scene)


@pytest.mark.parametrize("kind", ["ClusterIP", "ExternalName"])
def test_nothing_is_said_about_a_service_that_comes_changes_and_goes(kind: str) -> None:
    change: dict[str, Callable[[Object], Object]] = {
        "ClusterIP": lambda spec: {**spec, "type": "NodePort"},
        "ExternalName": lambda spec: {"type": "ExternalName", "externalName": "example.org", "ports": spec["ports"]},
    }

    async def scene(asker: Asker) -> None:
        path = "/api/v1/namespaces/default/services/web"
        made = await asker.made(service())
        await asyncio.sleep(1)
        changed = await asker.ask("PUT", path, {**made, "spec": change[kind](made["spec"])})
        assert changed.status == 200, changed.obj
        await asyncio.sleep(1)
        assert changed.obj is not None
        again = await asker.ask("PUT", path, {**changed.obj, "spec": made["spec"]})
        assert again.status == 200, again.obj
        await asyncio.sleep(1)
        assert await parent_of(asker) == OF_WEB
        await asker.ask("DELETE", path)
        await asyncio.sleep(INTERVAL + GRACE_PERIOD)
        assert await parent_of(asker) is None
        assert await reasons(asker) == []

    play(scene)
