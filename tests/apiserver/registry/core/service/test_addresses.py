"""Cluster IPs are objects: taken before the Service is written, given back with it, and nobody has two owners."""

from __future__ import annotations

import re
from ipaddress import IPv4Address
from typing import Any

import pytest

from lifecycle.api.http.wire import Object
from lifecycle.api.resources import resource
from lifecycle.api.status import StatusError
from lifecycle.client.rest import Client
from lifecycle.cluster.rehearsal import RehearsedCluster, rehearse

SERVICES, ADDRESSES = resource("services"), resource("ipaddresses.networking.k8s.io")
CIDRS = resource("servicecidrs.networking.k8s.io")


def service(name: str, **spec: Any) -> Object:
    return {"metadata": {"name": name}, "spec": {"ports": [{"port": 80}], **spec}}


async def names(client: Client) -> dict[str, str]:
    items = (await client.list(ADDRESSES))["items"]
    return {item["metadata"]["name"]: item["spec"]["parentRef"]["name"] for item in items}


def played(scene: Any) -> Any:
    return rehearse(scene, without=("kubelet", "scheduler", "controllers"))


def test_an_address_comes_and_goes_with_its_service() -> None:
    async def scene(cluster: RehearsedCluster) -> None:
        client = cluster.client("me")
        before = await names(client)
        assert before == {"10.96.0.1": "kubernetes"}
        made = await client.create(SERVICES, service("web"), "default")
        assert await names(client) == {**before, made["spec"]["clusterIP"]: "web"}
        await client.delete(SERVICES, "web", "default")
        assert await names(client) == before

    played(scene)


def test_a_service_that_turns_external_gives_its_address_back() -> None:
    async def scene(cluster: RehearsedCluster) -> None:
        client = cluster.client("me")
        await client.create(SERVICES, service("web"), "default")
        patch = {"spec": {"type": "ExternalName", "externalName": "example.com", "clusterIP": None, "clusterIPs": None}}
        await client.patch(SERVICES, "web", "default", patch)
        assert set(await names(client)) == {"10.96.0.1"}
        await client.patch(SERVICES, "web", "default", {"spec": {"type": "ClusterIP", "externalName": None}})
        assert "web" in (await names(client)).values()

    played(scene)


def test_what_is_refused_takes_nothing() -> None:
    async def scene(cluster: RehearsedCluster) -> None:
        client = cluster.client("me")
        await client.create(SERVICES, service("web"), "default")
        before = await names(client)
        for wrong in (service("web"), service("UPPER"), service("bad", sessionAffinity="Always")):
            with pytest.raises(StatusError):
                await client.create(SERVICES, wrong, "default")
        await client.request("POST", SERVICES.path("default"), obj=service("dry"), query={"dryRun": "All"})
        assert await names(client) == before

    played(scene)


def test_an_address_that_somebody_else_holds_is_refused() -> None:
    """Even if no Service has it: an IPAddress is enough."""

    async def scene(cluster: RehearsedCluster) -> str:
        client = cluster.client("me")
        labels = {"ipaddress.kubernetes.io/ip-family": "IPv4"}
        parent = {"resource": "services", "namespace": "default", "name": "other"}
        held = {"metadata": {"name": "10.96.0.77", "labels": labels}, "spec": {"parentRef": parent}}
        await client.create(ADDRESSES, held)
        with pytest.raises(StatusError) as refused:
            await client.create(SERVICES, service("web", clusterIP="10.96.0.77"), "default")
        return refused.value.message

    assert played(scene) == (
        'Service "web" is invalid: spec.clusterIPs: Invalid value: ["10.96.0.77"]: failed to allocate IP 10.96.0.77: '
        "provided IP is already allocated"
    )


def test_another_range_makes_room() -> None:
    async def scene(cluster: RehearsedCluster) -> str:
        client = cluster.client("me")
        wanted = service("web", clusterIP="10.97.0.5")
        with pytest.raises(StatusError, match=r"the provided network does not match the current range$"):
            await client.create(SERVICES, wanted, "default")
        await client.create(CIDRS, {"metadata": {"name": "more"}, "spec": {"cidrs": ["10.97.0.0/24"]}})
        made = await client.create(SERVICES, wanted, "default")
        return str(made["spec"]["clusterIP"])

    assert played(scene) == "10.97.0.5"


@pytest.mark.parametrize(
    ("spec", "families", "policy"),
    [
        ({}, ["IPv4"], "SingleStack"),
        ({"ipFamilyPolicy": "PreferDualStack"}, ["IPv4"], "PreferDualStack"),
        ({"clusterIP": "None", "selector": {"a": "b"}}, ["IPv4"], "SingleStack"),
        ({"clusterIP": "None"}, ["IPv4", "IPv6"], "RequireDualStack"),
        ({"clusterIP": "None", "ipFamilies": ["IPv6"]}, ["IPv6", "IPv4"], "RequireDualStack"),
        ({"clusterIP": "None", "ipFamilyPolicy": "SingleStack", "ipFamilies": ["IPv6"]}, ["IPv6"], "SingleStack"),
    ],
)
def test_families(spec: Object, families: list[str], policy: str) -> None:
    async def scene(cluster: RehearsedCluster) -> Object:
        return await cluster.client("me").create(SERVICES, service("web", **spec), "default")

    made = played(scene)["spec"]
    assert (made["ipFamilies"], made["ipFamilyPolicy"]) == (families, policy)


@pytest.mark.parametrize(
    ("spec", "why"),
    [
        (
            {"ipFamilyPolicy": "RequireDualStack"},
            'spec.ipFamilyPolicy: Invalid value: "RequireDualStack": this cluster is not configured for dual-stack',
        ),
        ({"ipFamilies": ["IPv6"]}, 'spec.ipFamilies[0]: Invalid value: "IPv6": not configured on this cluster'),
        ({"ipFamilies": ["IPv4", "IPv6"]}, "must be 'RequireDualStack' or 'PreferDualStack' when multiple IP families"),
    ],
)
def test_families_that_there_are_not(spec: Object, why: str) -> None:
    async def scene(cluster: RehearsedCluster) -> str:
        with pytest.raises(StatusError) as refused:
            await cluster.client("me").create(SERVICES, service("web", **spec), "default")
        return refused.value.message

    assert why in played(scene)


@pytest.mark.parametrize(
    ("address", "dry_run", "why"),
    [
        ("10.97.0.5", False, "the provided network does not match the current range"),
        ("10.96.0.0", False, "the provided network does not match the current range"),
        (
            "10.96.0.0",
            True,
            "the provided IP (10.96.0.0) is not in the valid range. The range of valid IPs is 10.96.0.0/16",
        ),
        ("10.96.255.255", False, "the provided network does not match the current range"),
        (
            "10.96.255.255",
            True,
            "the provided IP (10.96.255.255) is not in the valid range. The range of valid IPs is 10.96.0.0/16",
        ),
        ("10.96.0.1", False, "provided IP is already allocated"),
        (
            "10.97.0.5",
            True,
            "the provided IP (10.97.0.5) is not in the valid range. The range of valid IPs is 10.96.0.0/16",
        ),
        ("10.96.0.1", True, ""),
    ],
)
def test_addresses_that_cannot_be_had(address: str, dry_run: bool, why: str) -> None:
    """A dry run asks one range only, and does not ask who has the address."""

    async def scene(cluster: RehearsedCluster) -> str:
        query = {"dryRun": "All"} if dry_run else {}
        wanted = service("web", clusterIP=address)
        try:
            await cluster.client("me").request("POST", SERVICES.path("default"), obj=wanted, query=query)
        except StatusError as refused:
            return refused.message
        return ""

    prefix = (
        f'Service "web" is invalid: spec.clusterIPs: Invalid value: ["{address}"]: failed to allocate IP {address}: '
    )
    assert played(scene) == (prefix + why if why else "")


def test_random_addresses_come_from_above_the_band_for_fixed_ones() -> None:
    async def scene(cluster: RehearsedCluster) -> list[IPv4Address]:
        client = cluster.client("me")
        made = [await client.create(SERVICES, service(f"web-{i}"), "default") for i in range(20)]
        return [IPv4Address(one["spec"]["clusterIP"]) for one in made]

    assert all(IPv4Address("10.96.1.1") <= address <= IPv4Address("10.96.255.254") for address in played(scene))


def test_an_address_decides_the_family_and_bad_ones_are_all_that_is_said() -> None:
    """Addresses are looked at before anything else is: the port's error would only come after."""

    async def scene(cluster: RehearsedCluster) -> list[str]:
        messages = []
        for spec in (
            {"clusterIP": "fd00::1"},
            {"clusterIP": "10.96.300.1", "ports": [{"port": 0}]},
            {"clusterIP": "10.96.7.7", "clusterIPs": ["10.96.7.7", "fd00::1"]},
        ):
            with pytest.raises(StatusError) as refused:
                await cluster.client("me").create(SERVICES, service("web", **spec), "default")
            messages.append(refused.value.message)
        return messages

    start = 'Service "web" is invalid: '
    many = "must be 'RequireDualStack' or 'PreferDualStack' when multiple cluster IPs are specified"
    six = '"fd00::1"]: IPv6 is not configured on this cluster'
    assert played(scene) == [
        f"{start}spec.clusterIPs[0]: Invalid value: [{six}",
        f'{start}spec.clusterIPs[0]: Invalid value: "10.96.300.1": must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)',
        f'{start}[spec.ipFamilyPolicy: Invalid value: "SingleStack": {many}, '
        f'spec.clusterIPs[1]: Invalid value: ["10.96.7.7",{six}]',
    ]


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("", "spec.parentRef.name: Required value"),
        ("a/b", "spec.parentRef.name: Invalid value: \"a/b\": may not contain '/'"),
        ("..", "spec.parentRef.name: Invalid value: \"..\": may not be '..'"),
        (
            "a%b/c",
            "[spec.parentRef.name: Invalid value: \"a%b/c\": may not contain '/', "
            "spec.parentRef.name: Invalid value: \"a%b/c\": may not contain '%']",
        ),
    ],
)
@pytest.mark.parametrize("wished", [True, False])
def test_an_address_is_given_to_nobody_who_cannot_be_named_in_a_path(name: str, why: str, wished: bool) -> None:
    """That is all that is said then; a dry run, which takes no address, is refused for the name and the missing ports."""
    address = {"clusterIP": "10.96.5.5"} if wished else {}

    async def scene(cluster: RehearsedCluster) -> list[str]:
        said = []
        for query in ({}, {"dryRun": "All"}):
            wanted = {"metadata": {"name": name}, "spec": address}
            with pytest.raises(StatusError) as refused:
                await cluster.client("me").request("POST", SERVICES.path("default"), obj=wanted, query=query)
            said.append(refused.value.message)
        return said

    real, dry = played(scene)
    real = re.sub(r'IPAddress.networking.k8s.io "[\d.]+"', 'IPAddress.networking.k8s.io "IP"', real)
    assert real == (
        f'Service "{name}" is invalid: spec.clusterIPs: Invalid value: ["{address.get("clusterIP", "")}"]: failed to allocate'
        f' IP{" 10.96.5.5" if wished else ""}: IPAddress.networking.k8s.io "IP" is invalid: {why}'
    )
    assert "parentRef" not in dry
    assert "spec.ports: Required value" in dry
