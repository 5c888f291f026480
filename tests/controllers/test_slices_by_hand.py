"""What a slice of a Service is made of; slices of Endpoints made by hand and tokens in secrets, each with nobody else there."""

from __future__ import annotations

import asyncio
from base64 import b64encode
from typing import Any

import pytest
from tests.controllers.alone import TERMINATING, Alone, alone, refusing

from lifecycle.api.http.wire import Object
from lifecycle.api.loop.clock import run_virtual
from lifecycle.api.resources import resource
from lifecycle.api.status import failure
from lifecycle.controllers.endpointslice.service_slices import (
    endpoint_slice_labels,
    is_owned_by,
    is_placeholder,
    labels_changed,
    new_endpoint_slice,
    port_map_key,
)
from lifecycle.controllers.endpointslicemirroring.endpointslicemirroring_controller import (
    EndpointSliceMirroringController,
)
from lifecycle.controllers.serviceaccount.tokens_controller import TokensController

ENDPOINTS, SERVICES, SLICES = (resource(name) for name in ("endpoints", "services", "endpointslices.discovery.k8s.io"))
OURS = "endpointslice.kubernetes.io/managed-by"
NAME = "kubernetes.io/service-name"
HEADLESS = "service.kubernetes.io/headless"


def a_service(labels: Object | None = None, **spec: Any) -> Object:
    meta = {"name": "web", "namespace": "ns", "uid": "u", "labels": labels or {}}
    return {"metadata": meta, "spec": {"clusterIP": "10.96.0.1", **spec}}


def test_a_new_slice_as_a_whole() -> None:
    port = {"name": "http", "port": 80, "protocol": "TCP"}
    owner = {
        "apiVersion": "v1",
        "kind": "Service",
        "name": "web",
        "uid": "u",
        "controller": True,
        "blockOwnerDeletion": True,
    }
    labels = {"a": "b", OURS: "endpointslice-controller.k8s.io", NAME: "web"}
    assert new_endpoint_slice(a_service({"a": "b"}), [port], "IPv6") == {
        "kind": "EndpointSlice",
        "apiVersion": "discovery.k8s.io/v1",
        "metadata": {"generateName": "web-", "namespace": "ns", "labels": labels, "ownerReferences": [owner]},
        "addressType": "IPv6",
        "endpoints": None,
        "ports": [port],
    }
    assert new_endpoint_slice(a_service(), [], "IPv4")["ports"] is None


@pytest.mark.parametrize(
    ("labels", "spec", "expected"),
    [
        ({"a": "b"}, {}, {"a": "b"}),
        ({"a": "b"}, {"clusterIP": "None"}, {"a": "b", HEADLESS: ""}),
        ({}, {"clusterIP": ""}, {HEADLESS: ""}),
        # whose a slice is nobody else says
        ({OURS: "me", NAME: "other", HEADLESS: "x"}, {}, {}),
        ({HEADLESS: "x"}, {"clusterIP": "None"}, {HEADLESS: ""}),
    ],
)
def test_labels_of_a_slice(labels: Object, spec: Object, expected: Object) -> None:
    found = endpoint_slice_labels(a_service(labels, **spec))
    assert found == {**expected, OURS: "endpointslice-controller.k8s.io", NAME: "web"}
    assert not labels_changed({"metadata": {"labels": found}}, a_service(labels, **spec))


@pytest.mark.parametrize(
    ("mine", "theirs", "changed"),
    [
        (None, {}, False),
        ({"a": "b"}, {"a": "b"}, False),
        ({"a": "b"}, {"a": "c"}, True),
        ({"a": "b"}, {}, True),
        (None, {"a": "b"}, True),
        ({OURS: "x", "a": "b"}, {"a": "b", NAME: "y"}, False),
    ],
)
def test_whether_labels_differ(mine: Object | None, theirs: Object, changed: bool) -> None:
    assert labels_changed({"metadata": {"labels": mine}}, a_service(theirs)) is changed


def test_which_slice_stands_for_none() -> None:
    empty = new_endpoint_slice(a_service(), None, "IPv4")
    for change, is_one in (
        ({}, True),
        ({"endpoints": []}, True),
        ({"endpoints": [{"addresses": ["10.0.0.1"]}]}, False),
        ({"ports": [{"port": 80}]}, False),
        ({"metadata": {"labels": {"other": "labels"}}}, False),
        ({"metadata": {}}, False),
    ):
        assert is_placeholder({**empty, **change}, empty) is is_one, change


@pytest.mark.parametrize(
    ("references", "owned"),
    [
        ([], False),
        ([{"kind": "Service", "apiVersion": "v1", "uid": "u", "name": "web"}], True),
        ([{"kind": "Service", "apiVersion": "v1", "uid": "before", "name": "web"}], False),
        ([{"kind": "Endpoints", "apiVersion": "v1", "uid": "u", "name": "web"}], False),
        ([{"kind": "Service", "apiVersion": "example.com/v1", "uid": "u", "name": "web"}], False),
        ([{"kind": "A", "apiVersion": "v1", "uid": "a"}, {"kind": "Service", "apiVersion": "v1", "uid": "u"}], True),
    ],
)
def test_whose_a_slice_is(references: list[Object], owned: bool) -> None:
    assert is_owned_by({"metadata": {"ownerReferences": references}}, a_service()) is owned


def test_the_same_ports_in_any_order_have_one_key() -> None:
    one, two = {"name": "a", "port": 1}, {"port": 2, "name": "b"}
    assert port_map_key([one, two]) == port_map_key([{"name": "b", "port": 2}, one])
    assert len({port_map_key(ports) for ports in ([], [one], [two], [one, two], [{**one, "protocol": "UDP"}])}) == 5


# Slices of Endpoints that somebody made.


def by_hand(*ips: str, name: str = "db", **meta: Any) -> tuple[str, Object]:
    subset = {"addresses": [{"ip": ip} for ip in ips], "ports": [{"port": 5432}]}
    return "endpoints", {"metadata": {"name": name, "namespace": "ns", **meta}, "subsets": [subset] if ips else []}


def its_service(name: str = "db", **spec: Any) -> tuple[str, Object]:
    return "services", {"metadata": {"name": name, "namespace": "ns"}, "spec": {"ports": [{"port": 5432}], **spec}}


def mirrored(stage: Alone) -> list[list[str]]:
    slices = stage.items("endpointslices.discovery.k8s.io")
    return sorted([a for e in each.get("endpoints") or () for a in e["addresses"]] for each in slices)


@pytest.mark.parametrize(
    ("objects", "found"),
    [
        ((by_hand("192.0.2.1"), its_service()), [["192.0.2.1"]]),
        ((by_hand("192.0.2.1"),), []),  # a Service is to come
        ((by_hand("192.0.2.1"), its_service(selector={"a": "b"})), []),
        ((by_hand("192.0.2.1"), its_service(selector={})), [["192.0.2.1"]]),
        ((by_hand("192.0.2.1", labels={"endpointslice.kubernetes.io/skip-mirror": "true"}), its_service()), []),
        (
            (by_hand("192.0.2.1", labels={"endpointslice.kubernetes.io/skip-mirror": "yes"}), its_service()),
            [["192.0.2.1"]],
        ),
        ((by_hand("192.0.2.1", annotations={"control-plane.alpha.kubernetes.io/leader": "x"}), its_service()), []),
        ((by_hand("192.0.2.1", "2001:db8::1"), its_service()), [["192.0.2.1"], ["2001:db8::1"]]),
        ((by_hand("192.0.2.1", "192.0.2.2"), its_service()), [["192.0.2.1", "192.0.2.2"]]),
    ],
)
def test_what_is_mirrored(objects: tuple[Any, ...], found: list[list[str]]) -> None:
    async def main() -> None:
        async with alone(EndpointSliceMirroringController, *objects) as stage:
            await asyncio.sleep(2)
            assert mirrored(stage) == found

    run_virtual(main())


def test_a_service_that_comes_or_gives_up_its_selector_brings_the_slices_and_one_that_goes_takes_them() -> None:
    async def main() -> None:
        async with alone(EndpointSliceMirroringController, by_hand("192.0.2.1")) as stage:
            made = await stage.client.create(SERVICES, its_service(selector={"a": "b"})[1], "ns")
            await asyncio.sleep(2)
            assert mirrored(stage) == []
            for selector, found in (({}, [["192.0.2.1"]]), ({"a": "b"}, []), (None, [["192.0.2.1"]])):
                fresh = await stage.client.get(SERVICES, "db", "ns")
                await stage.client.update(SERVICES, {**fresh, "spec": {**made["spec"], "selector": selector}})
                await asyncio.sleep(2)
                assert mirrored(stage) == found, selector
            await stage.client.delete(SERVICES, "db", "ns")
            await asyncio.sleep(2)
            assert mirrored(stage) == []

    run_virtual(main())


def test_the_endpoints_change_and_go() -> None:
    async def main() -> None:
        async with alone(EndpointSliceMirroringController, by_hand("192.0.2.1"), its_service()) as stage:
            await asyncio.sleep(2)
            (first,) = stage.items("endpointslices.discovery.k8s.io")
            fresh = await stage.client.get(ENDPOINTS, "db", "ns")
            await stage.client.update(ENDPOINTS, {**fresh, "subsets": by_hand("192.0.2.9")[1]["subsets"]})
            await asyncio.sleep(2)
            assert mirrored(stage) == [["192.0.2.9"]]
            fresh = await stage.client.get(ENDPOINTS, "db", "ns")
            skip = {**fresh["metadata"], "labels": {"endpointslice.kubernetes.io/skip-mirror": "true"}}
            await stage.client.update(ENDPOINTS, {**fresh, "metadata": skip})
            await asyncio.sleep(2)
            assert mirrored(stage) == []
            fresh = await stage.client.get(ENDPOINTS, "db", "ns")
            await stage.client.update(ENDPOINTS, {**fresh, "metadata": {**fresh["metadata"], "labels": {}}})
            await asyncio.sleep(2)
            assert mirrored(stage) == [["192.0.2.9"]]
            await stage.client.delete(ENDPOINTS, "db", "ns")
            await asyncio.sleep(2)
            assert mirrored(stage) == []
            assert first["metadata"]["ownerReferences"][0]["uid"] == "db"

    run_virtual(main())


def test_addresses_that_are_none_or_too_many_are_told() -> None:
    many = [f"10.0.{n // 250}.{n % 250 + 1}" for n in range(1002)]

    async def main() -> None:
        async with alone(EndpointSliceMirroringController, by_hand("no address", *many), its_service()) as stage:
            await asyncio.sleep(3)
            assert sorted(stage.told()) == [
                ("Warning", "InvalidIPAddress", "Skipped 1 invalid IP addresses when mirroring to EndpointSlices"),
                ("Warning", "TooManyAddressesToMirror", "A max of 1000 addresses can be mirrored to EndpointSlices per"
                 " Endpoints subset. 3 addresses were skipped"),
            ]  # fmt: skip
            assert {event["involvedObject"]["kind"] for event in stage.items("events")} == {"Endpoints"}

    run_virtual(main())


def test_in_a_namespace_that_goes_away_nothing_more_is_mirrored_and_another_refusal_is_tried_again() -> None:
    async def main() -> None:
        objects = by_hand("192.0.2.1"), its_service()
        refuse = refusing("POST", "/endpointslices", TERMINATING)
        async with alone(EndpointSliceMirroringController, *objects, refuse=refuse) as stage:
            await asyncio.sleep(300)
            assert len(stage.writes("POST")) == 1
        async with alone(
            EndpointSliceMirroringController, *objects, refuse=refusing("POST", "/endpointslices")
        ) as stage:
            await asyncio.sleep(2)
            stage.api.refuse = lambda request: None
            await asyncio.sleep(60)
            assert mirrored(stage) == [["192.0.2.1"]]

    run_virtual(main())


# Tokens.


def encoded(text: str) -> str:
    return b64encode(text.encode()).decode()


def issuing(*args: Any, **more: Any) -> TokensController:
    controller = TokensController(*args, **more)
    controller.root_ca = "PEM"
    controller.issue = lambda account, secret: f"{account['metadata']['name']} for {secret['metadata']['name']}"
    return controller


def account(name: str = "robot", **fields: Any) -> tuple[str, Object]:
    return "serviceaccounts", {"metadata": {"name": name, "namespace": "ns"}, **fields}


def secret(
    name: str = "s", of: str = "robot", uid: str = "", kind: str = "service-account-token", **data: str
) -> tuple[str, Object]:
    notes = {"kubernetes.io/service-account.name": of, **({"kubernetes.io/service-account.uid": uid} if uid else {})}
    meta = {"name": name, "namespace": "ns", "annotations": notes}
    return "secrets", {
        "metadata": meta,
        "type": f"kubernetes.io/{kind}",
        "data": {k: encoded(v) for k, v in data.items()},
    }


def secrets(stage: Alone) -> dict[str, Object]:
    return {each["metadata"]["name"]: each.get("data") or {} for each in stage.items("secrets")}


FULL = {"token": "robot for s", "ca.crt": "PEM", "namespace": "ns"}


@pytest.mark.parametrize(
    ("held", "written", "left"),
    [
        ({}, True, FULL),
        (FULL, False, FULL),
        ({**FULL, "ca.crt": "old"}, True, FULL),
        ({"token": "my own", "ca.crt": "PEM"}, True, {**FULL, "token": "my own"}),
        ({**FULL, "token": "my own"}, False, {**FULL, "token": "my own"}),
        ({**FULL, "namespace": "mine"}, False, {**FULL, "namespace": "mine"}),
        ({**FULL, "more": "data"}, False, {**FULL, "more": "data"}),
    ],
)
def test_what_a_secret_lacks_is_put_in(held: dict[str, str], written: bool, left: dict[str, str]) -> None:
    async def main() -> None:
        async with alone(issuing, account(), secret(**held)) as stage:
            assert secrets(stage)["s"] == {key: encoded(value) for key, value in left.items()}
            assert bool(stage.writes("PUT")) is written
            if written:
                notes = stage.items("secrets")[0]["metadata"]["annotations"]
                assert notes == {f"kubernetes.io/service-account.{key}": "robot" for key in ("name", "uid")}

    run_virtual(main())


@pytest.mark.parametrize(
    ("objects", "there"),
    [
        ((secret(),), set()),  # of nobody
        ((account(), secret(uid="before")), set()),  # of an account that was before this one
        ((account(), secret(uid="robot")), {"s"}),
        ((secret(kind="other"),), {"s"}),
        ((account("other"), secret()), set()),
    ],
)
def test_a_secret_without_its_account_goes(objects: tuple[Any, ...], there: set[str]) -> None:
    async def main() -> None:
        async with alone(issuing, *objects) as stage:
            assert set(secrets(stage)) == there
            deleted = [body["preconditions"] for _, method, _, body in stage.api.log if method == "DELETE"]
            assert deleted == ([] if there else [{"uid": "s"}])

    run_virtual(main())


def test_with_an_account_go_its_tokens_and_no_others() -> None:
    async def main() -> None:
        objects = (
            account(), account("other"), secret("mine"), secret("theirs", of="other"), secret("plain", kind="other"),
            secret("known", uid="robot"),
        )  # fmt: skip
        async with alone(issuing, *objects) as stage:
            await stage.client.delete(resource("serviceaccounts"), "robot", "ns")
            await asyncio.sleep(1)
            assert set(secrets(stage)) == {"theirs", "plain"}

    run_virtual(main())


def test_an_account_forgets_a_secret_that_goes_and_a_refusal_is_tried_again() -> None:
    async def main() -> None:
        listed = account(secrets=[{"name": "s"}, {"name": "other"}])
        async with alone(issuing, listed, secret(**FULL)) as stage:
            await stage.client.delete(resource("secrets"), "s", "ns")
            await asyncio.sleep(1)
            assert stage.items("serviceaccounts")[0]["secrets"] == [{"name": "other"}]
            writes = len(stage.api.log)
            await stage.client.create(resource("secrets"), secret("unlisted", **FULL)[1], "ns")
            await stage.client.delete(resource("secrets"), "unlisted", "ns")
            await asyncio.sleep(1)
            assert [method for _, method, path, _ in stage.api.log[writes:] if "serviceaccounts" in path] == []
        broken = failure(500, "InternalError", "broken", {})
        async with alone(issuing, account(), secret(), refuse=refusing("GET", "/secrets/s", broken)) as stage:
            assert secrets(stage)["s"] == {}
            stage.api.refuse = lambda request: None
            await asyncio.sleep(30)
            assert set(secrets(stage)["s"]) == set(FULL)

    run_virtual(main())


def test_who_cannot_make_tokens_touches_no_secret() -> None:
    async def main() -> None:
        async with alone(TokensController, secret()) as stage:
            await asyncio.sleep(1)
            assert stage.api.log == []

    run_virtual(main())
