"""Claims about the Container Runtime Interface: put to recorded nodes, to our client
and server, and to a model of what came before.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from lifecycle.agreements.claim_checks.on_a_loop import on_a_loop
from lifecycle.agreements.cri.container_runtime import CONTAINERS, PODS, documents
from lifecycle.cluster.one_node import OneNode, on_one_node
from lifecycle.compare.claims import Partly, check, every, rebuilt
from lifecycle.cri.apis.container import ContainerConfig, ContainerMetadata
from lifecycle.cri.apis.pod_sandbox import PodSandboxConfig, PodSandboxMetadata
from lifecycle.cri.apis.runtime import Runtime
from lifecycle.cri.client import CriClient
from lifecycle.cri.hollow.runtime import HollowRuntime
from lifecycle.cri.messages import message_class, methods, new
from lifecycle.cri.server import CriServer
from lifecycle.historical.kubelet.dockershim.docker_sandbox import (
    dockershim_run_pod_sandbox,
)
from lifecycle.historical.kubelet.rkt import rkt_pod
from lifecycle.historical.kubelet.supported_runtimes import supported
from lifecycle.inspector import Recording
from lifecycle.inspector.errors import InspectorError

POD = PodSandboxConfig(PodSandboxMetadata("web", "u-1", "default"), hostname="web")
CONTAINER = ContainerConfig(ContainerMetadata("c"), "busybox:1.36", ("sleep", "1000"))


async def whole_life(runtime: Runtime) -> list[str]:
    """What a kubelet does with any runtime; the states that its container went
    through.
    """
    sandbox = await runtime.run_pod_sandbox(POD)
    container = await runtime.create_container(sandbox, CONTAINER, POD)
    states = [(await runtime.container_status(container)).state.name]
    await runtime.start_container(container)
    states.append((await runtime.container_status(container)).state.name)
    await runtime.stop_container(container, 0)
    states.append((await runtime.container_status(container)).state.name)
    await runtime.stop_pod_sandbox(sandbox)
    await runtime.remove_pod_sandbox(sandbox)
    return states


async def over_a_socket() -> tuple[str, list[str]]:
    """The same through our gRPC server and client: the API's version, and the
    states.
    """
    hollow = HollowRuntime()
    await hollow.update_runtime_config("10.0.0.0/24")
    with TemporaryDirectory() as where:
        async with CriServer(hollow, Path(where, "cri.sock")):
            client = CriClient(Path(where, "cri.sock"))
            version = await client.version()
            states = await whole_life(client)
            await client.close()
    return version.runtime_api_version, states


async def directly() -> list[str]:
    """The same without a socket."""
    hollow = HollowRuntime()
    await hollow.update_runtime_config("10.0.0.0/24")
    return await whole_life(hollow)


READING = (
    "Version",
    "Status",
    "PodSandboxStatus",
    "ContainerStatus",
    "ImageStatus",
    "ListPodSandbox",
    "ListContainers",
    "ListImages",
)
"""Calls that change nothing: a kubelet asks them all the time."""


@cache
def kubelet_calls() -> list[str]:
    """What our kubelet asked of its runtime for a pod with one container, in order, in
    CRI's own names.
    """

    async def one_pod(node: OneNode) -> list[str]:
        asked: list[str] = []

        def listened(name: str, call: Callable[..., Any]) -> Callable[..., Any]:
            def recorded(*arguments: Any, **options: Any) -> Any:
                asked.append("".join(part.capitalize() for part in name.split("_")))
                return call(*arguments, **options)

            return recorded

        for name, call in inspect.getmembers(node.runtime, inspect.iscoroutinefunction):
            if not name.startswith("_"):
                setattr(node.runtime, name, listened(name, call))
        await node.run_pod("web")
        return asked

    return on_one_node(one_pod)


def has_nodes(recording: Recording) -> bool:
    """Whether anybody looked at its nodes."""
    return any(
        True for node in recording.nodes() for _ in documents(recording, node, PODS)
    )


@check("cri-used-since-1-5")
def used(recording: Recording) -> bool | None:
    """Every recorded sandbox carries the config it was asked for with, and the
    runtime's log has the calls that asked.
    """
    if not has_nodes(recording):
        return None
    configs = [
        document["info"]["config"]
        for node in recording.nodes()
        for document in documents(recording, node, PODS)
    ]
    return bool(first_calls(recording)) and every(
        config["metadata"]["uid"] for config in configs
    )


@rebuilt("cri-used-since-1-5")
def used_here() -> bool:
    """The history has it from 1.5 on. And whatever our kubelet does for a pod, it does
    by calls that CRI knows.
    """
    name = "any runtime that speaks CRI"
    since = [minor for minor in range(1, 37) if name in supported(minor)]
    calls = kubelet_calls()
    by_cri = (
        {"RunPodSandbox", "ImageStatus", "CreateContainer", "StartContainer"}
        <= set(calls)
        <= set(methods())
    )
    return since == list(range(5, 37)) and by_cri


@check("cri-protobuf-over-grpc")
def protobuf(recording: Recording) -> bool | None:
    """Every recorded config is a protobuf message of `runtime.v1`: it survives being
    one. And kubelets speak to a socket.
    """
    if not decoupled(recording):
        return None
    for node in recording.nodes():
        for kind, command in (
            ("PodSandboxConfig", PODS),
            ("ContainerConfig", CONTAINERS),
        ):
            for document in documents(recording, node, command):
                if not _survives(kind, document["info"]["config"]):
                    return False
    return True


def _survives(kind: str, config: Any) -> bool:
    """Whether a config is such a message, and still the same after it was one."""
    try:
        sent = new(kind, config)
    except ValueError:  # it has a field that the message does not have
        return False
    return bool(message_class(kind).FromString(sent.SerializeToString()) == sent)


@rebuilt("cri-protobuf-over-grpc")
def protobuf_here() -> bool:
    """A whole life of a container over a unix socket, with gRPC and messages made from
    the table.
    """
    services = {method.service for method in methods().values()}
    version, states = on_a_loop(over_a_socket())
    return (
        services == {"RuntimeService", "ImageService"}
        and version == "v1"
        and states == ["CREATED", "RUNNING", "EXITED"]
    )


@check("cri-decouples-runtimes")
def decoupled(recording: Recording) -> bool | None:
    """A kubelet whose only hint at the runtime is the address of a socket."""
    if not has_nodes(recording):
        return None
    lines = [recording.node(node).run("kubelet-config") for node in recording.nodes()]
    return all(
        re.search(r'"?containerRuntimeEndpoint"?: *"?unix://', text) is not None
        for text in lines
    )


@rebuilt("cri-decouples-runtimes")
def decoupled_here() -> bool:
    """The same code drives the hollow runtime directly and over a socket, and cannot
    tell.
    """
    return on_a_loop(directly()) == on_a_loop(over_a_socket())[1]


@check("cri-docker-and-rkt-runtimes")
def docker_and_rkt(recording: Recording) -> bool | None:
    """What each node says it runs pods with."""
    if not has_nodes(recording):
        return None
    versions: list[str] = []
    for scenario in recording.scenarios():
        for exchange in recording.exchanges(scenario):
            if exchange.path.partition("?")[0] == "/api/v1/nodes" and isinstance(
                exchange.response, dict
            ):
                for node in exchange.response.get("items") or ():
                    versions.append(
                        (node.get("status") or {})
                        .get("nodeInfo", {})
                        .get("containerRuntimeVersion", "")
                    )
    return (
        any(version.startswith(("docker://", "rkt://")) for version in versions)
        if versions
        else None
    )


@rebuilt("cri-docker-and-rkt-runtimes", model=True)
def docker_and_rkt_model() -> bool:
    """In 1.10 both worked: Docker one container at a time, rkt a whole pod in one
    manifest.
    """
    both = {"docker, through dockershim", "rkt, in the kubelet"} <= set(supported(10))
    calls = dockershim_run_pod_sandbox(POD)
    apps = rkt_pod(POD, [CONTAINER, CONTAINER], "uuid")["manifest"]
    return (
        both and len(calls) == 5 and isinstance(apps, dict) and len(apps["apps"]) == 2
    )


@check("cri-docker-or-crio-are-cri")
def are_cri(recording: Recording) -> Partly | None:
    """Something that speaks CRI launches containers; but the interface is not the
    runtime, and what starts processes is yet another.
    """
    if not has_nodes(recording):
        return None
    served = launched = False
    for node in recording.nodes():
        containers = list(documents(recording, node, CONTAINERS))
        served |= bool(containers)
        launched |= any(
            document["info"]["runtimeType"] == "io.containerd.runc.v2"
            for document in containers
        )
    tree = recording.node(recording.nodes()[0]).run("ps")
    return Partly(
        served, launched and "containerd-shim-runc-v2" in tree and "dockerd" not in tree
    )


@rebuilt("cri-docker-or-crio-are-cri")
def are_cri_here() -> Partly:
    """Our server *is* a CRI; Docker's calls have other names, and needed a
    translator.
    """
    calls = [call.what for call in dockershim_run_pod_sandbox(POD)]
    return Partly(
        on_a_loop(over_a_socket())[0] == "v1",
        not any(name in " ".join(calls) for name in methods()),
    )


def first_calls(recording: Recording) -> list[list[str]]:
    """The mutating calls in the nodes' containerd logs, for each sandbox in order.

    Sandboxes made before the log's first line are left out.
    """
    stories: dict[str, list[str]] = {}
    for node in recording.nodes():
        try:
            text = recording.node(node).run("containerd-log")
        except InspectorError:
            continue
        for line in text.splitlines():
            sandbox_run = re.search(
                r'RunPodSandbox for .* returns sandbox id \\"(\w+)\\"', line
            )
            inside = re.search(r'CreateContainer within sandbox \\"(\w+)\\"', line)
            if sandbox_run:
                stories.setdefault(sandbox_run[1], []).append("RunPodSandbox")
            elif inside:
                stories.setdefault(inside[1], []).append("CreateContainer")
    return [calls for calls in stories.values() if "RunPodSandbox" in calls]


@check("cri-runpodsandbox-comes-first")
def sandbox_first(recording: Recording) -> bool | None:
    """In containerd's own log every sandbox was there before the first container in it
    was asked for.
    """
    if not has_nodes(recording):
        return None
    calls = first_calls(recording)
    return any("CreateContainer" in story for story in calls) and all(
        story[0] == "RunPodSandbox" for story in calls
    )


@rebuilt("cri-runpodsandbox-comes-first")
def sandbox_first_here() -> bool:
    """Our kubelet's first call for a pod. Nothing else could be: a container needs the
    id of a sandbox to be created in.
    """

    async def refused() -> bool:
        hollow = HollowRuntime()
        await hollow.update_runtime_config("10.0.0.0/24")
        try:
            await hollow.create_container("no-such-sandbox", CONTAINER)
        except Exception as error:
            return "NotFound" in str(error)
        return False

    changing = [name for name in kubelet_calls() if name not in READING]
    return (
        changing[0] == "RunPodSandbox"
        and "CreateContainer" in changing
        and on_a_loop(refused())
    )


@check("cri-sandbox-is-the-pod-and-may-be-a-vm")
def one_sandbox(recording: Recording) -> bool | None:
    """At most one ready sandbox for each pod's uid."""
    if not has_nodes(recording):
        return None
    ready: list[str] = []
    for node in recording.nodes():
        for document in documents(recording, node, PODS):
            if document["status"]["state"] == "SANDBOX_READY":
                ready.append(document["status"]["metadata"]["uid"])
    return bool(ready) and len(ready) == len(set(ready))


@rebuilt("cri-sandbox-is-the-pod-and-may-be-a-vm")
def sandbox_is_abstract() -> bool:
    """CRI does not say what a sandbox is made of: ours is made of nothing. And which
    kind is wanted goes along as a handler's name.
    """
    fields = {
        field.name for field in message_class("RunPodSandboxRequest").DESCRIPTOR.fields
    }
    return "runtime_handler" in fields and on_a_loop(directly())[1] == "RUNNING"
