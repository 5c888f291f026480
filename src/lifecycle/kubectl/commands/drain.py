"""`kubectl drain NODE`: cordon the node, then evict its pods, and wait until they are
gone.

Upstream: `kubectl/pkg/cmd/drain/drain.go` (`RunDrain`, `deleteOrEvictPodsSimple`),
v1.36.2. What may go and how it goes is in `drain_filters` and `evict_pods`.
"""

from __future__ import annotations

from collections.abc import Sequence

from lifecycle.api.go.format import go_quote
from lifecycle.api.labels import parse_selector
from lifecycle.api.status import StatusError
from lifecycle.kubectl.commands.cordon import (
    check_arguments,
    cordon_or_uncordon,
    node_infos,
)
from lifecycle.kubectl.commands.drain_filters import PodDeleteList, pods_for_deletion
from lifecycle.kubectl.commands.evict_pods import delete_or_evict
from lifecycle.kubectl.failures import Aggregate, CommandError
from lifecycle.kubectl.flags import (
    DRY_RUN,
    SELECTOR,
    Parsed,
    dry_run_strategy,
    flag,
    parse,
)
from lifecycle.kubectl.printers import operation_line
from lifecycle.kubectl.session import Session
from lifecycle.kubectl.visitor import Info

FLAGS = (
    SELECTOR,
    DRY_RUN,
    flag("force", "bool"),
    flag("ignore-daemonsets", "bool"),
    flag("delete-emptydir-data", "bool"),
    flag("grace-period", "int", -1),
    flag("timeout", "duration"),
    flag("pod-selector"),
    flag("disable-eviction", "bool"),
    flag("skip-wait-for-delete-timeout", "int"),
    flag("chunk-size", "int64", 500),
)


async def drain(argv: Sequence[str], session: Session) -> None:
    """Run `kubectl drain ARGV`. A node that cannot be drained does not keep the others
    from it.
    """
    p = parse(argv, FLAGS, "drain", session.warn)
    check_arguments(p, "drain")
    dry_run = dry_run_strategy(p, session.warn)
    _check_pod_selector(p["pod-selector"])
    nodes = await node_infos(p, session)
    await cordon_or_uncordon(nodes, True, dry_run, session)
    pending: list[str] = []
    fatal: list[CommandError | StatusError] = []
    for info in nodes:
        try:
            await _drain_one(info, p, dry_run, session)
        except (CommandError, StatusError) as error:
            session.warn(
                f"error: unable to drain node {go_quote(info.name)} due to error:"
                f" {error}, continuing command...\n"
            )
            pending.append(info.name)
            fatal.append(error)
        else:
            session.print(operation_line(info.obj, "drained", dry_run))
    if fatal:
        session.warn("There are pending nodes to be drained:\n")
        session.warn("".join(f" {name}\n" for name in pending))
        raise fatal[0] if len(fatal) == 1 else Aggregate(fatal)


def _check_pod_selector(text: str) -> None:
    try:
        parse_selector(text)
    except (ValueError, StatusError):
        raise CommandError(
            "--pod-selector=<pod_selector> must be a valid label selector"
        ) from None


async def _drain_one(info: Info, p: Parsed, dry_run: str, session: Session) -> None:
    pods = await pods_for_deletion(info.name, p, session)
    pods.check()
    warnings = pods.warnings()
    if warnings:
        session.warn(f"Warning: {warnings}\n")
    if dry_run == "client":
        for pod in pods.pods():
            name = f"{pod['metadata']['namespace']}/{pod['metadata']['name']}"
            session.print(f"evicting pod {name} (dry run)\n")
        return
    try:
        await delete_or_evict(pods.pods(), p, dry_run, session)
    except (CommandError, StatusError) as error:
        await _tell_pending(info.name, error, p, session)
        raise


async def _tell_pending(
    node: str, error: CommandError | StatusError, p: Parsed, session: Session
) -> None:
    try:
        left: PodDeleteList = await pods_for_deletion(node, p, session)
    except Aggregate:
        return
    pods = left.pods()
    if pods:
        session.warn(
            f"There are pending pods in node {go_quote(node)} when an error occurred:"
            f" {error}\n"
        )
        session.warn("".join(f"pod/{pod['metadata']['name']}\n" for pod in pods))
    try:
        left.check()
    except Aggregate as errs:
        session.warn(
            "Following errors occurred while getting the list of pods to"
            f" delete:\n{errs}"
        )
