"""`kubectl rollout status deployment/NAME`: watch until the new pods are there, or the deadline has passed.

Upstream: `kubectl/pkg/cmd/rollout/rollout_status.go`, `kubectl/pkg/polymorphichelpers/rollout_status.go` (`DeploymentStatusViewer.Status`),
v1.36. Left out: other kinds.
"""

from __future__ import annotations

from collections.abc import Sequence

from lifecycle.api.go_format import go_quote
from lifecycle.api.wire import Object
from lifecycle.kubectl.commands.rollout_history import history, undo
from lifecycle.kubectl.commands.rollout_restart import pause, restart, resume
from lifecycle.kubectl.failures import CommandError
from lifecycle.kubectl.flags import flag, parse, word_positions
from lifecycle.kubectl.session import Session

FLAGS = (flag("watch", "bool", True, short="w"), flag("timeout"), flag("revision", "int64"))


def deployment_status(deployment: Object) -> tuple[str, bool]:
    """(what to print, whether the rollout is done). Raises CommandError if it exceeded its deadline."""
    name = go_quote(deployment["metadata"]["name"])
    spec, status = deployment.get("spec") or {}, deployment.get("status") or {}
    if deployment["metadata"].get("generation", 0) > status.get("observedGeneration", 0):
        return "Waiting for deployment spec update to be observed...\n", False
    for condition in status.get("conditions") or ():
        if condition["type"] == "Progressing" and condition.get("reason") == "ProgressDeadlineExceeded":
            raise CommandError(f"deployment {name} exceeded its progress deadline")
    updated, replicas, available = (status.get(key, 0) for key in ("updatedReplicas", "replicas", "availableReplicas"))
    wanted = spec.get("replicas", 1)
    waiting = f"Waiting for deployment {name} rollout to finish: "
    if updated < wanted:
        return f"{waiting}{updated} out of {wanted} new replicas have been updated...\n", False
    if replicas > updated:
        return f"{waiting}{replicas - updated} old replicas are pending termination...\n", False
    if available < updated:
        return f"{waiting}{available} of {updated} updated replicas are available...\n", False
    return f"deployment {name} successfully rolled out\n", True


async def rollout(argv: Sequence[str], session: Session) -> None:
    """Run `kubectl rollout ARGV`."""
    words = word_positions(argv)
    run = WORDS.get(argv[words[0]]) if words else None
    if run is None:
        raise CommandError(f'unknown command {go_quote(argv[words[0]] if words else "")} for "kubectl rollout"')
    await run([*argv[: words[0]], *argv[words[0] + 1 :]], session)


async def status(argv: Sequence[str], session: Session) -> None:
    """Run `kubectl rollout status ARGV`."""
    p = parse(argv, FLAGS, "rollout status")
    if not p.args:
        raise CommandError("required resource not specified")
    found = await session.targets(p.args)
    for target in found:
        if target.resource.kind != "Deployment":
            raise CommandError(
                f"no status viewer has been implemented for {target.resource.kind}.{target.resource.group}"
            )
        listed = await session.client.list(
            target.resource, session.namespace, field_selector=f"metadata.name={target.name}"
        )
        if not listed.get("items"):
            await session.client.get(
                target.resource, target.name, session.namespace
            )  # raises NotFound in the server's words
        text, done = deployment_status(listed["items"][0])
        session.print(text)
        if done or not p["watch"]:
            continue
        watch = await session.watch_one(
            target.resource, session.namespace, target.name, listed["metadata"]["resourceVersion"]
        )
        async for frame in watch:
            if frame.type == "DELETED":
                raise CommandError("object has been deleted")
            if frame.type not in ("ADDED", "MODIFIED"):
                continue
            previous, (text, done) = text, deployment_status(frame.object)
            if text != previous:
                session.print(text)
            if done:
                break


WORDS = {"status": status, "history": history, "undo": undo, "restart": restart, "pause": pause, "resume": resume}
