"""One sync after another: what is written again, what is left as it is, what goes.

Upstream: `pkg/proxy/iptables/proxier_test.go` (`TestSyncProxyRulesRepeated`, `TestSyncProxyRulesLargeClusterMode`), v1.36, restated.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

import pytest

from lifecycle.api.loop.clock import Clock, run_virtual
from lifecycle.client.rest import Client
from lifecycle.client.shared_informer import SharedInformerFactory
from lifecycle.proxy.iptables.chains import ServiceChains, endpoint_chain, is_service_chain
from lifecycle.proxy.iptables.config import ProxierConfig
from lifecycle.proxy.iptables.proxier import Proxier
from lifecycle.proxy.iptables.runner import TextRunner
from lifecycle.proxy.service_port_name import ServicePortName
from tests.fake_api import FakeAPI
from tests.proxy.shapes import endpoint, endpoint_slice, service


class Synced:
    """A proxier whose syncs are ours to call."""

    def __init__(self, config: ProxierConfig | None = None) -> None:
        client = Client(FakeAPI(), "kube-proxy")
        self.sink = TextRunner()
        self.proxier = Proxier(
            client,
            SharedInformerFactory(client),
            node_name="here",
            node_ip="192.168.0.2",
            clock=Clock(),
            sink=self.sink,
            config=config,
        )

    def serve(self, number: int, *ips: str) -> None:
        """Service `s<number>` has these endpoints; with none, it is only a Service."""
        self.proxier.on_service(service(f"s{number}", f"172.30.0.{number}"))
        if ips:
            self.slices(number, *ips)

    def slices(self, number: int, *ips: str) -> None:
        self.proxier.on_endpoint_slice(endpoint_slice(f"s{number}", [endpoint(ip) for ip in ips]))

    def drop(self, number: int) -> None:
        self.proxier.on_service_deleted(service(f"s{number}", f"172.30.0.{number}"))

    async def sync(self) -> tuple[set[str], set[str], int]:
        """The Services' chains that the sync declares and those that it removes; how much the nat table's number of rules changed."""
        before = self.proxier.last_rule_counts[1]
        await self.proxier.sync()
        lines = self.sink.restored[-1].splitlines()
        declared = {line[1:].split()[0] for line in lines if line.startswith(":")}
        removed = {line.removeprefix("-X ") for line in lines if line.startswith("-X ")}
        return (
            {c for c in declared if is_service_chain(c)} - removed,
            removed,
            self.proxier.last_rule_counts[1] - before,
        )


def chains(number: int, *ips: str) -> set[str]:
    name = ServicePortName("ns", f"s{number}", "", "TCP")
    return {ServiceChains.of(name).cluster, *(endpoint_chain(name, f"{ip}:8080") for ip in ips)}


def virtual(scene: Callable[[], Awaitable[None]]) -> None:
    async def main() -> None:
        await asyncio.sleep(100)
        await scene()

    run_virtual(main())


def test_each_sync_writes_what_changed_and_counts_everything(caplog: pytest.LogCaptureFixture) -> None:
    async def scene() -> None:
        s = Synced()
        s.serve(1, "10.0.1.1")
        s.serve(2, "10.0.2.1")
        written, removed, _ = await s.sync()
        assert (written, removed) == (chains(1, "10.0.1.1") | chains(2, "10.0.2.1"), set())

        s.serve(3, "10.0.3.1")  # one rule to find it, two of its own, two of its endpoint
        assert await s.sync() == (chains(3, "10.0.3.1"), set(), 5)
        s.drop(2)
        assert await s.sync() == (set(), chains(2, "10.0.2.1"), -5)
        s.serve(4)  # a refusal, which is in the other table
        assert await s.sync() == (set(), set(), 0)
        s.slices(4, "10.0.4.1")
        assert await s.sync() == (chains(4, "10.0.4.1"), set(), 5)
        s.slices(3, "10.0.3.2")
        assert await s.sync() == (chains(3, "10.0.3.2"), chains(3, "10.0.3.1") - chains(3), 0)
        s.slices(3, "10.0.3.2", "10.0.3.3")
        assert await s.sync() == (chains(3, "10.0.3.2", "10.0.3.3"), set(), 3)
        assert await s.sync() == (set(), set(), 0)

        # somebody lets one Service's chain lead to another's endpoint, which then cannot be removed alone
        [alien] = chains(4, "10.0.4.1") - chains(4)
        [ours] = chains(3)
        s.sink.tables.ensure_rule("nat", ours, f"-j {alien}")
        s.drop(4)
        before = s.sink.tables.save()
        await s.proxier.sync()
        assert s.sink.tables.save() == before
        assert "failed" in caplog.text
        written, removed, change = await s.sync()
        assert written == chains(1, "10.0.1.1") | chains(3, "10.0.3.2", "10.0.3.3")
        assert (removed, change) == (chains(4, "10.0.4.1"), -5)

    virtual(scene)


class Slow(TextRunner):
    """Something happens while it lists chains, once."""

    def __init__(self) -> None:
        super().__init__()
        self.meanwhile: Callable[[], None] = lambda: None

    async def chains(self, table: str) -> list[str]:
        self.meanwhile, happens = (lambda: None), self.meanwhile
        happens()
        return await super().chains(table)


def test_what_changes_while_a_sync_looks_around_is_written_whole(caplog: pytest.LogCaptureFixture) -> None:
    """The way to a Service's chain and the chain itself are written together, or the kernel refuses both."""

    async def scene() -> None:
        s = Synced()
        s.proxier.sink = s.sink = slow = Slow()
        s.serve(1, "10.0.1.1")
        s.serve(2)
        await s.sync()
        slow.meanwhile = lambda: s.slices(2, "10.0.2.1")
        s.slices(1, "10.0.1.2")
        written, _, _ = await s.sync()
        assert written == chains(1, "10.0.1.2") | chains(2, "10.0.2.1")
        assert "failed" not in caplog.text
        assert await s.sync() == (set(), set(), 0)

    virtual(scene)


def test_a_large_cluster_forgets_its_comments_and_takes_its_time_to_clean_up() -> None:
    async def scene() -> None:
        s = Synced(ProxierConfig(large_cluster_endpoints=5))
        s.serve(1, "10.0.1.1", "10.0.1.2")
        s.serve(2, "10.0.2.1", "10.0.2.2")
        s.serve(3)
        await s.sync()
        assert _endpoint_rules(s) == (4, 4)
        s.slices(
            3, "10.0.3.1", "10.0.3.2"
        )  # six: too many; but to cross the line is no reason to write the others again
        await s.sync()
        assert _endpoint_rules(s) == (2, 0)
        s.proxier._need_full_sync = True
        await s.sync()
        assert _endpoint_rules(s) == (6, 0)

        s.serve(4, "10.0.4.1")
        await s.sync()
        s.drop(4)
        assert (await s.sync())[:2] == (set(), set())  # not now
        await asyncio.sleep(31)
        assert (await s.sync())[:2] == (set(), chains(4, "10.0.4.1"))

    virtual(scene)


def _endpoint_rules(s: Synced) -> tuple[int, int]:
    """How many endpoints the last text had, and how many of them with a comment."""
    found = [line for line in s.sink.restored[-1].splitlines() if "-j DNAT" in line]
    return len(found), sum("--comment" in line for line in found)
