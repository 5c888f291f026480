"""`kubectl cordon` and `uncordon`: whether the scheduler may put pods on a node.

Upstream: `kubectl/pkg/cmd/drain/drain.go` (`Complete`, `RunCordonOrUncordon`),
`kubectl/pkg/drain/cordon.go` (`CordonHelper`), v1.36.2.
"""

from __future__ import annotations

from collections.abc import Sequence

from lifecycle.api.go.format import go_quote
from lifecycle.api.resources import Resource
from lifecycle.api.status import StatusError
from lifecycle.client.rest import STRATEGIC_MERGE_PATCH
from lifecycle.kubectl.failures import CommandError, UsageError
from lifecycle.kubectl.flags import DRY_RUN, SELECTOR, Parsed, dry_run_strategy, parse
from lifecycle.kubectl.printers import operation_line
from lifecycle.kubectl.resource_args import resource_names
from lifecycle.kubectl.session import Session
from lifecycle.kubectl.visitor import Info, visit

FLAGS = (SELECTOR, DRY_RUN)


async def cordon(argv: Sequence[str], session: Session) -> None:
    """Run `kubectl cordon ARGV`."""
    await _run(argv, session, "cordon")


async def uncordon(argv: Sequence[str], session: Session) -> None:
    """Run `kubectl uncordon ARGV`."""
    await _run(argv, session, "uncordon")


async def _run(argv: Sequence[str], session: Session, command: str) -> None:
    p = parse(argv, FLAGS, command, session.warn)
    check_arguments(p, command)
    dry_run = dry_run_strategy(p, session.warn)
    nodes = await node_infos(p, session)
    await cordon_or_uncordon(nodes, command == "cordon", dry_run, session)


def check_arguments(p: Parsed, command: str) -> None:
    """Raises CommandError unless there are names, or a selector."""
    if not p.args and "selector" not in p.changed:
        raise UsageError(f"USAGE: {command} NODE [flags]", command)
    if p.args and p["selector"]:
        raise UsageError(
            "error: cannot specify both a node name and a --selector option", command
        )


async def node_infos(p: Parsed, session: Session) -> list[Info]:
    """The nodes named or selected. All of them must be there: raises CommandError,
    StatusError for the first that is not.
    """
    args = ["nodes"] if p["selector"] else resource_names("nodes", p.args)
    if not args:
        return []
    check_single_type([each.resource for each in await session.targets(args)])
    nodes = []
    async for info in visit(session, p, args):
        if not isinstance(info, Info):
            raise info
        resource = info.resource
        if (resource.group, resource.plural) != ("", "nodes"):
            gvr = f"{resource.group}/{resource.version}, Resource={resource.plural}"
            raise CommandError(
                f"error: expected resource of type node, got {go_quote(gvr)}"
            )
        nodes.append(info)
    return nodes


def check_single_type(resources: Sequence[Resource]) -> None:
    """Raises CommandError for names of several types."""
    if len(set(resources)) > 1:
        raise CommandError("you may only specify a single resource type")


async def cordon_or_uncordon(
    nodes: Sequence[Info], unschedulable: bool, dry_run: str, session: Session
) -> None:
    """Mark the nodes. What the server refuses is said, and the next one is tried."""
    command = "cordon" if unschedulable else "uncordon"
    for info in nodes:
        if bool(info.obj["spec"].get("unschedulable")) == unschedulable:
            operation = f"already {command}ed"
        else:
            operation = f"{command}ed"
            if dry_run != "client":
                try:
                    await _mark(info, unschedulable, dry_run, session)
                except StatusError as error:
                    session.warn(
                        f"error: unable to {command} node {go_quote(info.name)}:"
                        f" {error.message}\n"
                    )
                    continue
        session.print(operation_line(info.obj, operation, dry_run))


async def _mark(
    info: Info, unschedulable: bool, dry_run: str, session: Session
) -> None:
    patch = {"spec": {"unschedulable": unschedulable or None}}
    query = {"dryRun": "All" if dry_run == "server" else ""}
    await session.send("PATCH", info.path, query, patch, STRATEGIC_MERGE_PATCH)
