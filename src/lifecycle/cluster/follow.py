"""Following one kubectl command through a whole cluster, until what it asked for is
there.

`await follow(["create", "deployment", …])` starts a cluster, runs the command with the
book's own kubectl over HTTPS, waits (by a watch) until the object is settled, and hands
back its journey. Nothing is staged: it is the spans that the stages emit anyway.

A Deployment or ReplicaSet is settled when all its pods are ready, a pod when it is
ready or has ended, anything else at once.
"""

from __future__ import annotations

import asyncio
import io
from collections.abc import Sequence
from dataclasses import dataclass, replace

from lifecycle.api.http.wire import Object
from lifecycle.api.resources import Resource, find_resource
from lifecycle.api.tracing import Span, span
from lifecycle.apiserver.filters.request_info import RequestInfoFactory
from lifecycle.client.rest import Client
from lifecycle.client.transport_https import ConnectionConfig, HTTPSTransport
from lifecycle.cluster.cluster import ADMIN, Cluster
from lifecycle.cluster.cluster_config import ClusterConfig
from lifecycle.cri.hollow.step_times import RECORDED
from lifecycle.kubectl.command import run_kubectl
from lifecycle.trace import Journey, SpanRecorder

DEFAULT_COMMAND = ("create", "deployment", "nginx", "--image=nginx", "--replicas=3")
CALM = 0.02
"""Seconds after the last pod became ready in which the spans that are still open may
close.
"""


class FollowError(Exception):
    """There is no journey to show. One line that says why."""


@dataclass(slots=True, frozen=True)
class Followed:
    """A command that was followed: what it printed, and the journey of the (first)
    object it wrote.
    """

    command: str
    printed: str
    journey: Journey


async def follow(
    argv: Sequence[str] = DEFAULT_COMMAND,
    config: ClusterConfig | None = None,
    *,
    patience: float = 60.0,
) -> Followed:
    """Start a cluster, run one kubectl command (`argv` without the program's name)
    against it, and follow what it wrote.

    Raises FollowError if kubectl fails, if the command writes nothing, and if the pods
    are not ready in `patience` seconds.
    """
    cluster = Cluster(config or ClusterConfig())
    try:
        await cluster.start()
        return await _follow(cluster, argv, patience)
    finally:
        await cluster.stop()


async def _follow(cluster: Cluster, argv: Sequence[str], patience: float) -> Followed:
    command = " ".join(("kubectl", *argv))
    certificate, key = cluster.server.certificates.client_certificate(
        ADMIN, cluster.admin_groups
    )
    transport = HTTPSTransport(
        ConnectionConfig(
            cluster.url, cluster.server.certificates.ca_pem, certificate, key
        )
    )
    out, err = io.StringIO(), io.StringIO()
    try:
        with SpanRecorder() as recorder:
            if await run_kubectl(argv, Client(transport, "kubectl"), out=out, err=err):
                raise FollowError(err.getvalue().strip().replace("\n", " "))
            written = next((s for s in recorder.spans if _wrote(s)), None)
            if written is None:
                raise FollowError(f"{command} writes no object that could be followed")
            uid = str(written.attributes["uid"])
            try:
                async with asyncio.timeout(patience):
                    await _settled(cluster, written, uid)
            except TimeoutError:
                raise FollowError(
                    f"{command}: the pods did not become ready in {patience:g} s"
                ) from None
            with span("watch", "all pods ready", uid=uid):
                pass
            await asyncio.sleep(CALM)
        journey = replace(
            recorder.journey(uid, title=command), provenance=_provenance(cluster.config)
        )
        return Followed(command, out.getvalue(), journey)
    finally:
        await transport.close()


def _provenance(config: ClusterConfig) -> str:
    if config.latency == RECORDED:
        return "the embedded cluster, at a recorded pace"
    pace = f", {config.latency:g} s a step" if config.latency else ""
    return f"the embedded cluster{pace}"


def _wrote(recorded: Span) -> bool:
    attributes = recorded.attributes
    is_write = attributes.get("method") in ("POST", "PUT", "PATCH")
    return (
        (recorded.component, recorded.name) == ("kubectl", "request")
        and is_write
        and bool(attributes.get("uid"))
    )


async def _settled(cluster: Cluster, written: Span, uid: str) -> None:
    """Watch the written object's collection until the object is settled."""
    info = RequestInfoFactory().new_request_info("GET", written.attributes["path"], {})
    resource = find_resource(info.group, info.version, info.resource)
    assert resource is not None, "it has just been written"
    if not has_pods(resource):
        return
    frames = await cluster.client("lifecycle").watch(
        resource, info.namespace, resource_version="0", bookmarks=False
    )
    async for frame in frames:
        if frame.object["metadata"].get("uid") == uid and is_settled(frame.object):
            return


def has_pods(resource: Resource) -> bool:
    """Whether objects of a resource become pods, or are pods."""
    return (resource.group, resource.plural) in (
        ("apps", "deployments"),
        ("apps", "replicasets"),
        ("", "pods"),
    )


def is_settled(obj: Object) -> bool:
    """Whether a Deployment or ReplicaSet has all its pods ready, and a pod is ready or
    has ended.
    """
    status = obj.get("status") or {}
    if obj["kind"] == "Pod":
        conditions = status.get("conditions") or ()
        ready = any(c["type"] == "Ready" and c["status"] == "True" for c in conditions)
        return ready or status.get("phase") in ("Succeeded", "Failed")
    seen = status.get("observedGeneration", 0) >= obj["metadata"].get("generation", 0)
    return seen and status.get("readyReplicas", 0) == obj["spec"].get(
        "replicas", 1
    ) == status.get("replicas", 0)
