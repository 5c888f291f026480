"""`kubectl rollout status deployment/NAME`: watch until the new pods are there, or the
deadline has passed.

Upstream: `kubectl/pkg/cmd/rollout/rollout_status.go`,
`kubectl/pkg/polymorphichelpers/rollout_status.go` (`DeploymentStatusViewer.Status` and
its likes), v1.36.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing, suppress

from lifecycle.api.go.format import go_quote
from lifecycle.api.http.wire import Object
from lifecycle.api.status import StatusError
from lifecycle.kubectl.commands.rollout_history import history, undo
from lifecycle.kubectl.commands.rollout_restart import pause, restart, resume
from lifecycle.kubectl.failures import (
    CommandError,
    ConnectionFailed,
    UsageError,
    several,
)
from lifecycle.kubectl.flags import SELECTOR, Parsed, flag, parse, word_positions
from lifecycle.kubectl.session import JSON_OR_ANYTHING, Session
from lifecycle.kubectl.visitor import FILES, Info, visit

RELIST_PERIOD = 1.0
"""Seconds until a watch that ended is begun anew."""
FLAGS = (
    *FILES,
    SELECTOR,
    flag("watch", "bool", True, short="w"),
    flag("timeout", "duration"),
    flag("revision", "int64"),
)


def deployment_status(deployment: Object, revision: int = 0) -> tuple[str, bool]:
    """(what to print, whether the rollout is done). Raises CommandError if it exceeded
    its deadline.
    """
    name = go_quote(deployment["metadata"]["name"])
    spec, status = deployment.get("spec") or {}, deployment.get("status") or {}
    if revision:
        text = (deployment["metadata"].get("annotations") or {}).get(
            "deployment.kubernetes.io/revision", "0"
        )
        if str(revision) != text:
            raise CommandError(
                f"desired revision ({revision}) is different from the running revision"
                f" ({text})"
            )
    if deployment["metadata"].get("generation", 0) > status.get(
        "observedGeneration", 0
    ):
        return "Waiting for deployment spec update to be observed...\n", False
    for condition in status.get("conditions") or ():
        if (
            condition["type"] == "Progressing"
            and condition.get("reason") == "ProgressDeadlineExceeded"
        ):
            raise CommandError(f"deployment {name} exceeded its progress deadline")
    updated, replicas, available = (
        status.get(key, 0)
        for key in ("updatedReplicas", "replicas", "availableReplicas")
    )
    desired = spec.get("replicas", 1)
    waiting = f"Waiting for deployment {name} rollout to finish: "
    if updated < desired:
        return (
            f"{waiting}{updated} out of {desired} new replicas have been updated...\n",
            False,
        )
    if replicas > updated:
        return (
            f"{waiting}{replicas - updated} old replicas are pending termination...\n",
            False,
        )
    if available < updated:
        return (
            f"{waiting}{available} of {updated} updated replicas are available...\n",
            False,
        )
    return f"deployment {name} successfully rolled out\n", True


def daemonset_status(daemonset: Object, revision: int = 0) -> tuple[str, bool]:
    """The same for a DaemonSet. Raises CommandError if nothing rolls out by itself."""
    _check_strategy(daemonset)
    name, status = (
        go_quote(daemonset["metadata"]["name"]),
        daemonset.get("status") or {},
    )
    if daemonset["metadata"].get("generation", 0) > status.get("observedGeneration", 0):
        return "Waiting for daemon set spec update to be observed...\n", False
    desired = status.get("desiredNumberScheduled", 0)
    updated, available = (
        status.get("updatedNumberScheduled", 0),
        status.get("numberAvailable", 0),
    )
    waiting = f"Waiting for daemon set {name} rollout to finish: "
    if updated < desired:
        return (
            f"{waiting}{updated} out of {desired} new pods have been updated...\n",
            False,
        )
    if available < desired:
        return (
            f"{waiting}{available} of {desired} updated pods are available...\n",
            False,
        )
    return f"daemon set {name} successfully rolled out\n", True


def statefulset_status(statefulset: Object, revision: int = 0) -> tuple[str, bool]:
    """The same for a StatefulSet. Raises CommandError if nothing rolls out by
    itself.
    """
    _check_strategy(statefulset)
    spec, status = statefulset["spec"], statefulset.get("status") or {}
    observed, updated = (
        status.get("observedGeneration", 0),
        status.get("updatedReplicas", 0),
    )
    if not observed or statefulset["metadata"].get("generation", 0) > observed:
        return "Waiting for statefulset spec update to be observed...\n", False
    replicas = spec.get("replicas", 0)
    if status.get("readyReplicas", 0) < replicas:
        return (
            (
                f"Waiting for {replicas - status.get('readyReplicas', 0)} pods to be"
                " ready...\n"
            ),
            False,
        )
    rolling = spec["updateStrategy"].get("rollingUpdate")
    if rolling is not None:
        desired = replicas - rolling.get("partition", 0)
        if updated < desired:
            text = (
                f"Waiting for partitioned roll out to finish: {updated} out of"
                f" {desired} new pods have been updated...\n"
            )
            return text, False
        return (
            f"partitioned roll out complete: {updated} new pods have been updated...\n",
            True,
        )
    if status.get("updateRevision", "") != status.get("currentRevision", ""):
        where = f"{updated} pods at revision {status.get('updateRevision', '')}"
        return f"waiting for statefulset rolling update to complete {where}...\n", False
    where = (
        f"{status.get('currentReplicas', 0)} pods at revision"
        f" {status.get('currentRevision', '')}"
    )
    return f"statefulset rolling update complete {where}...\n", True


def _check_strategy(workload: Object) -> None:
    if workload["spec"]["updateStrategy"].get("type") != "RollingUpdate":
        raise CommandError(
            "rollout status is only available for RollingUpdate strategy type"
        )


DELETED = "object has been deleted"
VIEWERS = {
    "Deployment": deployment_status,
    "DaemonSet": daemonset_status,
    "StatefulSet": statefulset_status,
}


async def rollout(argv: Sequence[str], session: Session) -> None:
    """Run `kubectl rollout ARGV`."""
    words = word_positions(argv)
    run = WORDS.get(argv[words[0]]) if words else None
    if run is None:
        raise UsageError(
            f"unknown command {go_quote(' '.join(argv[i] for i in words))}", "rollout"
        )
    await run([*argv[: words[0]], *argv[words[0] + 1 :]], session)


async def status(argv: Sequence[str], session: Session) -> None:
    """Run `kubectl rollout status ARGV`."""
    p = parse(argv, FLAGS, "rollout status")
    if not p.args and not p["filename"] and not p["kustomize"]:
        raise CommandError("required resource not specified")
    if p["revision"] < 0:
        raise CommandError(f"revision must be a positive integer: {p['revision']}")
    errs: list[CommandError | StatusError] = []
    count = 0
    async for info in visit(session, p, p.args, accept=JSON_OR_ANYTHING, every=True):
        count += 1
        try:
            if not isinstance(info, Info):
                raise info
            await asyncio.wait_for(_follow(info, p, session), p["timeout"] or None)
        except TimeoutError:
            errs.append(CommandError("timed out waiting for the condition"))
        except (CommandError, StatusError) as error:
            errs.append(error)
    if errs:
        raise several(errs)
    if not count:
        session.warn(f"No resources found in {session.namespace} namespace.\n")


async def _follow(info: Info, p: Parsed, session: Session) -> None:
    """Tell of a rollout until it is done. Raises CommandError if it cannot be."""
    resource = info.resource
    viewer = VIEWERS.get(resource.kind) if resource.group == "apps" else None
    if viewer is None:
        group_kind = (
            f"{resource.kind}.{resource.group}" if resource.group else resource.kind
        )
        raise CommandError(f"no status viewer has been implemented for {group_kind}")
    states = _states(info, session)
    async with aclosing(states):
        async for obj in states:
            text, done = viewer(obj, p["revision"])
            session.print(text)
            if done or not p["watch"]:
                return


async def _states(info: Info, session: Session) -> AsyncGenerator[Object, None]:
    """The object as it is, and at every change. A watch that ends is begun anew where
    it ended; after one that failed, or was refused, the object is looked at again.
    Raises CommandError when it is deleted. Upstream: `Reflector`, which never gives up.
    """
    there, revision = False, ""
    while True:
        with suppress(StatusError, ConnectionFailed):
            if not revision:
                listed = await session.client.list(
                    info.resource,
                    info.namespace,
                    field_selector=f"metadata.name={info.name}",
                )
                items = listed.get("items") or ()
                if there and not items:
                    raise CommandError(DELETED)
                for item in items:
                    there = True
                    yield item
                revision = listed["metadata"]["resourceVersion"]
            since, revision = revision, ""
            async for frame in await session.watch_one(
                info.resource, info.namespace, info.name, since
            ):
                if frame.type == "DELETED":
                    raise CommandError(DELETED)
                if frame.type == "ERROR":
                    since = ""
                    break
                since = frame.object["metadata"].get("resourceVersion", "")
                if frame.type != "BOOKMARK":
                    there = True
                    yield frame.object
            revision = since
        await asyncio.sleep(RELIST_PERIOD)


WORDS = {
    "status": status,
    "history": history,
    "undo": undo,
    "restart": restart,
    "pause": pause,
    "resume": resume,
}
