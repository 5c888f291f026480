"""The proxier at work: when it writes, what it leaves out, what it does when something breaks."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest

from lifecycle.api.loop.clock import Clock, run_virtual
from lifecycle.api.loop.worker import LARGE
from lifecycle.api.resources import resource
from lifecycle.client.rest import Client
from lifecycle.client.shared_informer import SharedInformerFactory
from lifecycle.proxy.iptables.proxier import Proxier
from lifecycle.proxy.iptables.rule_count import count_of_rules
from lifecycle.proxy.iptables.runner import TextRunner
from lifecycle.proxy.iptables.tables import RestoreError, Tables
from tests.controllers.small_cluster import deployment, small_cluster
from tests.controllers.small_cluster import service as service_of
from tests.fake_api import FakeAPI
from tests.proxy import shapes
from tests.proxy.shapes import endpoint, endpoint_slice, service

SERVICES, SLICES, NODES = resource("services"), resource("endpointslices.discovery.k8s.io"), resource("nodes")


class Bench:
    def __init__(self) -> None:
        self.api = FakeAPI()
        self.client = Client(self.api, "kube-proxy")
        self.informers = SharedInformerFactory(self.client)
        self.sink = TextRunner()
        self.proxier = Proxier(
            self.client, self.informers, node_name="here", node_ip="172.19.0.2", clock=Clock(), sink=self.sink
        )

    @property
    def rules(self) -> str:
        return self.sink.tables.save("nat")


@asynccontextmanager
async def bench() -> AsyncIterator[Bench]:
    found = Bench()
    await found.client.create(SERVICES, service("s", "10.96.0.9"), "ns")
    await found.client.create(SLICES, endpoint_slice("s", [endpoint("10.244.1.5", "here")]), "ns")
    task = asyncio.create_task(found.proxier.run())
    await asyncio.sleep(0.1)
    try:
        yield found
    finally:
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await found.informers.stop()


def test_the_first_sync_waits_for_both_lists_and_then_knows_everything() -> None:
    async def main() -> None:
        async with bench() as b:
            assert len(b.sink.restored) == 1
            assert "10.244.1.5:8080" in b.rules
            assert b.proxier.last_rule_counts == (4, 10)

    run_virtual(main())


def test_a_burst_of_changes_costs_one_sync_a_second() -> None:
    async def main() -> None:
        async with bench() as b:
            start = asyncio.get_running_loop().time()
            for i in range(30):
                await b.client.create(SERVICES, service(f"more{i}", f"10.96.1.{i + 1}"), "ns")
                await asyncio.sleep(0.1)
            await asyncio.sleep(2)
            assert 3 <= len(b.sink.restored) - 1 <= 4
            assert (
                b.rules.count("cluster IP") == 2
            )  # the others have no endpoints: they are refused, in the filter table
            assert b.sink.tables.save("filter").count("has no endpoints") == 30
            assert asyncio.get_running_loop().time() - start < 6

    run_virtual(main())


def test_after_the_first_sync_only_changed_services_are_written() -> None:
    async def main() -> None:
        async with bench() as b:
            await b.client.create(SERVICES, service("t", "10.96.0.10"), "ns")
            await b.client.create(SLICES, endpoint_slice("t", [endpoint("10.244.2.6")]), "ns")
            await asyncio.sleep(3)
            last = b.sink.restored[-1]
            assert "10.244.2.6:8080" in last
            assert "10.244.1.5:8080" not in last
            assert "10.244.1.5:8080" in b.rules

    run_virtual(main())


def test_more_rules_than_a_table_has_room_for_are_not_made(caplog: pytest.LogCaptureFixture) -> None:
    """A Service of a thousand ports at a thousand addresses is one object of 100 KB. The rules that are there stay."""

    async def main() -> None:
        async with bench() as b:
            vast = service("vast", "10.96.0.77")
            vast["spec"]["ports"] = [{"name": f"p{n}", "port": n, "protocol": "TCP"} for n in range(1, 1_001)]
            vast["spec"]["externalIPs"] = [f"11.0.{n >> 8}.{n & 255}" for n in range(1_000)]
            await b.client.create(SERVICES, vast, "ns")
            await asyncio.sleep(40)
            assert len(b.sink.restored) == 1
            assert "more than 1000000 rules do not fit into a table" in caplog.text
            await b.client.delete(SERVICES, "vast", "ns")
            await b.client.create(SERVICES, service("t", "10.96.0.10"), "ns")
            await asyncio.sleep(40)
            assert "10.244.1.5:8080" in b.rules
            assert "10.96.0.10" in b.sink.tables.save("filter")

    run_virtual(main())


def counted(services: list[Any], slices: list[Any]) -> tuple[tuple[int, int], tuple[int, int]]:
    """The rules as they are counted before they are written, and as they are written; in the filter and nat tables."""
    none, written = shapes.rules([], []), shapes.rules(services, slices)
    return count_of_rules(*shapes.both_maps(services, slices, shapes.NODE)), (
        written.filter_rule_count - none.filter_rule_count,
        written.nat_rule_count - none.nat_rule_count,
    )


STICKY = {"sessionAffinity": "ClientIP", "sessionAffinityConfig": {"clientIP": {"timeoutSeconds": 60}}}
OUTSIDE = {"externalIPs": [f"192.0.2.{n}" for n in range(200)]}


@pytest.mark.parametrize("count", [0, 1, 200])
@pytest.mark.parametrize(
    ("spec", "with_none", "each", "beside"),
    [
        ({}, 1, 3, 2), (STICKY, 1, 4, 2), (OUTSIDE, 201, 3, 206),
        ({**OUTSIDE, "externalTrafficPolicy": "Local", "type": "NodePort"}, 201, 3, 407),
    ],
)  # fmt: skip
def test_rules_are_counted_as_they_are_written_for_each_table(
    spec: dict[str, Any], with_none: int, each: int, beside: int, count: int
) -> None:
    behind = [endpoint(f"10.244.1.{n}") for n in range(count)]
    guessed, written = counted([service("s", "10.96.0.9", **spec)], [endpoint_slice("s", behind)])
    if not count:
        assert guessed == written == (with_none, 0)
    else:
        assert all(ours >= theirs for ours, theirs in zip(guessed, written))
        assert sum(guessed) == each * count + beside
        assert sum(guessed) - sum(written) <= 6


def test_no_shape_of_service_has_more_rules_than_are_counted() -> None:
    services, slices = shapes.everything()
    for each in services:
        guessed, written = counted([each], slices)
        assert all(ours >= theirs for ours, theirs in zip(guessed, written)), each["metadata"]["name"]
    behind = [endpoint("10.244.1.1", "here", ready=False, serving=False), endpoint("10.244.1.2")]
    local = service("s", "10.96.0.9", **OUTSIDE, externalTrafficPolicy="Local", type="NodePort")
    assert counted([local], [endpoint_slice("s", behind)])[1][0] == 200
    assert counted([local], [endpoint_slice("s", behind)])[0][0] == 201
    unready = [endpoint_slice("s", [endpoint("10.244.1.1", ready=False)])]
    assert counted([service("s", "10.96.0.9", **OUTSIDE)], unready) == ((201, 0), (201, 0))


def test_what_changes_while_many_rules_are_written_is_for_the_next_sync(monkeypatch: pytest.MonkeyPatch) -> None:
    weights: list[int] = []

    async def main() -> None:
        begun, go_on = asyncio.Event(), asyncio.Event()

        async def slow(weight: int, work: Callable[..., Any], *args: Any) -> Any:
            weights.append(weight)
            begun.set()
            await go_on.wait()
            return work(*args)

        async with bench() as b:
            monkeypatch.setattr("lifecycle.proxy.iptables.proxier.beside", slow)
            many = service("many", "10.96.0.77")
            many["spec"]["externalIPs"] = [f"11.0.0.{n}" for n in range(200)]
            await b.client.create(SERVICES, many, "ns")
            await begun.wait()
            await b.client.create(SERVICES, service("late", "10.96.0.88"), "ns")
            await asyncio.sleep(0.1)
            go_on.set()
            await asyncio.sleep(0)
            filters = b.sink.tables.save("filter")
            assert filters.count("11.0.0.") == 200
            assert "10.96.0.88" not in filters
            await asyncio.sleep(5)
            assert "10.96.0.88" in b.sink.tables.save("filter")
            assert weights[0] > LARGE

    run_virtual(main())


def test_a_service_that_goes_takes_its_chains_along() -> None:
    async def main() -> None:
        async with bench() as b:
            await b.client.delete(SERVICES, "s", "ns")
            await b.client.delete(SLICES, "s-1", "ns")
            await asyncio.sleep(3)
            assert "KUBE-SVC" not in b.rules
            assert "KUBE-SEP" not in b.rules

    run_virtual(main())


def test_a_change_of_no_consequence_writes_nothing() -> None:
    async def main() -> None:
        async with bench() as b:
            await b.client.patch(SERVICES, "s", "ns", {"metadata": {"labels": {"a": "b"}}})
            await asyncio.sleep(5)
            assert len(b.sink.restored) == 1

    run_virtual(main())


def test_a_failed_sync_is_repeated_in_full(caplog: pytest.LogCaptureFixture) -> None:
    async def main() -> None:
        async with bench() as b:
            restore, failures = b.sink.restore_all, [RestoreError("the lock is held")]

            async def fail_once(text: str) -> None:
                if failures:
                    raise failures.pop()
                await restore(text)

            b.sink.restore_all = fail_once  # type: ignore[method-assign]
            await b.client.create(SERVICES, service("t", "10.96.0.10"), "ns")
            await asyncio.sleep(5)
            assert "10.96.0.10" not in b.sink.tables.save()
            await asyncio.sleep(30)
            assert "10.96.0.10" in b.sink.tables.save()
            assert "10.244.1.5:8080" in b.sink.restored[-1]

    run_virtual(main())
    assert "the lock is held" in caplog.text


def test_rules_that_somebody_flushed_come_back() -> None:
    async def main() -> None:
        async with bench() as b:
            before = b.sink.tables.save()
            b.sink.tables = Tables()
            await asyncio.sleep(45)
            assert b.sink.tables.save() == before

    run_virtual(main())


def test_a_new_zone_of_the_node_concerns_every_service() -> None:
    async def main() -> None:
        async with bench() as b:
            hints = [
                endpoint("10.244.1.5", hints={"forZones": [{"name": "a"}]}),
                endpoint("10.244.1.6", hints={"forZones": [{"name": "b"}]}),
            ]
            slices = endpoint_slice("s", hints)
            await b.client.update(SLICES, {**slices, "metadata": {**slices["metadata"], "resourceVersion": ""}})
            await asyncio.sleep(2)
            assert "10.244.1.6" in b.rules
            node = {"metadata": {"name": "here", "labels": {"topology.kubernetes.io/zone": "a"}}}
            await b.client.create(NODES, node)
            await asyncio.sleep(2)
            assert "10.244.1.6" not in b.rules
            syncs = b.proxier.syncs
            await b.client.patch(NODES, "here", "", {"metadata": {"labels": {"disk": "ssd"}}})
            await asyncio.sleep(5)
            assert b.proxier.syncs == syncs

    run_virtual(main())


def test_from_a_deployment_to_its_rules_through_the_real_api_server() -> None:
    """Also: the selectors of its watches (no headless Services, only its own Node) are ones the server understands."""

    async def main() -> None:
        async with small_cluster() as cluster:
            sink = TextRunner()
            informers = SharedInformerFactory(cluster.client)
            proxier = Proxier(cluster.client, informers, node_name="n1", node_ip="172.19.0.2", clock=Clock(), sink=sink)
            task = asyncio.create_task(proxier.run())
            await cluster.client.create(resource("deployments.apps"), deployment(3), "ns")
            await cluster.client.create(SERVICES, service_of(), "ns")
            headless = service_of()
            headless["metadata"] = {"name": "headless"}
            headless["spec"]["clusterIP"] = "None"
            await cluster.client.create(SERVICES, headless, "ns")
            await asyncio.sleep(30)
            text = sink.tables.save("nat")
            assert text.count('"ns/nginx') >= 3
            assert text.count("-j DNAT") >= 3
            assert "headless" not in sink.tables.save()
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
            await informers.stop()

    run_virtual(main())
