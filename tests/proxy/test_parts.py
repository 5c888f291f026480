"""The parts that rules are made with: when a sync runs, which addresses answer, who may be chosen."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from lifecycle.api.loop.clock import Clock, run_virtual
from lifecycle.client.rest import Client
from lifecycle.client.shared_informer import SharedInformerFactory
from lifecycle.proxy.bounded_frequency_runner import BoundedFrequencyRunner
from lifecycle.proxy.conntrack import Flow
from lifecycle.proxy.endpoints_map import Endpoint, EndpointsMap
from lifecycle.proxy.iptables.config import ConntrackConfig, ProxierConfig
from lifecycle.proxy.iptables.proxier import Proxier
from lifecycle.proxy.iptables.runner import TextRunner
from lifecycle.proxy.iptables.sync_proxy_rules import NodeFacts
from lifecycle.proxy.node_port_addresses import NodePortAddresses
from lifecycle.proxy.service_map import ServicePort, service_ports
from lifecycle.proxy.service_port_name import ServicePortName
from lifecycle.proxy.topology import categorize_endpoints
from tests.fake_api import FakeAPI
from tests.proxy.shapes import endpoint, endpoint_slice, service


@pytest.mark.parametrize(
    ("asked", "runs"),
    [
        ([], [100, 200]), ([0], [0, 100, 200]), ([0, 1, 2, 3], [0, 10, 110, 210]), ([50], [50, 150]),
        ([0, 5, 15], [0, 10, 20, 120, 220]), ([0, 60, 95], [0, 60, 95, 195]), ([99.5], [99.5, 199.5]),
    ],
)  # fmt: skip
def test_work_runs_when_asked_but_not_too_often_and_now_and_then_unasked(asked: list[float], runs: list[float]) -> None:
    async def main() -> list[float]:
        loop, ran = asyncio.get_running_loop(), list[float]()
        begin = loop.time()

        async def work() -> None:
            ran.append(loop.time() - begin)

        runner = BoundedFrequencyRunner(work, min_interval=10, max_interval=100)
        for when in asked:
            loop.call_later(when, runner.run)
        task = asyncio.ensure_future(runner.loop())
        await asyncio.sleep(225)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        return ran

    assert run_virtual(main()) == pytest.approx(runs)


@pytest.mark.parametrize(
    ("asks", "runs"),
    [
        ([(0, 30)], [30]), ([(0, 30), (10, 30)], [40]), ([(0, 30), (10, 5)], [15]), ([(0, 30), (10, None)], [10]),
        ([(0, 2)], [2]), ([(0, None), (0.5, 2)], [0, 10]),
    ],
)  # fmt: skip
def test_the_last_word_about_a_retry_counts_unless_a_run_comes_before(
    asks: list[tuple[float, float | None]], runs: list[float]
) -> None:
    async def main() -> list[float]:
        loop, ran = asyncio.get_running_loop(), list[float]()
        begin = loop.time()

        async def work() -> None:
            ran.append(loop.time() - begin)

        runner = BoundedFrequencyRunner(work, min_interval=10, max_interval=1000)
        for when, after in asks:
            if after is None:
                loop.call_later(when, runner.run)
            else:
                loop.call_later(when, runner.retry_after, after)
        task = asyncio.ensure_future(runner.loop())
        await asyncio.sleep(100)
        runner.retry_after(50)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        await asyncio.sleep(100)
        assert not runner._run_requested.is_set()  # nothing rings after the end
        return ran

    assert run_virtual(main()) == pytest.approx(runs)


ADDRESSES = ("172.19.0.2", "10.0.0.9", "fd00::2", "127.0.0.5")


@pytest.mark.parametrize(
    ("networks", "family", "match_all", "loopback", "addresses"),
    [
        ([], "IPv4", True, True, []), ([], "IPv6", True, True, []),
        (["0.0.0.0/0"], "IPv4", True, True, ["10.0.0.9", "127.0.0.1", "127.0.0.5", "172.19.0.2"]),
        (["::/0"], "IPv4", True, True, []), (["::/0"], "IPv6", True, True, ["::1", "fd00::2"]),
        (["172.19.0.0/16"], "IPv4", False, False, ["172.19.0.2"]),
        (["172.19.0.2/32", "10.0.0.0/8"], "IPv4", False, False, ["10.0.0.9", "172.19.0.2"]),
        (["127.0.0.0/8"], "IPv4", False, True, ["127.0.0.1", "127.0.0.5"]), (["::1/128"], "IPv6", False, True, ["::1"]),
        (["192.0.2.0/24"], "IPv4", False, False, []), (["172.19.0.0/16", "fd00::/8"], "IPv6", False, False, ["fd00::2"]),
        (["10.0.0.0/8", "0.0.0.0/0"], "IPv4", True, True, ["10.0.0.9", "127.0.0.1", "127.0.0.5", "172.19.0.2"]),
        (["172.19.0.7/16"], "IPv4", False, False, ["172.19.0.2"]),
    ],
)  # fmt: skip
def test_which_addresses_answer_on_node_ports(
    networks: list[str], family: str, match_all: bool, loopback: bool, addresses: list[str]
) -> None:
    found = NodePortAddresses(networks, family)
    assert (found.match_all, found.has_loopback, found.of(ADDRESSES)) == (match_all, loopback, addresses)


def port(**spec: Any) -> ServicePort:
    return next(service_ports(service("s", "10.96.0.1", **spec)))


def end(number: int, zones: str = "", nodes: str = "", **state: bool) -> Endpoint:
    hints = {"zone_hints": frozenset(zones.split()), "node_hints": frozenset(nodes.split())}
    return Endpoint(f"10.0.0.{number}", 80, **hints, **state)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("ends", "zone", "chosen"),
    [
        ([end(1, "a"), end(2, "b")], "a", [1]), ([end(1, "a"), end(2, "b")], "c", [1, 2]),
        ([end(1, "a b"), end(2, "b")], "b", [1, 2]), ([end(1, "a"), end(2)], "a", [1, 2]),
        ([end(1, "a"), end(2)], "", [1, 2]), ([end(1, nodes="here"), end(2, nodes="there")], "a", [1]),
        ([end(1, nodes="here"), end(2)], "a", [1, 2]), ([end(1, nodes="there"), end(2, nodes="there")], "a", [1, 2]),
        ([end(1, "a", "there"), end(2, "b", "here")], "a", [2]), ([end(1, "a", "x"), end(2, "b", "y")], "a", [1]),
        ([end(1, "a", "here"), end(2, "a")], "a", [1, 2]), ([end(1, "b", "here"), end(2, "a")], "a", [2]),
        ([end(1, "a"), end(2, ready=False, serving=False)], "a", [1]),
        ([end(1, "b"), end(2, "a", ready=False, terminating=True)], "a", [1]),
        ([end(1, ready=False, terminating=True), end(2, ready=False)], "a", [1]),
        ([end(1, ready=False, serving=False, terminating=True)], "a", []), ([], "a", []),
    ],
)  # fmt: skip
def test_which_endpoints_cluster_traffic_may_go_to(ends: list[Endpoint], zone: str, chosen: list[int]) -> None:
    labels = {"topology.kubernetes.io/zone": zone} if zone else {}
    found = categorize_endpoints(ends, port(), "here", labels)
    assert [int(e.ip.rpartition(".")[2]) for e in found.cluster] == chosen
    assert (found.local, found.reachable, found.has_any) == ((), found.cluster, bool(chosen))


LOCAL, GOING, DEAD = {"is_local": True}, {"ready": False, "terminating": True}, {"ready": False, "serving": False}


@pytest.mark.parametrize(
    ("spec", "ends", "cluster", "local", "reachable", "has_any"),
    [
        ({"internalTrafficPolicy": "Local"}, [end(1), end(2, **LOCAL)], [], [2], [2], True),
        ({"internalTrafficPolicy": "Local"}, [end(1)], [], [], [], True),
        ({"internalTrafficPolicy": "Local"}, [end(1, **GOING)], [], [], [], True),
        ({"internalTrafficPolicy": "Local"}, [end(1, **DEAD)], [], [], [], False),
        ({"internalTrafficPolicy": "Local"}, [end(1), end(2, **LOCAL, **GOING)], [], [2], [2], True),
        ({"type": "NodePort", "node_port": 30000, "externalTrafficPolicy": "Local"}, [end(1), end(2, **LOCAL, **GOING)],
         [1], [2], [1, 2], True),
        ({"type": "NodePort", "node_port": 30000, "externalTrafficPolicy": "Local"}, [end(1), end(2, **LOCAL)],
         [1, 2], [2], [1, 2], True),
        ({"type": "NodePort", "externalTrafficPolicy": "Local"}, [end(1), end(2, **LOCAL)], [1, 2], [], [1, 2], True),
        ({"type": "NodePort", "node_port": 30000}, [end(1), end(2, **LOCAL)], [1, 2], [], [1, 2], True),
    ],
)  # fmt: skip
def test_which_endpoints_each_policy_may_use(
    spec: dict[str, Any],
    ends: list[Endpoint],
    cluster: list[int],
    local: list[int],
    reachable: list[int],
    has_any: bool,
) -> None:
    found = categorize_endpoints(ends, port(**spec), "here", {})
    numbers = [[int(e.ip.rpartition(".")[2]) for e in some] for some in found[:3]]
    assert (numbers, found.has_any) == ([cluster, local, reachable], has_any)


@pytest.mark.parametrize(
    ("entry", "expected"),
    [
        ({"addresses": ["10.0.0.1"]}, Endpoint("10.0.0.1", 80)),
        ({"addresses": ["10.0.0.1", "10.0.0.2"], "nodeName": "here"}, Endpoint("10.0.0.1", 80, is_local=True)),
        ({"addresses": ["10.0.0.1"], "conditions": None, "hints": None}, Endpoint("10.0.0.1", 80)),
        (
            {"addresses": ["10.0.0.1"], "conditions": {"ready": False, "serving": False, "terminating": True}},
            Endpoint("10.0.0.1", 80, ready=False, serving=False, terminating=True),
        ),
        (
            {"addresses": ["10.0.0.1"], "hints": {"forZones": [{"name": "a"}, {"name": "b"}], "forNodes": [{"name": "n"}]}},
            Endpoint("10.0.0.1", 80, zone_hints=frozenset("ab"), node_hints=frozenset("n")),
        ),
        ({"addresses": []}, None), ({"addresses": ["nonsense"]}, None), ({}, None),
    ],
)  # fmt: skip
def test_what_an_entry_of_a_slice_says(entry: dict[str, Any], expected: Endpoint | None) -> None:
    endpoints = EndpointsMap("here")
    assert endpoints.update(endpoint_slice("s", [entry], port=80))
    assert endpoints[ServicePortName("ns", "s", "", "TCP")] == ((expected,) if expected else ())


def test_slices_of_another_family_or_without_a_port_are_nothing_to_make_rules_for() -> None:
    endpoints = EndpointsMap("here")
    six = endpoint_slice("s", [endpoint("fd00::1")]) | {"addressType": "IPv6"}
    assert not endpoints.update(six)
    assert not endpoints.remove(six)
    assert EndpointsMap("here", "IPv6").update(six)
    for ports in (None, [], [{"name": "", "port": None, "protocol": "TCP"}]):
        assert not endpoints.update(endpoint_slice("s", [endpoint("10.0.0.1")]) | {"ports": ports})
    named = endpoint_slice("s", [endpoint("10.0.0.1")]) | {
        "ports": [{"port": 1}, {"name": "u", "port": 2, "protocol": "UDP"}]
    }
    assert endpoints.update(named)
    assert [endpoints[ServicePortName("ns", "s", *name)] for name in (("", "TCP"), ("u", "UDP"), ("u", "TCP"))] == [
        (Endpoint("10.0.0.1", 1),), (Endpoint("10.0.0.1", 2),), (),
    ]  # fmt: skip
    assert str(Endpoint("fd00::1", 80)) == "[fd00::1]:80"
    assert [str(ServicePortName("ns", "s", name, "TCP")) for name in ("", "http")] == ["ns/s", "ns/s:http"]


def test_what_is_decided_if_nobody_decides() -> None:
    """A kind cluster's configuration, and the defaults of `KubeProxyConfiguration`."""
    assert ProxierConfig() == ProxierConfig(
        "10.244.0.0/16", False, 14, True, (), ConntrackConfig(), 1.0, 30.0, 3600.0, 1000
    )
    assert [ProxierConfig(masquerade_bit=bit).masquerade_mark for bit in (14, 0, 31)] == [
        "0x004000", "0x000001", "0x80000000",
    ]  # fmt: skip
    node = NodeFacts("n", "10.0.0.1", other_addresses=("10.0.0.2",))
    assert node.addresses == ("10.0.0.1", "10.0.0.2")
    assert node.counters == {"ct_state_invalid_dropped_pkts", "localhost_nps_accepted_pkts"}


class Noted(TextRunner):
    """Counts what it is asked, and when."""

    def __init__(self) -> None:
        super().__init__()
        self.asked: list[str] = []
        self.times: list[float] = []

    async def chains(self, table: str) -> list[str]:
        self.asked.append(f"chains {table}")
        return await super().chains(table)

    async def ensure_rule(self, table: str, chain: str, rule: str) -> bool:
        self.asked.append("ensure")
        return await super().ensure_rule(table, chain, rule)

    async def restore_all(self, text: str) -> None:
        self.times.append(asyncio.get_running_loop().time())
        await super().restore_all(text)


def _proxier(sink: TextRunner, node_ip: str = "172.19.0.2", conntrack: Any = None, **config: Any) -> Proxier:
    client = Client(FakeAPI(), "kube-proxy")
    return Proxier(
        client, SharedInformerFactory(client), node_name="here", node_ip=node_ip, clock=Clock(), sink=sink,
        config=ProxierConfig(**config), conntrack=conntrack,
    )  # fmt: skip


def test_once_an_hour_everything_is_written_and_the_jumps_are_looked_at() -> None:
    async def main() -> None:
        sink = Noted()
        proxier = _proxier(sink)
        task = asyncio.create_task(proxier.run())
        await asyncio.sleep(3601 * 2)
        assert [after - sink.times[0] for after in sink.times] == pytest.approx([0, 3600, 7200])
        assert sink.asked.count("ensure") == 3 * 14
        assert proxier.syncs == 3
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)

    run_virtual(main())


@pytest.mark.parametrize(("count", "listed"), [(3, 4), (4, 2)])
def test_in_a_large_cluster_stale_chains_are_looked_for_only_now_and_then(count: int, listed: int) -> None:
    async def main() -> None:
        sink = Noted()
        proxier = _proxier(sink, large_cluster_endpoints=3)
        proxier.on_service(service("s", "10.96.0.1"))
        proxier.on_endpoint_slice(endpoint_slice("s", [endpoint(f"10.0.0.{n}") for n in range(count)]))
        for pause in (0, 10, 20, 0.5):
            await asyncio.sleep(pause)
            await proxier.sync()
        assert sink.asked.count("chains nat") == listed

    run_virtual(main())


def test_a_proxy_of_the_other_family_makes_rules_of_its_own_addresses() -> None:
    async def main() -> None:
        sink = TextRunner()
        proxier = _proxier(sink, "fd00::2", cluster_cidr="fd00:1::/64")
        six = service("s", "10.96.0.1", clusterIPs=["10.96.0.1", "fd00::1"])
        proxier.on_service(six)
        proxier.on_endpoint_slice(endpoint_slice("s", [endpoint("fd00:1::5")]) | {"addressType": "IPv6"})
        await proxier.sync()
        assert "[fd00:1::5]:8080" in sink.restored[-1]
        assert "10.96.0.1" not in sink.restored[-1]
        proxier.on_service_deleted(six)
        proxier.on_endpoint_slice_deleted(endpoint_slice("s", []) | {"addressType": "IPv6"})
        await proxier.sync()
        assert "fd00:1::5" not in sink.restored[-1]
        assert proxier.last_rule_counts == (3, 5)  # no guard of loopback there

    run_virtual(main())


def test_flows_that_cannot_be_read_are_a_line_in_the_log(caplog: pytest.LogCaptureFixture) -> None:
    class Away:
        def udp_flows(self) -> list[Flow]:
            raise OSError("not permitted")

        def forget(self, flows: Any) -> None:
            raise AssertionError

    async def main() -> None:
        proxier = _proxier(TextRunner(), conntrack=Away())
        proxier.on_service(service("s", "10.96.0.1", protocol="UDP"))
        await proxier.sync()
        assert proxier.syncs == 1

    run_virtual(main())
    assert [r.getMessage() for r in caplog.records] == ["stale flows of here are not forgotten: not permitted"]
