"""Hand-made Endpoints become EndpointSlices, and follow them."""

from __future__ import annotations

import asyncio
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from lifecycle.api.http.wire import Object
from lifecycle.api.resources import resource
from lifecycle.cluster.rehearsal import RehearsedCluster, rehearse
from lifecycle.controllers.endpointslicemirroring.mirrored_slices import CONTROLLER_NAME, mirror

SERVICES, ENDPOINTS, SLICES = resource("services"), resource("endpoints"), "endpointslices.discovery.k8s.io"


def endpoints(*subsets: Object, **metadata: Any) -> Object:
    meta = {"name": "db", "namespace": "default", "uid": "e", **metadata}
    return {"kind": "Endpoints", "apiVersion": "v1", "metadata": meta, "subsets": list(subsets)}


def subset(*ready: str, not_ready: tuple[str, ...] = (), port: int = 5432) -> Object:
    found: Object = {"ports": [{"port": port, "protocol": "TCP", "name": "sql"}]}
    if ready:
        found["addresses"] = [{"ip": ip} for ip in ready]
    if not_ready:
        found["notReadyAddresses"] = [{"ip": ip} for ip in not_ready]
    return found


def named(slices: list[Object]) -> list[Object]:
    return [{**s, "metadata": {**s["metadata"], "name": f"db-{n}"}} for n, s in enumerate(slices)]


async def _seen(cluster: RehearsedCluster) -> list[Object]:
    await asyncio.sleep(3)
    return await cluster.items(SLICES)


def test_from_the_endpoints_to_the_slices_and_back_to_nothing() -> None:
    async def scene(cluster: RehearsedCluster) -> None:
        client = cluster.client("me")
        service = {"metadata": {"name": "db"}, "spec": {"ports": [{"port": 5432, "name": "sql"}]}}
        await client.create(SERVICES, service, "default")
        assert await _seen(cluster) == []  # nobody has said anything yet
        two = subset("192.0.2.1", "2001:db8::1", not_ready=("192.0.2.2",))
        made = {"metadata": {"name": "db", "labels": {"team": "blue"}}, "subsets": [two]}
        await client.create(ENDPOINTS, made, "default")
        seen = {s["addressType"]: s for s in await _seen(cluster)}
        assert set(seen) == {"IPv4", "IPv6"}
        assert [(e["addresses"], e["conditions"]) for e in seen["IPv4"]["endpoints"]] == [
            (["192.0.2.1"], {"ready": True}),
            (["192.0.2.2"], {"ready": False}),
        ]
        labels = seen["IPv4"]["metadata"]["labels"]
        assert labels["team"] == "blue"
        assert labels["endpointslice.kubernetes.io/managed-by"] == CONTROLLER_NAME
        assert seen["IPv4"]["metadata"]["ownerReferences"][0]["kind"] == "Endpoints"

        current = await client.get(ENDPOINTS, "db", "default")
        await client.update(ENDPOINTS, {**current, "subsets": [subset("192.0.2.9", port=5433)]})
        [only] = await _seen(cluster)
        assert only["metadata"]["name"] == seen["IPv4"]["metadata"]["name"]  # written again, not made anew
        assert (only["endpoints"][0]["addresses"], only["ports"][0]["port"]) == (["192.0.2.9"], 5433)

        patch = {"metadata": {"labels": {"endpointslice.kubernetes.io/skip-mirror": "true"}}}
        await client.patch(ENDPOINTS, "db", "default", patch)
        assert await _seen(cluster) == []

    rehearse(scene)


def test_a_service_that_gets_a_selector_is_somebody_elses_business() -> None:
    async def scene(cluster: RehearsedCluster) -> None:
        client = cluster.client("me")
        await client.create(SERVICES, {"metadata": {"name": "db"}, "spec": {"ports": [{"port": 1}]}}, "default")
        made = {"metadata": {"name": "db"}, "subsets": [{"addresses": [{"ip": "192.0.2.1"}], "ports": [{"port": 1}]}]}
        await client.create(ENDPOINTS, made, "default")
        assert [s["metadata"]["labels"]["endpointslice.kubernetes.io/managed-by"] for s in await _seen(cluster)] == [
            CONTROLLER_NAME
        ]
        await client.patch(SERVICES, "db", "default", {"spec": {"selector": {"app": "db"}}})
        managers = [s["metadata"]["labels"]["endpointslice.kubernetes.io/managed-by"] for s in await _seen(cluster)]
        assert managers == ["endpointslice-controller.k8s.io"]

    rehearse(scene)


def test_endpoints_of_a_selector_are_not_mirrored() -> None:
    async def scene(cluster: RehearsedCluster) -> list[Any]:
        service = {"metadata": {"name": "db"}, "spec": {"selector": {"a": "b"}, "ports": [{"port": 1}]}}
        await cluster.client("me").create(SERVICES, service, "default")
        await asyncio.sleep(3)
        return cluster.requests("endpointslicemirroring-controller")

    assert rehearse(scene) == []


def test_a_thousand_addresses_of_a_subset_and_no_more() -> None:
    many = [f"10.{n // 65536}.{n // 256 % 256}.{n % 256}" for n in range(1200)]
    changes = mirror(endpoints(subset("not an address", *many)), [])
    assert [len(s["endpoints"]) for s in changes.create] == [1000]
    assert (changes.invalid, changes.too_many) == (1, 200)


def test_leader_election_and_kubectls_notes_stay_behind() -> None:
    notes = {"kubectl.kubernetes.io/last-applied-configuration": "{}", "mine": "yes"}
    [made] = mirror(endpoints(subset("192.0.2.1"), annotations=notes), []).create
    assert made["metadata"]["annotations"] == {"mine": "yes"}


ADDRESSES = st.lists(st.integers(1, 250), unique=True, max_size=6)
SUBSETS = st.lists(st.tuples(ADDRESSES, ADDRESSES, st.integers(1, 3)), max_size=4)


@given(SUBSETS, SUBSETS)
def test_mirroring_twice_writes_once_and_any_change_is_followed(before: Any, after: Any) -> None:
    def made(drawn: Any) -> Object:
        return endpoints(
            *(
                subset(*(f"192.0.2.{n}" for n in ready), not_ready=tuple(f"198.51.100.{n}" for n in other), port=port)
                for ready, other, port in drawn
            )
        )

    first = named(mirror(made(before), []).create)
    again = mirror(made(before), first)
    assert [*again.create, *again.update, *again.delete] == []
    changes = mirror(made(after), first)
    gone = {s["metadata"]["name"] for s in (*changes.delete, *changes.update)}
    left = [s for s in first if s["metadata"]["name"] not in gone] + changes.update + changes.create
    assert sorted(_said(left)) == sorted(_said(mirror(made(after), []).create))


def _said(slices: list[Object]) -> list[tuple[int, str, bool]]:
    return [
        (s["ports"][0]["port"], e["addresses"][0], e["conditions"]["ready"]) for s in slices for e in s["endpoints"]
    ]
