"""Kinds of attack on a node's kubelet, through the node's proxy, and on what a kubelet does for a pod.

Logs from odd places, ports and commands by the hundred; hooks, gates, volumes of many parts, containers that come later.
"""

from __future__ import annotations

import asyncio
from typing import Any

from benchmarks.attacks.attacker import Attacker
from benchmarks.attacks.bodies import MAPS, MERGE, PODS, SPACE, STRATEGIC, config_map, pod
from benchmarks.attacks.by_multiplying import EVERYTHING, runs_for
from benchmarks.attacks.by_streams import COMMANDS, SPDY, shell, upgraded
from benchmarks.attacks.table import attack, request

PROXY = "/api/v1/nodes/lifecycle-control-plane/proxy"
NOBODYS = {"terminationGracePeriodSeconds": 0, "tolerations": EVERYTHING}


async def talker(who: Attacker, name: str, command: str, **variables: str) -> str:
    """A pod that has written a log; the log's path at its kubelet."""
    env = [{"name": key, "value": value} for key, value in variables.items()]
    container = {"name": "c", "image": "busybox:1.36", "command": ["sh", "-c", f"{command}; sleep 100000"], "env": env}
    await who.ask("POST", PODS, {**pod(containers=[container], tolerations=EVERYTHING), "metadata": {"name": name}})
    await asyncio.sleep(4)
    return f"{PROXY}/containerLogs/default/{name}/c"


async def hush(who: Attacker, name: str) -> int:
    return await who.ask("DELETE", f"{PODS}/{name}?gracePeriodSeconds=0")


@attack("kubelet: the ends of a log, from 200 odd places")
async def odd_ends(who: Attacker) -> list[Any]:
    path = await talker(who, "long", "i=0; while [ $i -lt 20000 ]; do echo $i $X; i=$((i+1)); done", X="x" * 400)
    queries = [
        "tailLines=9223372036854775807", "tailLines=0", "tailLines=-1", "tailLines=19999", "limitBytes=1", "limitBytes=0",
        "limitBytes=9223372036854775807&timestamps=true", "sinceSeconds=9223372036854775807", "sinceSeconds=1", "tail=all",
        "sinceTime=9999-12-31T23:59:59Z", "tailLines=1&tailLines=2", f"tailLines={'9' * 100_000}", "previous=true",
        "tailLines=15000&limitBytes=3&timestamps=true", "timestamps=true&sinceTime=0001-01-01T00:00:00Z",
    ]  # fmt: skip
    statuses = await asyncio.gather(*(who.ask("GET", f"{path}?{queries[i % 16]}") for i in range(200)))
    return [set(statuses), await hush(who, "long")]


@attack("kubelet: a log of lines of 1 MB, from its end")
async def long_lines(who: Attacker) -> list[Any]:
    path = await talker(who, "wide", "for i in 1 2 3 4 5 6 7 8 9; do echo $X$X; done", X="x" * 500_000)
    statuses = [await who.many(60, "GET", f"{path}?tailLines=8&timestamps=true")]
    return [*statuses, await hush(who, "wide")]


@attack("kubelet: 300 who follow from the end, and leave at once")
async def hasty(who: Attacker) -> int:
    path = await talker(who, "hasty", "i=0; while [ $i -lt 10000 ]; do echo $i; i=$((i+1)); done")
    for _ in range(3):
        await who.unread(100, f"{path}?follow=true&tailLines=1", seconds=0.5)
        who.hang_up()
    return await hush(who, "hasty")


@attack("kubelet: what it knows, asked 600 times at once")
async def asked_all(who: Attacker) -> list[Any]:
    statuses: list[Any] = [await who.many(30, "POST", PODS, pod(**NOBODYS))]
    await asyncio.sleep(3)
    for path in ("pods", "runningpods/", "metrics", "configz", "healthz", "logs/"):
        statuses.append(await who.many(100, "GET", f"{PROXY}/{path}"))
    return [*statuses, await who.ask("DELETE", f"{PODS}?gracePeriodSeconds=0")]


request("kubelet: paths of 500 KB", 20, "GET", f"{PROXY}/containerLogs/default/{'x/' * 250_000}c")
request("kubelet: names of 500 KB", 20, "GET", f"{PROXY}/exec/default/{'x' * 500_000}/c?command=x")


@attack("kubelet: 300 commands at once in one container")
async def commands(who: Attacker) -> int:
    path = f"{await shell(who)}/exec?stdin=1&stdout=1&stderr=1&command=sh&command=-c&command=echo%20x;sleep%20100"
    done = await asyncio.gather(*(upgraded(who, path, **COMMANDS) for _ in range(300)), return_exceptions=True)
    await asyncio.sleep(3)
    return sum(not isinstance(each, BaseException) for each in done)


@attack("kubelet: 3,000 ports of a pod, asked for in one request")
async def ports(who: Attacker) -> int:
    path = f"{await shell(who)}/portforward?" + "&".join(f"ports={port}" for port in range(1, 3_001))
    headers = {**COMMANDS, "Sec_WebSocket_Protocol": "v4.channel.k8s.io"}
    done = await asyncio.gather(*(upgraded(who, path, **headers) for _ in range(5)), return_exceptions=True)
    await asyncio.sleep(3)
    return sum(not isinstance(each, BaseException) for each in done)


@attack("kubelet: 400 connections over SPDY that say nothing")
async def silent(who: Attacker) -> int:
    path = f"{await shell(who)}/attach?stdin=1&stdout=1"
    done = await asyncio.gather(*(upgraded(who, path, **SPDY) for _ in range(400)), return_exceptions=True)
    await asyncio.sleep(5)
    return sum(not isinstance(each, BaseException) for each in done)


# -- what a kubelet does for a pod --------------------------------------------------------
@attack("pod: 3,000 init containers")
async def init_containers(who: Attacker) -> list[int]:
    made = [{"name": f"i{i}", "image": "busybox:1.36", "command": ["true"]} for i in range(3_000)]
    return await runs_for(who, 12, initContainers=made, containers=[{"name": "c", "image": "nginx"}], **NOBODYS)


@attack("pod: 1,000 sidecars with start-up probes, and a thousand that come after them")
async def sidecars(who: Attacker) -> list[int]:
    probe = {"exec": {"command": ["true"]}, "periodSeconds": 1}
    made = [{"name": f"i{i}", "image": "nginx", "restartPolicy": "Always", "startupProbe": probe} for i in range(1_000)]
    plain = [{"name": f"c{i}", "image": "nginx"} for i in range(1_000)]
    return await runs_for(who, 12, initContainers=made, containers=plain, **NOBODYS)


@attack("pod: 1,000 containers with hooks that run programs")
async def hooks(who: Attacker) -> list[int]:
    run = {"exec": {"command": ["sh", "-c", "i=0; while [ $i -lt 20 ]; do i=$((i+1)); done"]}}
    made = [{"name": f"c{i}", "image": "nginx", "lifecycle": {"postStart": run, "preStop": run}} for i in range(1_000)]
    return await runs_for(who, 12, containers=made, tolerations=EVERYTHING)


@attack("pod: 1,000 containers that fail at once, again and again")
async def failing(who: Attacker) -> list[int]:
    made = [{"name": f"c{i}", "image": "busybox:1.36", "command": ["false"]} for i in range(1_000)]
    return await runs_for(who, 15, containers=made, **NOBODYS)


@attack("pod: a volume of 20,000 projected files, mounted 500 times")
async def projected(who: Attacker) -> list[int]:
    statuses = [await who.ask("POST", MAPS, config_map("parts", data={f"k{i}": "x" for i in range(1_000)}))]
    items = [{"key": f"k{i % 1_000}", "path": f"d/{i}"} for i in range(20_000)]
    volume = {"name": "v", "projected": {"sources": [{"configMap": {"name": "parts", "items": items}}]}}
    mounts = [{"name": "v", "mountPath": f"/m/{i}", "subPath": f"d/{i}"} for i in range(500)]
    container = {"name": "c", "image": "nginx", "volumeMounts": mounts}
    statuses += await runs_for(who, 8, volumes=[volume], containers=[container], **NOBODYS)
    return [*statuses, await who.ask("DELETE", f"{MAPS}/parts")]


@attack("pod: 60,000 names for addresses, 30,000 readiness gates")
async def aliases(who: Attacker) -> list[int]:
    names = [{"ip": "10.0.0.1", "hostnames": [f"h{i}"]} for i in range(40_000)]
    gates = [{"conditionType": f"example.com/g{i}"} for i in range(15_000)]
    return await runs_for(who, 6, hostAliases=names, readinessGates=gates, **NOBODYS)


@attack("pod: a status with 20,000 conditions, and 5,000 containers that it does not have")
async def foreign_status(who: Attacker) -> list[int]:
    statuses = [await who.ask("POST", PODS, {**pod(**NOBODYS), "metadata": {"name": "told"}})]
    await asyncio.sleep(1)
    made = {
        "conditions": [{"type": f"example.com/c{i}", "status": "True"} for i in range(20_000)],
        "containerStatuses": [
            {"name": f"x{i}", "image": "x", "imageID": "x", "ready": False, "restartCount": 0} for i in range(5_000)
        ],
    }
    for _ in range(3):
        statuses.append(await who.ask("PATCH", f"{PODS}/told/status", {"status": made}, **STRATEGIC))
        await asyncio.sleep(1)
    return [*statuses, await hush(who, "told")]


@attack("pod: 2,000 containers that come later, one after the other")
async def ephemeral(who: Attacker) -> list[Any]:
    statuses: list[Any] = [await who.ask("POST", PODS, {**pod(**NOBODYS), "metadata": {"name": "visited"}})]
    await asyncio.sleep(1)
    for number in range(20):
        more = [{"name": f"e{number}-{i}", "image": "busybox:1.36", "command": ["sleep", "9"]} for i in range(100)]
        body = {"spec": {"ephemeralContainers": more}}
        statuses.append(await who.ask("PATCH", f"{PODS}/visited/ephemeralcontainers", body, **STRATEGIC))
    await asyncio.sleep(3)
    return [set(statuses), await hush(who, "visited")]


@attack("pod: 500 containers, made larger and smaller twenty times")
async def resized(who: Attacker) -> list[Any]:
    def sized(cpu: str) -> list[dict[str, Any]]:
        room = {"cpu": cpu, "memory": "1Mi"}
        return [
            {"name": f"c{i}", "image": "nginx", "resources": {"requests": room, "limits": room}} for i in range(500)
        ]

    body = {**pod(containers=sized("1m"), **NOBODYS), "metadata": {"name": "breathing"}}
    statuses: list[Any] = [await who.ask("POST", PODS, body)]
    await asyncio.sleep(4)
    for number in range(20):
        change = {
            "spec": {"containers": [{k: v for k, v in c.items() if k != "image"} for c in sized(f"{number + 2}m")]}
        }
        statuses.append(await who.ask("PATCH", f"{PODS}/breathing/resize", change, **STRATEGIC))
    await asyncio.sleep(3)
    return [set(statuses), await hush(who, "breathing")]


@attack("pods: 300 on one node at once, and away")
async def full_node(who: Attacker) -> list[Any]:
    statuses: list[Any] = []
    for _ in range(6):
        statuses.append(await who.many(50, "POST", PODS, pod(**NOBODYS)))
    await asyncio.sleep(6)
    statuses.append(await who.ask("DELETE", f"{PODS}?gracePeriodSeconds=0"))
    await asyncio.sleep(3)
    return statuses


@attack("pods: 300 evicted at once, five times each")
async def evictions(who: Attacker) -> list[Any]:
    names = [f"e{i}" for i in range(100)]
    await asyncio.gather(*(who.ask("POST", PODS, {**pod(**NOBODYS), "metadata": {"name": n}}) for n in names))
    spec = {"minAvailable": 1_000, "selector": {}}
    budget = {"apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": {"name": "strict"}, "spec": spec}
    path = "/apis/policy/v1/namespaces/default/poddisruptionbudgets"
    statuses: list[Any] = [await who.ask("POST", path, budget)]
    await asyncio.sleep(4)

    def eviction(name: str) -> dict[str, Any]:
        return {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": name}}

    asked = (who.ask("POST", f"{PODS}/{n}/eviction", eviction(n)) for n in names * 15)
    statuses.append(set(await asyncio.gather(*asked)))
    statuses.append(await who.ask("DELETE", f"{path}/strict"))
    return [*statuses, await who.ask("DELETE", f"{PODS}?gracePeriodSeconds=0")]


@attack("account: 300 tokens for 3,000 audiences each")
async def audiences(who: Attacker) -> set[int]:
    spec = {"audiences": [f"https://audience.example/{i}" for i in range(3_000)], "expirationSeconds": 3_600}
    made = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": spec}
    return await who.many(300, "POST", f"{SPACE}/serviceaccounts/default/token", made)


@attack("pod: a finalizer, asked to go 500 times")
async def stubborn(who: Attacker) -> list[Any]:
    body = {**pod(**NOBODYS), "metadata": {"name": "stubborn", "finalizers": ["example.com/never"]}}
    statuses: list[Any] = [await who.ask("POST", PODS, body)]
    await asyncio.sleep(1)
    statuses.append(await who.many(500, "DELETE", f"{PODS}/stubborn?gracePeriodSeconds=1"))
    statuses.append(await who.ask("PATCH", f"{PODS}/stubborn", {"metadata": {"finalizers": None}}, **MERGE))
    return [*statuses, await hush(who, "stubborn")]
