"""Real packets through our rules: a network namespace, three pods' addresses, and
connections that are counted.

Everything happens inside a namespace that is made for it and deleted afterwards; the
machine's own rules are neither read nor changed. Needs Linux, root and the programs
`ip`, `iptables`, `iptables-save` and `iptables-restore`; `reason_not_here` says what is
missing.

Upstream: none; Kubernetes' e2e suite asks the same of whole clusters
(`test/e2e/network/service.go`).
"""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

from lifecycle.api.http.wire import Object
from lifecycle.proxy.endpoints_map import EndpointsMap
from lifecycle.proxy.iptables.chains import JUMP_CHAINS
from lifecycle.proxy.iptables.config import ProxierConfig
from lifecycle.proxy.iptables.runner import CommandRunner
from lifecycle.proxy.iptables.sync_proxy_rules import NodeFacts, sync_proxy_rules
from lifecycle.proxy.service_map import ServicePortMap

PODS = ("10.244.9.1", "10.244.9.2", "10.244.9.3")
PROGRAMS = ("ip", "iptables", "iptables-save", "iptables-restore")
SECONDS = 20

RECORDED: dict[str, Counter[str]] = {
    "cluster IP": Counter({"10.244.9.1": 19, "10.244.9.2": 22, "10.244.9.3": 19}),
    "node port": Counter({"10.244.9.1": 21, "10.244.9.2": 17, "10.244.9.3": 22}),
    "sticky": Counter({"10.244.9.2": 60}),
    "no pods": Counter({"ConnectionRefusedError": 60}),
}
"""What `balance(60)` counted on Debian 12 with iptables 1.8.9."""

CLIENT = """
import json, socket, sys, threading
pods, calls = json.loads(sys.argv[1])
def serve(ip, listener):
    while True:
        connection, _ = listener.accept()
        connection.sendall(ip.encode()); connection.close()
for ip in pods:
    listening = socket.create_server((ip, 8080), backlog=64)
    threading.Thread(target=serve, args=(ip, listening), daemon=True).start()
answers = {}
for name, ip, port, times in calls:
    answers[name] = []
    for _ in range(times):
        try:
            with socket.create_connection((ip, port), timeout=5) as connection:
                answers[name].append(connection.recv(64).decode())
        except OSError as error:
            answers[name].append(type(error).__name__)
print(json.dumps(answers))
"""


def reason_not_here() -> str:
    """Why this machine cannot do it; empty if it can."""
    if sys.platform != "linux" or os.geteuid() != 0:
        return "network namespaces need Linux and root"
    missing = [program for program in PROGRAMS if shutil.which(program) is None]
    if missing:
        return f"not installed: {', '.join(missing)}"
    name = f"lifecycle-try-{os.getpid()}"
    added = subprocess.run(
        ["ip", "netns", "add", name], capture_output=True, timeout=SECONDS, check=False
    )
    if added.returncode:
        return "no network namespace can be made"
    try:  # some containers may make namespaces, but not load rules in them
        tried = subprocess.run(
            ["ip", "netns", "exec", name, "iptables", "-t", "nat", "-L"],
            capture_output=True,
            timeout=SECONDS,
            check=False,
        )
    finally:
        subprocess.run(["ip", "netns", "del", name], timeout=SECONDS, check=False)
    return "" if tried.returncode == 0 else "iptables does not work in a namespace"


def balance(times: int) -> dict[str, Counter[str]]:
    """Who answered how often, for four ways to call three pods. Raises RuntimeError
    with what a program said if one fails.
    """
    namespace = f"lifecycle-lab-{os.getpid()}"
    _run("ip", "netns", "add", namespace)
    try:
        _run("ip", "netns", "exec", namespace, "ip", "link", "set", "lo", "up")
        plug_in_pods(namespace)
        with ThreadPoolExecutor(
            1, "rules"
        ) as thread:  # a notebook has a loop of its own already
            thread.submit(asyncio.run, _load(CommandRunner(namespace))).result()
        calls = [
            ("cluster IP", "10.96.0.50", 80, times),
            ("node port", PODS[1], 30050, times),
            ("sticky", "10.96.0.51", 80, times),
            ("no pods", "10.96.0.52", 80, times),
        ]
        answers = who_answers(namespace, calls)
    finally:
        subprocess.run(["ip", "netns", "del", namespace], timeout=SECONDS, check=False)
    return {name: Counter(answered_by) for name, answered_by in answers.items()}


def plug_in_pods(namespace: str) -> None:
    """Give a network namespace the addresses of `PODS`, on one end of a wire. Raises
    RuntimeError.
    """
    inside = ("ip", "netns", "exec", namespace, "ip")
    _run(*inside, "link", "add", "pods", "type", "veth", "peer", "name", "other-end")
    _run(*inside, "link", "set", "other-end", "up")
    for ip in PODS:
        _run(*inside, "addr", "add", f"{ip}/24", "dev", "pods")
    _run(*inside, "link", "set", "pods", "up")
    _run(*inside, "route", "add", "default", "dev", "pods")


def who_answers(
    namespace: str, calls: Sequence[tuple[str, str, int, int]]
) -> dict[str, list[str]]:
    """Let every pod answer with its address, and make `calls`: a name, where to (IP,
    port), how many times. Raises RuntimeError.

    What each call got, by name: an address, or the name of the exception.
    """
    stdout = _run(
        "ip",
        "netns",
        "exec",
        namespace,
        sys.executable,
        "-c",
        CLIENT,
        json.dumps([PODS, calls]),
    )
    answers: dict[str, list[str]] = json.loads(stdout)
    return answers


async def _load(runner: CommandRunner) -> None:
    """What kube-proxy does in its first sync."""
    ports, endpoints = ServicePortMap(), EndpointsMap("here")
    for obj in _services():
        ports.update(obj)
        if obj["metadata"]["name"] != "gone":
            endpoints.update(_slice_of(obj))
    for jump in JUMP_CHAINS:
        await runner.ensure_chain(jump.table, jump.destination)
        await runner.ensure_rule(jump.table, jump.source, jump.rule)
    node = NodeFacts("here", PODS[0], {}, frozenset())
    await runner.restore_all(
        sync_proxy_rules(ports, endpoints, node, ProxierConfig()).text()
    )


def _services() -> list[Object]:
    shapes: dict[str, Object] = {
        "web": {"type": "NodePort", "clusterIP": "10.96.0.50"},
        "sticky": {
            "clusterIP": "10.96.0.51",
            "sessionAffinity": "ClientIP",
            "sessionAffinityConfig": {"clientIP": {"timeoutSeconds": 60}},
        },
        "gone": {"clusterIP": "10.96.0.52"},
    }
    port = {"port": 80, "protocol": "TCP"}
    return [
        {
            "metadata": {"name": name, "namespace": "lab"},
            "spec": {
                **spec,
                "ports": [{**port, "nodePort": 30050} if name == "web" else port],
            },
        }
        for name, spec in shapes.items()
    ]


def _slice_of(service: Object) -> Object:
    name = service["metadata"]["name"]
    return {
        "metadata": {
            "name": f"{name}-1",
            "namespace": "lab",
            "labels": {"kubernetes.io/service-name": name},
        },
        "addressType": "IPv4",
        "endpoints": [{"addresses": [ip], "nodeName": "here"} for ip in PODS],
        "ports": [{"name": "", "port": 8080, "protocol": "TCP"}],
    }


def _run(*command: str) -> str:
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=SECONDS, check=False
    )
    if done.returncode:
        raise RuntimeError(f"{' '.join(command[:6])}: {done.stderr.strip()}")
    return done.stdout
