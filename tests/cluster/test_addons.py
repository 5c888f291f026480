"""The proxies of hollow nodes, and the cluster's DNS, in a whole cluster."""

from __future__ import annotations

import asyncio
import re
import socket
from typing import Any

import dns.message
import dns.query
import pytest

import lifecycle
from lifecycle.api.resources import resource
from lifecycle.cluster.rehearsal import RehearsedCluster, rehearse
from lifecycle.dns.server import ClusterDNS
from lifecycle.dns.sockets import open_sockets

SERVICES, DEPLOYMENTS = resource("services"), resource("deployments.apps")


async def _web(cluster: RehearsedCluster, replicas: int = 3) -> None:
    labels = {"app": "web"}
    template = {"metadata": {"labels": labels}, "spec": {"containers": [{"name": "c", "image": "nginx:1.27"}]}}
    spec = {"replicas": replicas, "selector": {"matchLabels": labels}, "template": template}
    client = cluster.client("me")
    await client.create(DEPLOYMENTS, {"metadata": {"name": "web"}, "spec": spec}, "default")
    await client.create(
        SERVICES, {"metadata": {"name": "web"}, "spec": {"selector": labels, "ports": [{"port": 80}]}}, "default"
    )
    await asyncio.sleep(15)


def test_the_rules_of_any_node_can_be_looked_at_and_follow_the_pods() -> None:
    async def scene(cluster: RehearsedCluster) -> None:
        assert cluster.proxies is not None
        await _web(cluster)
        texts = [await cluster.proxies.iptables_save(node) for node in cluster.kubelets]
        assert [len(re.findall(r"-j DNAT", text)) for text in texts] == [3, 3, 3]
        scale = {"spec": {"replicas": 1}}
        await cluster.client("me").patch(DEPLOYMENTS, "web", "default", scale)
        await asyncio.sleep(40)
        after = await cluster.proxies.iptables_save("lifecycle-worker", "nat")
        assert after.count("-j DNAT") == 1
        assert "*filter" not in after
        with pytest.raises(KeyError):
            await cluster.proxies.iptables_save("nowhere")

    rehearse(scene)


def test_nobody_who_does_not_ask_pays() -> None:
    async def scene(cluster: RehearsedCluster) -> list[Any]:
        await _web(cluster)
        return cluster.requests("kube-proxy") + cluster.requests("coredns")

    assert rehearse(scene) == []


async def _until_known(server: ClusterDNS, name: str) -> None:
    """DNS learns of a Service through its watch, a moment after it was written."""
    services = server.index
    async with asyncio.timeout(60):
        while server.answer(name, "A").rcode != "NOERROR":  # noqa: ASYNC110  # a watch wakes nobody but its handlers
            await asyncio.sleep(0.01)
    assert services.modified


def test_dns_of_a_running_cluster_answers_on_loopback() -> None:
    with lifecycle.up(nodes=1) as cluster:
        assert cluster.cluster is not None
        server = cluster.cluster.dns
        assert server is not None
        core = cluster.client.CoreV1Api()
        body = {"metadata": {"name": "web"}, "spec": {"ports": [{"port": 80}]}}
        made = core.create_namespaced_service("default", body)
        name = "web.default.svc.cluster.local"
        cluster.run(_until_known(server, name))
        for ask in (dns.query.udp, dns.query.tcp):
            answer = ask(dns.message.make_query(name, "A"), "127.0.0.1", port=server.port, timeout=5)
            assert [item.address for item in answer.answer[0]] == [made.spec.cluster_ip]
        assert core.read_namespaced_service("kube-dns", "kube-system").spec.cluster_ip == "10.96.0.10"
        servers = dns.query.udp(dns.message.make_query("cluster.local", "NS"), "127.0.0.1", port=server.port, timeout=5)
        assert servers.answer[0][0].target.to_text() == "kube-dns.kube-system.svc.cluster.local."
        port = server.port
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as free:
        free.bind(("127.0.0.1", port))  # nobody listens there any more


def test_both_can_be_left_out() -> None:
    with lifecycle.up(nodes=1, without=("proxy", "dns")) as cluster:
        assert cluster.cluster is not None
        assert cluster.cluster.dns is None
        assert cluster.cluster.proxies is None
        assert cluster.client.CoreV1Api().list_namespaced_service("kube-system").items == []


def test_udp_and_tcp_get_the_same_number_even_if_one_of_them_is_taken() -> None:
    tcp, udp = open_sockets()
    try:
        assert tcp.getsockname() == udp.getsockname()
        with pytest.raises(OSError, match=r"in use$"):
            open_sockets(port=tcp.getsockname()[1])
    finally:
        tcp.close()
        udp.close()
