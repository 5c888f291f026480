"""Hollow pods reach Services: through the rules of their node's kube-proxy, by name where the cluster has a DNS."""

from __future__ import annotations

import asyncio
import errno
import json
import os
import random
import time
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from lifecycle.api.http.wire import Object
from lifecycle.api.resources import resource
from lifecycle.cluster.cluster_addons import DNS_ADDRESS
from lifecycle.cluster.hollow_ways import HollowWays
from lifecycle.cluster.rehearsal import RehearsedCluster, rehearse
from tests.cluster.conftest import Kubectl
from tests.cri.hollow.shell.test_shell import NOT_RUN

IMAGE = "registry.k8s.io/e2e-test-images/agnhost:2.63.0"
NODE_PORT = 30080


def pod(name: str, *args: str, host_network: bool = False) -> Object:
    container = {"name": "c", "image": IMAGE, "args": list(args)}
    spec = {"containers": [container], "hostNetwork": host_network}
    return {"kind": "Pod", "apiVersion": "v1", "metadata": {"name": name, "labels": {"app": name[:3]}}, "spec": spec}


def service(name: str, app: str, **spec: Any) -> Object:
    ports = [{"port": 80, "targetPort": 9376, **({"nodePort": NODE_PORT} if spec.get("type") else {})}]
    return {
        "kind": "Service",
        "apiVersion": "v1",
        "metadata": {"name": name},
        "spec": {"selector": {"app": app}, "ports": ports, **spec},
    }


Script = Callable[[str], Awaitable[tuple[int, str, str]]]


def play(scene: Callable[[RehearsedCluster, Script], Awaitable[None]], *, host_network: bool = False) -> None:
    """Two servers and a Service for them, one for nobody, and a pod that runs scripts."""

    async def main(cluster: RehearsedCluster) -> None:
        client = cluster.client("kubectl")
        for name in ("web-1", "web-2"):
            await client.create(resource("pods"), pod(name, "serve-hostname"), "default")
        await client.create(resource("pods"), pod("client", "pause", host_network=host_network), "default")
        for each in (
            service("web", "web", clusterIP="10.96.0.50", type="NodePort"),
            service("sticky", "web", clusterIP="10.96.0.51", sessionAffinity="ClientIP"),
            service("none", "nobody", clusterIP="10.96.0.52"),
        ):
            await client.create(resource("services"), each, "default")
        await asyncio.sleep(60)
        found = await client.get(resource("pods"), "client", "default")
        container_id = found["status"]["containerStatuses"][0]["containerID"].partition("://")[2]
        runtime = cluster.runtimes[found["spec"]["nodeName"]]

        async def script(text: str) -> tuple[int, str, str]:
            said = await runtime.exec_sync(container_id, ("sh", "-c", text), 0)
            return said.exit_code, said.stdout, said.stderr

        await scene(cluster, script)

    rehearse(main)


@pytest.mark.parametrize("host_network", [False, True])
def test_a_services_address_leads_to_its_pods(host_network: bool) -> None:
    async def scene(cluster: RehearsedCluster, script: Script) -> None:
        many = "for i in $(seq 20); do curl -s 10.96.0.50; echo; done"
        code, out, _ = await script(many)
        assert (code, set(out.split())) == (0, {"web-1", "web-2"})
        code, out, _ = await script(many.replace("0.50", "0.51"))
        assert (code, len(set(out.split()))) == (0, 1), "the first choice is kept"

    play(scene, host_network=host_network)


def test_a_node_port_leads_to_pods_of_whichever_node() -> None:
    async def scene(cluster: RehearsedCluster, script: Script) -> None:
        for node in await cluster.items("nodes", ""):
            address = node["status"]["addresses"][0]["address"]
            code, out, _ = await script(f"curl -s {address}:{NODE_PORT}")
            assert (code, out[:4]) == (0, "web-")

    play(scene)


def test_who_has_no_pods_refuses_and_what_is_no_service_is_not_played() -> None:
    async def scene(cluster: RehearsedCluster, script: Script) -> None:
        refused = "curl: (7) Failed to connect to 10.96.0.52 port 80 after 0 ms: Couldn't connect to server\n"
        assert await script("curl -s 10.96.0.52") == (7, "", refused)
        assert await script("nc -v 10.96.0.52 80") == (
            1,
            "",
            "nc: connect to 10.96.0.52 port 80 (tcp) failed: Connection refused\n",
        )
        assert await script("nc 10.96.0.52 80") == (1, "", "")
        assert await script("curl -s 10.96.7.7") == (126, "", NOT_RUN.format("curl -s 10.96.7.7"))
        assert await script("curl -s web") == (126, "", NOT_RUN.format("curl -s web")), "there is no DNS here"

    play(scene)


def test_nc_connects_and_says_what_it_hears() -> None:
    async def scene(cluster: RehearsedCluster, script: Script) -> None:
        connected = "Connection to 10.96.0.50 80 port [tcp/*] succeeded!\n"
        assert await script("nc -v -z -w 2 10.96.0.50 80") == (0, "", connected)
        code, out, said = await script("echo hello | nc -v -t -w 2 10.96.0.50 80")
        assert (code, out.splitlines()[0], said) == (0, "HTTP/1.1 400 Bad Request", connected)
        code, out, said = await script("printf 'GET / HTTP/1.1\\r\\n\\r\\n' | nc 10.96.0.50 80")
        assert (code, out.splitlines()[0], out[-5:-1], said) == (0, "HTTP/1.1 200 OK", "web-", "")
        for text in ("nc -u 10.96.0.50 80", "nc -l 80", "nc 10.96.0.50", "nslookup web", "dig +short a"):
            assert await script(text) == (126, "", NOT_RUN.format(text))

    play(scene)


def test_a_service_leads_datagrams_by_the_rules_for_udp() -> None:
    async def scene(cluster: RehearsedCluster, script: Script) -> None:
        client = cluster.client("kubectl")
        await client.create(resource("pods"), pod("ech-1", "netexec"), "default")
        both = [
            {"name": name, "port": 80, "targetPort": port, "protocol": name.upper()}
            for name, port in (("tcp", 8080), ("udp", 8081))
        ]
        spec = {"clusterIP": "10.96.0.60", "selector": {"app": "ech"}, "ports": both}
        body = {"kind": "Service", "apiVersion": "v1", "metadata": {"name": "echo"}, "spec": spec}
        await client.create(resource("services"), body, "default")
        await asyncio.sleep(60)
        assert await script("echo hostName | nc -w 1 -u 10.96.0.60 80") == (0, "ech-1", "")
        assert await script("echo serverport | nc -w 1 -u 10.96.0.60 80") == (0, "8081", "")
        assert await script("curl -s 10.96.0.60/serverport") == (0, "8080", "")
        assert await script("echo hostName | nc -w 1 -u 10.96.0.50 80") == (
            126,
            "",
            NOT_RUN.format("nc -w 1 -u 10.96.0.50 80"),
        )

    play(scene)


def test_rules_are_asked_as_they_are_now() -> None:
    async def scene(cluster: RehearsedCluster, script: Script) -> None:
        assert (await script("curl -s 10.96.0.50"))[0] == 0
        for name in ("web-1", "web-2"):
            await cluster.client("kubectl").delete(resource("pods"), name, "default", grace_period=0)
        await asyncio.sleep(60)
        assert (await script("curl -s 10.96.0.50"))[0] == 7

    play(scene)


def test_without_proxies_no_service_is_reached() -> None:
    async def main(cluster: RehearsedCluster) -> None:
        assert cluster.proxies is None
        client = cluster.client("kubectl")
        await client.create(resource("pods"), pod("client", "pause"), "default")
        await asyncio.sleep(60)
        found = await client.get(resource("pods"), "client", "default")
        container_id = found["status"]["containerStatuses"][0]["containerID"].partition("://")[2]
        runtime = cluster.runtimes[found["spec"]["nodeName"]]
        said = await runtime.exec_sync(container_id, ("curl", "10.96.0.1"), 0)
        assert (said.exit_code, said.stderr) == (126, NOT_RUN.format("curl 10.96.0.1"))

    rehearse(main, without=("proxy",))


def test_a_packet_that_is_refused_or_dropped_is_an_error() -> None:
    async def main(cluster: RehearsedCluster) -> None:
        assert cluster.proxies is not None
        client = cluster.client("kubectl")
        await client.create(resource("services"), service("none", "nobody", clusterIP="10.96.0.52"), "default")
        local = service("local", "nobody", clusterIP="10.96.0.53", internalTrafficPolicy="Local")
        await client.create(resource("services"), local, "default")
        ready = {"addresses": ["10.244.9.9"], "conditions": {"ready": True}, "nodeName": "lifecycle-worker2"}
        piece = {
            "kind": "EndpointSlice",
            "apiVersion": "discovery.k8s.io/v1",
            "metadata": {"name": "local-x", "labels": {"kubernetes.io/service-name": "local"}},
            "addressType": "IPv4",
            "ports": [{"name": "", "port": 80}],
            "endpoints": [ready],
        }
        await client.create(resource("endpointslices.discovery.k8s.io"), piece, "default")
        await asyncio.sleep(60)
        ways = HollowWays(cluster.proxies, lambda: None, random.Random(1))
        way = ways.of("lifecycle-worker", "172.18.0.3")
        for address, number in (("10.96.0.52", errno.ECONNREFUSED), ("10.96.0.53", errno.ETIMEDOUT)):
            with pytest.raises(OSError, match=os.strerror(number) + "$"):
                await way.lead("10.244.1.9", address, 80)

    rehearse(main)


def test_names_are_asked_of_the_clusters_dns_only() -> None:
    elsewhere: Any = object()
    for dns, server in ((None, DNS_ADDRESS), (elsewhere, "192.0.2.1")):
        ways = HollowWays(None, lambda dns=dns: dns, random.Random(1))  # type: ignore[arg-type,misc]
        with pytest.raises(KeyError):
            ways.records(server, "web", "A")


def test_names_of_services_lead_to_them(kubectl: Kubectl, namespace: str) -> None:
    for each in (pod("web-1", "serve-hostname"), pod("client", "pause"), service("web", "web")):
        kubectl("create", "-f", "-", stdin=json.dumps(each))
    alias = {"type": "ExternalName", "externalName": f"web.{namespace}.svc.cluster.local"}
    body = {"kind": "Service", "apiVersion": "v1", "metadata": {"name": "alias"}, "spec": alias}
    kubectl("create", "-f", "-", stdin=json.dumps(body))
    kubectl("wait", "--for=condition=Ready", "pod/web-1", "pod/client", "--timeout=60s")

    def until(text: str, code: int) -> str:
        """What a script says once it ends so: DNS and rules follow in their own time."""
        end = time.monotonic() + 60
        while (ran := kubectl("exec", "client", "--", "sh", "-c", text, check=False)).returncode != code:
            assert time.monotonic() < end, ran
        return ran.stdout + ran.stderr

    for name in ("web", f"web.{namespace}", f"web.{namespace}.svc.cluster.local", "alias"):
        assert until(f"curl -s {name}", 0) == "web-1"
    address = kubectl("get", "service", "web", "-o", "jsonpath={.spec.clusterIP}").stdout
    assert f"Address: {address}\n" in until("nslookup web", 0)
    assert "server can't find nobody" in until("nslookup nobody", 1)
    assert "curl: (6) Could not resolve host: nobody" in until("curl -s nobody", 6)
    assert "wget: bad address 'nobody'" in until("wget -qO- nobody", 1)
    assert 'nc: getaddrinfo for host "nobody" port 1: Name or service not known' in until("nc nobody 1", 1)
    assert f"nameserver {DNS_ADDRESS}\n" in until("cat /etc/resolv.conf", 0)
    whole = f"web.{namespace}.svc.cluster.local"
    assert until("dig +notcp +noall +answer +search web A", 0) == f"{whole}.\t30\tIN\tA\t{address}\n"
    assert until(f"dig +tcp +short {whole}", 0) == f"{address}\n"
    assert until("dig +noall +answer web A", 0) == "", "nothing is searched unless it is asked for"
    assert f"CNAME\t{whole}.\n" in until("dig +noall +answer +search alias cname", 0)
    assert until("getent hosts web", 0) == f"{address:<15} web\n"
    assert until("getent hosts client", 0).split()[1] == "client", "as /etc/hosts says"
    assert until("getent hosts nobody", 2)
