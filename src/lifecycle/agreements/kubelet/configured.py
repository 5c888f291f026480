"""What a container runtime is told, held against a real kubelet: each pod's sandbox,
each container's command, environment, mounts and limits.

Behind both kubelets stands the same runtime, which keeps what it was asked for. What
belongs to one run only is left out: uids, and where on the node something lies. One
thing ours does not do: a real kubelet hands on, too, what it has noted on its own copy
of the pod (`kubernetes.io/config.seen` and `config.source`).
"""

from __future__ import annotations

import asyncio
import json
import re
from dataclasses import asdict
from typing import Any

from lifecycle.agreements.asked_programs import asked
from lifecycle.agreements.kubelet.node_admission import EVICTION_HARD
from lifecycle.api.http.wire import Object
from lifecycle.api.pods.dns import DNSConfig
from lifecycle.api.resources import resource
from lifecycle.cluster.one_node import NotingRuntime, OneNode, on_one_node
from lifecycle.compare import AgreementTable
from lifecycle.compare.compare import compare
from lifecycle.compare.program_answers import ProgramAnswers
from lifecycle.kubelet.eviction.thresholds import parse_thresholds
from lifecycle.kubelet.types.pod_update import LOCAL_ANNOTATIONS

STARTED = 2.0
SPACE = "configured"


def _named(kind: str, name: str, **fields: Any) -> Object:
    return {"apiVersion": "v1", "kind": kind, "metadata": {"name": name}, **fields}


OBJECTS: tuple[tuple[str, Object], ...] = (
    ("configmaps", _named("ConfigMap", "conf", data={"motd": "hello", "1a": "one"})),
    ("secrets", _named("Secret", "words", stringData={"user": "me", "word": "x"})),
    (
        "services",
        _named(
            "Service",
            "web",
            spec={
                "clusterIP": "10.96.0.77",
                "ports": [
                    {"name": "http", "port": 80},
                    {"name": "dns", "port": 53, "protocol": "UDP"},
                ],
            },
        ),
    ),
    (
        "services",
        _named("Service", "none", spec={"clusterIP": "None", "ports": [{"port": 1}]}),
    ),
)
"""What is there, and of which kind."""
OF_EACH_SPACE = (
    ("serviceaccounts", _named("ServiceAccount", "default")),
    ("configmaps", _named("ConfigMap", "kube-root-ca.crt", data={"ca.crt": "c"})),
)
"""What controllers make in each namespace."""
OF_THE_RUN = re.compile(
    r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|/tmp/[^/\"]+/kubelet|/var/lib/kubelet|/tmp/kubelet-[^/\"]+"
)
"""Uids, and the folder in which a node is played."""
KUBERNETES = "KUBERNETES_"
LEFT_OUT = ("host_path", "log_directory", "log_path", "cgroup_parent", "image")
"""Where something lies on the node, and the runtime's own name of an image."""
ON_THE_WIRE = ("POD", "TCP", {"profile_type": "RuntimeDefault"})
"""The first of several possible values is not sent at all."""
HASH = "io.kubernetes.container.hash"


def configured_agreement(programs: ProgramAnswers | None = None) -> AgreementTable:
    """A row for each pod. `programs`: what the real one did; None: as recorded."""
    pods = asked(programs, "configured")
    table = AgreementTable(
        "What a runtime is told",
        "lifecycle",
        f"{pods[0].program}, asked directly",
        lambda table: (
            f"{len(pods)} pods of many shapes. What a real kubelet tells the runtime of"
            " their sandboxes and of their containers, and what ours does:"
            f" {table.outcome('pods')}."
        ),
    )
    ours = our_configs([each.answer for each in pods])
    for each, mine in zip(pods, ours, strict=True):
        theirs = each.answer["told"]
        what = each.question.partition("/")[2]
        table.add("told", what, _short(mine), _short(theirs), compare(mine, theirs))
    return table


def _short(told: Object) -> str:
    variables = [len(each["envs"]) for each in told["containers"].values()]
    words = [f"{count} variables" for count in variables]
    return ", ".join(words)


def our_configs(pods: list[Object]) -> list[Object]:
    """What ours tells, pod by pod."""

    async def play(node: OneNode) -> list[Object]:
        space = {"metadata": {"name": SPACE}}
        await node.admin.create(resource("namespaces"), space)
        for plural, made in (*OF_EACH_SPACE, *OBJECTS):
            await node.admin.create(resource(plural), made, SPACE)
        told = []
        for each in pods:
            name = each["pod"]["metadata"]["name"]
            await node.admin.create(resource("pods"), each["pod"], SPACE)
            await asyncio.sleep(STARTED)
            told.append(configs_of(node.runtime, name))
            await node.admin.delete(resource("pods"), name, SPACE)
            await asyncio.sleep(STARTED)
        return told

    played: list[Object] = on_one_node(
        play,
        capacity=pods[0]["machine"]["capacity"],
        eviction_hard=parse_thresholds(EVICTION_HARD),
        allowed_unsafe_sysctls=pods[0]["settings"]["allowedUnsafeSysctls"],
        local={
            "cgroup_driver": "cgroupfs",
            "cluster_dns": (),
            "cluster_domain": "",
            "host_dns": DNSConfig(("192.0.2.1",)),
        },
    )
    return played


def configs_of(runtime: NotingRuntime, pod: str) -> Object:
    """What the runtime was told of a pod's sandbox and of its containers."""
    containers = {
        name: asdict(config)
        for (of, name), config in runtime.container_configs.items()
        if of == pod
    }
    text = json.dumps(
        {"sandbox": asdict(runtime.sandbox_configs[pod]), "containers": containers}
    )
    told: Object = _bare(json.loads(OF_THE_RUN.sub("...", text)))
    return told


def _bare(told: Any) -> Any:
    """Without what belongs to one run, or says nothing."""
    if isinstance(told, list):
        return [_bare(each) for each in told]
    if not isinstance(told, dict):
        return told
    kept = {
        key: _bare(value)
        for key, value in told.items()
        if key not in LEFT_OUT and key not in (HASH, *LOCAL_ANNOTATIONS)
    }
    if "options" in kept:  # a map upstream, and in any order
        kept["options"] = sorted(kept["options"])
    if "envs" in kept:
        kept["envs"] = sorted(
            pair for pair in kept["envs"] if not pair[0].startswith(KUBERNETES)
        )
    return {
        key: value
        for key, value in kept.items()
        if (value and value not in ON_THE_WIRE) or key in ("envs", "containers")
    }
