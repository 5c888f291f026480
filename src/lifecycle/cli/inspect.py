"""`lifecycle inspect`: what the evidence holds for a stage, recorded or live."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import click

from lifecycle.cli.refusal import Misused, refusals

if TYPE_CHECKING:
    from lifecycle.inspector import LiveCluster, Recording

STAGES = {
    "discovery": ("http", "discovery", "groups, versions, resources, health"),
    "schemas": ("http", "openapi", "the OpenAPI documents"),
    "authentication": ("http", "authn", "who is asking: certificates, tokens, nobody"),
    "authorization": (
        "http",
        "authz",
        "access reviews, and the roles they were decided from",
    ),
    "admission": ("http", "admission", "what plugins change and refuse"),
    "validation": (
        "http",
        "corpus",
        "manifests good and bad, and what the server says of them",
    ),
    "resource-handling": (
        "http",
        "storage",
        "conflicts, patches, apply, pages, selectors, watches",
    ),
    "objects": ("http", "objects", "every object of the fresh cluster"),
    "journey": (
        "http",
        "journey",
        "create, expose, scale, new image, undo, scale down, delete",
    ),
    "scheduling": ("http", "scheduling", "one pod at a time"),
    "kubelet": ("http", "kubelet", "pods of many shapes until they settled"),
    "services": ("http", "services", "Services of every shape, their endpoints"),
    "storage": ("etcd", "", "keys and raw values in etcd"),
    "audit": ("audit", "", "every request of every component during the journey"),
    "kubectl": ("kubectl", "", "kubectl's own output, with traces of its requests"),
    "dns": ("dns", "", "what dig printed"),
    "logs": ("logs", "", "component logs"),
    "node": ("node", "", "commands run in a node: iptables-save, crictl-ps, mounts …"),
}
"""Stage → the folder of a recording, the scenario in it, and what it is about. A
scenario's own name works as well.
"""

WIDTH = 100


@click.command()
@click.argument("stage", required=False)
@click.argument("what", nargs=-1)
@click.option(
    "--recording",
    default="kind-1.36.2",
    show_default=True,
    metavar="DIR",
    help="The recorded cluster to look into.",
)
@click.option(
    "--live",
    is_flag=True,
    help="Look into the live cluster kind-lifecycle instead: STAGE is a path, or node.",
)
def inspect(
    stage: str | None, what: tuple[str, ...], recording: str, live: bool
) -> None:
    """Show what the evidence holds for a STAGE; WHAT picks one thing of it.

    \b
    lifecycle inspect                                            the stages
    lifecycle inspect authorization                              the questions that were
    asked
    lifecycle inspect authorization 12                           one question, and its
    answer
    lifecycle inspect node lifecycle-worker iptables-save        a command's output
    lifecycle inspect node lifecycle-worker iptables-save before the same, at another
    moment
    lifecycle inspect --live /api/v1/nodes                       ask the live cluster
    """
    from lifecycle.inspector import LiveCluster, open_recording

    with refusals():
        if live:
            with LiveCluster() as cluster:
                _look_live(cluster, stage, what)
            return
        evidence = open_recording(recording)
        if stage is None:
            click.echo(f"{evidence.provenance}\n")
            for name, (_, _, about) in STAGES.items():
                click.echo(f"{name:18} {about}")
            return
        folder, scenario = _find(stage, evidence)
        if folder == "node":
            _node(evidence, what)
        elif folder == "http":
            _exchanges(evidence, scenario, what)
        else:
            _files(evidence, folder, what)


def _find(stage: str, evidence: Recording) -> tuple[str, str]:
    if stage in STAGES:
        return STAGES[stage][:2]
    if stage in evidence.scenarios():
        return "http", stage
    raise Misused(f"no stage {stage!r}; there are: {', '.join(STAGES)}")


def _exchanges(evidence: Recording, scenario: str, what: tuple[str, ...]) -> None:
    exchanges = evidence.exchanges(scenario)
    if not what:
        click.echo(f"{evidence.provenance}: {scenario}, {len(exchanges)} questions")
        for exchange in exchanges:
            moment = f"  ({exchange.moment})" if exchange.moment else ""
            asker = "" if exchange.identity == "admin" else f"  as {exchange.identity}"
            click.echo(
                f"{exchange.n:5}  {exchange.status}  {exchange.method:6}"
                f" {exchange.path[:WIDTH]}{moment}{asker}"
            )
        return
    chosen = next((e for e in exchanges if str(e.n) == what[0]), None)
    if chosen is None:
        raise Misused(
            f"{scenario} has no question {what[0]!r}; they are numbered"
            f" {exchanges[0].n} to {exchanges[-1].n}"
        )
    click.echo(f"{chosen.method} {chosen.path}\nAccept: {chosen.accept}")
    if chosen.body is not None:
        click.echo(
            f"Content-Type: {chosen.content_type}\n\n{_pretty_json(chosen.body)}"
        )
    click.echo(f"\n{chosen.status}")
    for name, value in chosen.headers.items():
        click.echo(f"{name}: {value}")
    click.echo(f"\n{_pretty_json(chosen.response)}")


def _node(evidence: Recording, what: tuple[str, ...]) -> None:
    if not what:
        for name in evidence.nodes():
            click.echo(name)
        return
    node = evidence.node(what[0])
    if len(what) == 1:
        for name, moments in node.files().items():
            at = ", ".join(moment or "(end)" for moment in moments)
            click.echo(f"{name:26} {node.command_line(name)[:60]:60}  {at}")
        return
    click.echo(node.run(what[1], moment=what[2] if len(what) > 2 else ""), nl=False)


def _files(evidence: Recording, folder: str, what: tuple[str, ...]) -> None:
    root = evidence.path / folder
    if what:
        click.echo(evidence.text(f"{folder}/{what[0]}"), nl=False)
        return
    for file in sorted(path for path in root.rglob("*") if path.is_file()):
        click.echo(f"{file.relative_to(root)!s:40} {file.stat().st_size:>10,} bytes")


def _look_live(cluster: LiveCluster, stage: str | None, what: tuple[str, ...]) -> None:
    if stage is None:
        click.echo(str(cluster.provenance))
    elif stage == "node" and len(what) == 2:
        click.echo(cluster.node(what[0]).run(what[1]), nl=False)
    elif stage.startswith("/"):
        click.echo(_pretty_json(cluster.get(stage)))
    else:
        raise Misused(
            "live, STAGE is a path such as /api/v1/nodes, or: node NAME COMMAND"
        )


def _pretty_json(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, indent=2)
