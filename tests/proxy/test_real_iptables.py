"""The rules in a real kernel: loaded, printed, and balanced through."""

from __future__ import annotations

import asyncio
from collections import Counter

import pytest

from lifecycle.agreements.proxy.iptables_rules import recorded_objects
from lifecycle.api.loop.clock import Clock
from lifecycle.api.resources import resource
from lifecycle.client.rest import Client
from lifecycle.client.shared_informer import SharedInformerFactory
from lifecycle.cluster.packet_laboratory import PODS, plug_in_pods, who_answers
from lifecycle.inspector import open_recording
from lifecycle.proxy.iptables.config import ProxierConfig
from lifecycle.proxy.iptables.proxier import Proxier
from lifecycle.proxy.iptables.runner import CommandRunner, Runner, TextRunner
from lifecycle.proxy.iptables.sync_proxy_rules import NodeFacts, sync_proxy_rules
from lifecycle.proxy.iptables.tables import Tables
from tests.conftest import RECORDINGS
from tests.fake_api import FakeAPI
from tests.proxy.namespace import inside, network_namespace, saved
from tests.proxy.shapes import NODE, both_maps, endpoint, endpoint_slice, everything, rules, service

pytestmark = pytest.mark.real


def test_the_kernel_keeps_our_rules_as_our_model_of_it_says() -> None:
    """Every shape of Service, and all of a recorded cluster: `iptables-restore`, then `iptables-save`, compared whole."""
    without_counters = NodeFacts(NODE.name, NODE.ip, NODE.labels, frozenset())
    services, slices = recorded_objects(open_recording(str(RECORDINGS / "kind-1.36.2")), "services")
    for objects in (everything(), (services, slices)):
        text = sync_proxy_rules(*both_maps(*objects, NODE), without_counters, ProxierConfig()).text()
        tables = Tables()
        tables.restore(text)
        with network_namespace("model") as namespace:
            inside(namespace, "iptables-restore", "-w", "5", "--noflush", "--counters", stdin=text)
            assert saved(namespace) == tables.save()
            stale = rules([], [], existing_nat_chains=tables.chains("nat")).text().replace(COUNTED, "")
            inside(namespace, "iptables-restore", "-w", "5", "--noflush", stdin=stale)
            tables.restore(stale)
            assert saved(namespace) == tables.save()
            assert "KUBE-SVC" not in saved(namespace)


COUNTED = "-m nfacct --nfacct-name ct_state_invalid_dropped_pkts "


async def _proxy(sink: Runner) -> None:
    """Run a proxier until it has written its rules once."""
    api = FakeAPI()
    client = Client(api, "kube-proxy")
    services, slices = resource("services"), resource("endpointslices.discovery.k8s.io")
    ends = [endpoint(ip, "here") for ip in PODS]
    sticky = {"sessionAffinity": "ClientIP", "sessionAffinityConfig": {"clientIP": {"timeoutSeconds": 60}}}
    await client.create(services, service("web", "10.96.0.50", type="NodePort", node_port=30050), "ns")
    await client.create(services, service("sticky", "10.96.0.51", **sticky), "ns")
    await client.create(services, service("gone", "10.96.0.52"), "ns")
    for name in ("web", "sticky"):
        await client.create(slices, endpoint_slice(name, ends), "ns")
    informers = SharedInformerFactory(client)
    proxier = Proxier(client, informers, node_name="here", node_ip=PODS[0], clock=Clock(), sink=sink)
    task = asyncio.create_task(proxier.run())
    async with asyncio.timeout(15):
        await proxier.synced.wait()
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    await informers.stop()


def test_connections_are_balanced_through_the_real_rules() -> None:
    with network_namespace("balance") as namespace:
        plug_in_pods(namespace)
        asyncio.run(_proxy(CommandRunner(namespace)))

        counted = "nfacct" in saved(namespace)
        model = TextRunner(counters=counted)
        asyncio.run(_proxy(model))
        assert saved(namespace) == model.tables.save()

        calls = [
            ("cluster IP", "10.96.0.50", 80, 60),
            ("node port", PODS[1], 30050, 60),
            ("sticky", "10.96.0.51", 80, 12),
            ("gone", "10.96.0.52", 80, 1),
        ]
        answers = who_answers(namespace, calls)
    for way in ("cluster IP", "node port"):
        reached = Counter(answers[way])
        assert set(reached) == set(PODS), reached  # by chance one of three is missed once in 10^10 runs
        assert min(reached.values()) >= 3
    assert len(set(answers["sticky"])) == 1
    assert answers["sticky"][0] in PODS
    assert answers["gone"] == ["ConnectionRefusedError"]


def test_a_command_runner_must_be_told_its_namespace() -> None:
    with pytest.raises(
        ValueError, match=r"a network namespace is needed: the machine's own rules are not ours to change$"
    ):
        CommandRunner("")
