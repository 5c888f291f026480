"""What a real kube-proxy writes for Services of many shapes. It runs in a network
namespace that stands for a node, so that the machine's own rules are left alone. Linux,
iptables and root are needed.
"""

from __future__ import annotations

import ctypes
import queue
import socket
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from generators.programs.answer import Answer
from generators.programs.control_plane import ControlPlane, Server, until
from generators.programs.plugins import a_namespace
from lifecycle.agreements.proxy.odd_services import ADDRESS, NODE, ZONE, bare

WHO = "kube-proxy v1.36.2"
MERGE = "application/merge-patch+json"
BY_OTHERS = "service.kubernetes.io/service-proxy-name"
"""Who has this label is none of kube-proxy's business."""
Object = dict[str, Any]
BOTH = "10.96.0.0/16,fd00:96::/112"
NETNS = "answers-proxy"
NETWORK = 0x40000000
"""The kernel's CLONE_NEWNET."""
QUIET = 1.5
"""Seconds in which it writes again, at the latest."""
CONFIGURATION = f"""apiVersion: kubeproxy.config.k8s.io/v1alpha1
kind: KubeProxyConfiguration
mode: iptables
clusterCIDR: 10.244.0.0/16,fd00:10:244::/56
hostnameOverride: {NODE}
clientConnection: {{kubeconfig: KUBECONFIG}}
iptables: {{minSyncPeriod: 100ms, syncPeriod: 30s}}
conntrack: {{maxPerCore: 0}}
"""
PLACES = {"here": NODE, "there": "lifecycle-worker2", "third": "lifecycle-worker3"}


def endpoint(number: int, where: str = "there", **more: Any) -> Object:
    """One of ours; `more`: its conditions, and hints."""
    hints = more.pop("hints", None)
    return {
        "addresses": [f"10.244.{list(PLACES).index(where)}.{number}"],
        "conditions": more,
        "nodeName": PLACES[where],
        **({"hints": hints} if hints else {}),
    }


def zones(*names: str) -> Object:
    """For whom an endpoint is."""
    return {"forZones": [{"name": name} for name in names]}


def nodes(*names: str) -> Object:
    """For whom an endpoint is."""
    return {"forNodes": [{"name": PLACES[name]} for name in names]}


READY = {"ready": True, "serving": True, "terminating": False}
GOING = {"ready": False, "serving": True, "terminating": True}
GONE = {"ready": False, "serving": False, "terminating": True}
HERE, THERE = endpoint(5, "here", **READY), endpoint(6, "there", **READY)
ANYWHERE = (HERE, THERE, endpoint(7, "third", **READY))
INGRESS = {"loadBalancer": {"ingress": [{"ip": "203.0.113.9"}]}}
PROXIED = {"loadBalancer": {"ingress": [{"ip": "203.0.113.9", "ipMode": "Proxy"}]}}
HTTP = [{"name": "http", "port": 80, "targetPort": 8080}]
ON_NODES = [{**HTTP[0], "nodePort": 30080}]
BALANCED = {"type": "LoadBalancer", "ports": ON_NODES}
LOCAL = {"externalTrafficPolicy": "Local"}
STICKY = {
    "sessionAffinity": "ClientIP",
    "sessionAffinityConfig": {"clientIP": {"timeoutSeconds": 60}},
}
SCENES: dict[str, tuple[Object, tuple[Object, ...], Object]] = {
    "one endpoint": ({}, (HERE,), {}),
    "three endpoints": ({}, ANYWHERE, {}),
    "nobody": ({}, (), {}),
    "nobody is ready": ({}, (endpoint(5, "here", ready=False, serving=False),), {}),
    "nothing is said of them": ({}, (endpoint(5, "here"),), {}),
    "UDP": ({"ports": [{**HTTP[0], "protocol": "UDP"}]}, (HERE,), {}),
    "SCTP": ({"ports": [{**HTTP[0], "protocol": "SCTP"}]}, (HERE,), {}),
    "a port without a name": ({"ports": [{"port": 80}]}, (HERE,), {}),
    "those who come back": (STICKY, ANYWHERE, {}),
    "on all nodes": ({"type": "NodePort", "ports": ON_NODES}, ANYWHERE, {}),
    "on all nodes, nobody": ({"type": "NodePort", "ports": ON_NODES}, (), {}),
    "on all nodes, sticky": (
        {"type": "NodePort", "ports": ON_NODES, **STICKY},
        ANYWHERE,
        {},
    ),
    "on the nodes that have one": (
        {"type": "NodePort", "ports": ON_NODES, **LOCAL},
        ANYWHERE,
        {},
    ),
    "on the nodes that have one, not here": (
        {"type": "NodePort", "ports": ON_NODES, **LOCAL},
        (THERE,),
        {},
    ),
    "within the node": ({"internalTrafficPolicy": "Local"}, ANYWHERE, {}),
    "within the node, not here": ({"internalTrafficPolicy": "Local"}, (THERE,), {}),
    "balanced": (BALANCED, ANYWHERE, INGRESS),
    "balanced, nobody": (BALANCED, (), INGRESS),
    "balanced by nobody yet": (BALANCED, ANYWHERE, {}),
    "balanced, and asked for its health": (
        {**BALANCED, **LOCAL, "healthCheckNodePort": 30099},
        ANYWHERE,
        INGRESS,
    ),
    "balanced, not here": (
        {**BALANCED, **LOCAL, "healthCheckNodePort": 30099},
        (THERE,),
        INGRESS,
    ),
    "balanced by who rewrites": (BALANCED, ANYWHERE, PROXIED),
    "balanced without ports of nodes": (
        {"type": "LoadBalancer", "allocateLoadBalancerNodePorts": False},
        (HERE,),
        INGRESS,
    ),
    "fenced": (
        {**BALANCED, "loadBalancerSourceRanges": ["198.51.100.0/24", "192.0.2.7/32"]},
        (HERE,),
        INGRESS,
    ),
    "fenced, the node inside": (
        {**BALANCED, "loadBalancerSourceRanges": ["172.19.0.0/16"]},
        (HERE,),
        INGRESS,
    ),
    "fenced, nobody": (
        {**BALANCED, "loadBalancerSourceRanges": ["198.51.100.0/24"]},
        (),
        INGRESS,
    ),
    "addresses outside": ({"externalIPs": ["192.0.2.1", "192.0.2.2"]}, ANYWHERE, {}),
    "addresses outside, nobody": ({"externalIPs": ["192.0.2.1"]}, (), {}),
    "addresses outside, on the nodes that have one": (
        {"externalIPs": ["192.0.2.1"], **LOCAL},
        ANYWHERE,
        {},
    ),
    "one is going": ({}, (HERE, endpoint(6, "there", **GOING)), {}),
    "all are going": (
        {},
        (endpoint(5, "here", **GOING), endpoint(6, "there", **GOING)),
        {},
    ),
    "all are gone": (
        {},
        (endpoint(5, "here", **GONE), endpoint(6, "there", **GONE)),
        {},
    ),
    "the one here is going": (
        {**BALANCED, **LOCAL, "healthCheckNodePort": 30099},
        (endpoint(5, "here", **GOING), THERE),
        INGRESS,
    ),
    "for zones": (
        {},
        (
            endpoint(5, "there", **READY, hints=zones(ZONE)),
            endpoint(6, "third", **READY, hints=zones("other")),
        ),
        {},
    ),
    "for zones, one is for nobody": (
        {},
        (endpoint(5, "there", **READY, hints=zones(ZONE)), THERE),
        {},
    ),
    "for other zones": ({}, (endpoint(5, "there", **READY, hints=zones("other")),), {}),
    "for nodes": (
        {"trafficDistribution": "PreferSameNode"},
        (
            endpoint(5, "here", **READY, hints=nodes("here")),
            endpoint(6, "there", **READY, hints=nodes("there")),
        ),
        {},
    ),
    "two ports": (
        {"ports": [HTTP[0], {"name": "dns", "port": 53, "protocol": "UDP"}]},
        ANYWHERE,
        {},
    ),
    "without a head": ({"clusterIP": "None"}, (HERE,), {}),
    "an alias": ({"type": "ExternalName", "externalName": "example.com"}, (), {}),
}
"""What is called what: the Service's spec, its endpoints, the Service's status."""


def answers(plane: ControlPlane, programs: Path) -> Iterator[Answer]:
    """All of it. The API server is one of its own, of both families."""
    server = plane.api_server("both", f"--service-cluster-ip-range={BOTH}")
    admin = server.admin
    node = {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": NODE, "labels": {"topology.kubernetes.io/zone": ZONE}},
        "status": {"addresses": [{"type": "InternalIP", "address": ADDRESS}]},
    }
    admin("POST", "/api/v1/nodes", node)
    room = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "proxied"}}
    admin("POST", "/api/v1/namespaces", room)
    path = "/api/v1/namespaces/proxied"
    aside = {"metadata": {"labels": {BY_OTHERS: "nobody"}}}
    kubernetes = "/api/v1/namespaces/default/services/kubernetes"
    admin("PATCH", kubernetes, aside, content_type=MERGE)
    with a_namespace(NETNS) as netns, _kube_proxy(plane, server, netns, programs):
        until("kube-proxy to write", lambda: "KUBE-SERVICES" in _saved())
        for number, (what, (spec, endpoints, status)) in enumerate(SCENES.items()):
            service = _service(number, spec)
            made = admin("POST", f"{path}/services", service)
            if made.status != 201:
                raise ValueError(f"{what}: {made.message}")
            where = f"{path}/services/web"
            if status:
                seen = admin("PUT", f"{where}/status", {**made.body, "status": status})
                made = seen
            slices = "/apis/discovery.k8s.io/v1/namespaces/proxied/endpointslices"
            sliced = _slice(made.body, endpoints)
            if sliced:
                reply = admin("POST", slices, sliced)
                if reply.status != 201:
                    raise ValueError(f"{what}: {reply.message}")
            time.sleep(QUIET)
            yield Answer(
                f"shapes/{what}",
                WHO,
                "a Service and its endpoints on a node: what iptables-save prints then",
                {
                    "service": bare(made.body),
                    "slice": sliced,
                    "saved": _saved().splitlines(),
                },
            )
            admin("DELETE", where)
            admin("DELETE", f"{slices}/web-1")
            until("it to be gone", lambda: "proxied/web" not in _saved())


def _service(number: int, spec: Object) -> Object:
    own = {"clusterIP": f"10.96.7.{number + 1}", "ports": HTTP, **spec}
    if own.get("type") == "ExternalName":
        del own["clusterIP"]
    kind = {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "web"}}
    return {**kind, "spec": own}


def _slice(service: Object, endpoints: tuple[Object, ...]) -> Object | None:
    if not endpoints:
        return None
    return {
        "apiVersion": "discovery.k8s.io/v1",
        "kind": "EndpointSlice",
        "metadata": {
            "name": "web-1",
            "namespace": "proxied",
            "labels": {"kubernetes.io/service-name": "web"},
        },
        "addressType": "IPv4",
        "endpoints": list(endpoints),
        "ports": [
            {
                "name": port.get("name", ""),
                "port": port["targetPort"],
                "protocol": port["protocol"],
            }
            for port in service["spec"]["ports"]
        ],
    }


def _saved() -> str:
    return subprocess.run(
        ["ip", "netns", "exec", NETNS, "iptables-save"],
        capture_output=True,
        text=True,
        check=True,
    ).stdout


@contextmanager
def _kube_proxy(
    plane: ControlPlane, server: Server, netns: str, programs: Path
) -> Iterator[None]:
    for command in (
        ("link", "set", "lo", "up"),
        ("link", "add", "node0", "type", "bridge"),
        ("address", "add", f"{ADDRESS}/16", "dev", "node0"),
        ("link", "set", "node0", "up"),
    ):
        subprocess.run(["ip", "-n", NETNS, *command], check=True)
    _relay(netns, server.port)
    kubeconfig = server.kubeconfig("system:kube-proxy", "system:masters")
    text = CONFIGURATION.replace("KUBECONFIG", str(kubeconfig))
    config = plane.file("kube-proxy.yaml", text)
    with (plane.folder / "kube-proxy.log").open("wb") as log:
        process = subprocess.Popen(
            [
                "ip",
                "netns",
                "exec",
                NETNS,
                programs / "kube-proxy",
                f"--config={config}",
            ],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
        )
        try:
            yield
        finally:
            process.kill()
            process.wait()


def _relay(netns: str, port: int) -> None:
    """What is said to the port in there is said to ours: a thread may live in another
    network than its process.
    """
    came: queue.Queue[socket.socket] = queue.Queue()
    listens = threading.Event()

    def inside() -> None:
        with open(netns) as file:
            ctypes.CDLL(None).setns(file.fileno(), NETWORK)
        with socket.create_server(("127.0.0.1", port)) as listener:
            listens.set()
            while True:
                came.put(listener.accept()[0])

    def outside() -> None:
        while True:
            one = came.get()
            other = socket.create_connection(("127.0.0.1", port))
            for pair in ((one, other), (other, one)):
                threading.Thread(target=_pump, args=pair, daemon=True).start()

    threading.Thread(target=inside, daemon=True).start()
    threading.Thread(target=outside, daemon=True).start()
    listens.wait()


def _pump(source: socket.socket, target: socket.socket) -> None:
    with suppress(OSError):
        while piece := source.recv(1 << 16):
            target.sendall(piece)
        target.shutdown(socket.SHUT_WR)
