"""What all components have in common on the command line: which server, as whom, which
port, how talkative; and how they begin and end.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Coroutine
from typing import TYPE_CHECKING, Any, TextIO, TypeVar

import click

from lifecycle.api.late_import import late_import
from lifecycle.cli.go_flags import Duration, flag
from lifecycle.cli.refusal import Refusal, refusals
from lifecycle.cli.signals import first_signal

if TYPE_CHECKING:
    import asyncio
    import logging

    from lifecycle.cluster.alone.connection import Connection, Target
    from lifecycle.cluster.alone.leading import LeaderElectionConfiguration
    from lifecycle.cluster.alone.process import Component
else:  # `lifecycle --help` loads every word
    asyncio, logging = late_import("asyncio"), late_import("logging")

F = TypeVar("F", bound=Callable[..., Any])

LINE = "%(levelname).1s%(asctime)s.%(msecs)03d %(name)s] %(message)s"
LEVELS = ("WARNING", "INFO", "DEBUG")


def connection_options(function: F) -> F:
    """Which server, as whom; which loopback port; how talkative."""
    options = (
        click.option(
            "--kubeconfig",
            default="",
            metavar="PATH",
            help="Which server, as whom; KUBECONFIG or ~/.kube/config otherwise.",
        ),
        click.option("--context", default="", help="The kubeconfig's, if not current."),
        click.option(
            "--as",
            "impersonate",
            default="",
            metavar="USER",
            help="Act as somebody else: an administrator may.",
        ),
        click.option(
            "--as-group",
            "impersonate_groups",
            multiple=True,
            metavar="GROUP",
            help="Act as a member; again for the next.",
        ),
        click.option(
            "--healthz-port",
            type=click.IntRange(0, 65535),
            default=0,
            help="Port on 127.0.0.1 for health and metrics; 0 picks a free one.",
        ),
        click.option("-v", "verbosity", count=True, help="Say more; -vv everything."),
    )
    for option in reversed(options):
        function = option(function)
    return function


def election_options(function: F) -> F:
    """For components of which one works and the others stand by."""
    options = (
        flag(
            "leader-elect",
            default=True,
            text="Work only while holding the lease, stand by otherwise.",
        ),
        click.option(
            "--leader-elect-lease-duration",
            type=Duration(),
            default="15s",
            show_default=True,
            help="How long others wait for a leader that fell silent.",
        ),
        click.option(
            "--leader-elect-renew-deadline",
            type=Duration(),
            default="10s",
            show_default=True,
            help="How long a leader tries to renew before it gives up.",
        ),
        click.option(
            "--leader-elect-retry-period",
            type=Duration(),
            default="2s",
            show_default=True,
            help="Between attempts.",
        ),
        click.option(
            "--leader-elect-resource-name",
            default="",
            help="The Lease; by default the component's name.",
        ),
        click.option(
            "--leader-elect-resource-namespace",
            default="kube-system",
            show_default=True,
            help="Where it is.",
        ),
    )
    for option in reversed(options):
        function = option(function)
    return function


def election(
    options: dict[str, Any], from_file: dict[str, Any] | None = None
) -> LeaderElectionConfiguration:
    """What the flags say, taken out of `options`; a `--config` file stands above
    defaults and below flags that were typed.
    """
    from lifecycle.cluster.alone.leading import LeaderElectionConfiguration

    prefix = "leader_elect"
    given = {
        name: options.pop(name) for name in list(options) if name.startswith(prefix)
    }
    fields = {}
    for name, value in given.items():
        key = name if name == prefix else name.removeprefix(f"{prefix}_")
        fields[key] = value if is_typed(name) else (from_file or {}).get(key, value)
    return LeaderElectionConfiguration(**fields)


def is_typed(name: str) -> bool:
    """Whether a flag was given, so that it wins over a `--config` file."""
    source = click.get_current_context().get_parameter_source(name)
    return source is not click.core.ParameterSource.DEFAULT


def target(options: dict[str, Any], kubeconfig: str = "") -> Target:
    """Which server, as whom; taken out of `options`. `kubeconfig`: if none was
    typed.
    """
    from lifecycle.cluster.alone.connection import Target

    return Target(
        options.pop("kubeconfig") or kubeconfig,
        options.pop("context"),
        options.pop("impersonate"),
        options.pop("impersonate_groups"),
    )


def tell(line: str) -> None:
    """What an operator wants to know."""
    print(line, file=sys.stderr, flush=True)


def serve(
    name: str,
    make: Callable[[Connection], Component],
    target: Target,
    *,
    healthz_port: int,
    verbosity: int,
    election: LeaderElectionConfiguration | None = None,
    ready_on_stderr: bool = False,
) -> None:
    """Run a component until a signal comes; leaves the process with 1 and one line for
    what goes wrong, with 128 and the number for a signal before it was ready.
    `ready_on_stderr`: where stdout is for what the component prints.
    """
    from lifecycle.cluster.alone.process import ComponentProcess
    from lifecycle.cluster.background import new_event_loop

    logging.basicConfig(
        level=LEVELS[min(verbosity, 2)], format=LINE, datefmt="%m%d %H:%M:%S"
    )
    process = ComponentProcess(
        name,
        make,
        target,
        os.environ,
        healthz_port,
        election,
        told=tell,
    )
    with refusals(), asyncio.Runner(loop_factory=new_event_loop) as runner:
        where = sys.stderr if ready_on_stderr else sys.stdout
        too_early = runner.run(until_signal(process.run, where))
    if too_early:
        Refusal("ended by a signal before it was ready").show()
        click.get_current_context().exit(128 + too_early)


async def until_signal(
    run: Callable[[Callable[[str], None]], Coroutine[Any, Any, None]], where: TextIO
) -> int:
    """Run until it ends or a signal comes. The signal's number if that was before
    `ready` was printed (to `where`), else 0.
    """
    printed: list[str] = []

    def ready(url: str) -> None:
        if not printed:
            print(f"ready {url}", file=where, flush=True)
        printed.append(url)

    waiting = first_signal()
    running: asyncio.Future[Any] = asyncio.ensure_future(run(ready))
    await asyncio.wait([running, waiting], return_when=asyncio.FIRST_COMPLETED)
    if running.done():
        waiting.cancel()
        await running
        return 0
    running.cancel()
    await asyncio.wait([running])
    return 0 if printed else waiting.result()
