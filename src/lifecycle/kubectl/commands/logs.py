"""`kubectl logs`: what containers have written, of one pod or of several.

Upstream: `kubectl/pkg/cmd/logs/logs.go` (`Complete`, `Validate`, `RunLogs`,
`parallelConsumeRequest`), `kubectl/pkg/polymorphichelpers/logsforobject.go`, v1.36.2.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import aclosing

from lifecycle.api.http.wire import Object
from lifecycle.api.status import StatusError
from lifecycle.kubectl.commands.log_sources import LogSource, logs_for_object
from lifecycle.kubectl.failures import CommandError, UsageError
from lifecycle.kubectl.flag_values import rfc3339
from lifecycle.kubectl.flags import SELECTOR, Parsed, flag, parse
from lifecycle.kubectl.resource_args import NOTHING_NAMED, resource_names
from lifecycle.kubectl.session import Session
from lifecycle.kubectl.visitor import Info, visit

FLAGS = (
    SELECTOR,
    flag("all-pods", "bool"),
    flag("all-containers", "bool"),
    flag("follow", "bool", short="f"),
    flag("timestamps", "bool"),
    flag("limit-bytes", "int64"),
    flag("previous", "bool", short="p"),
    flag("tail", "int64", -1),
    flag("ignore-errors", "bool"),
    flag("since-time"),
    flag("since", "duration"),
    flag("container", short="c"),
    flag("insecure-skip-tls-verify-backend", "bool"),
    flag("pod-running-timeout", "duration", 20.0),
    flag("max-log-requests", "int", 5),
    flag("prefix", "bool"),
)
SELECTOR_TAIL = 10
"""Lines of each pod, where a selector chooses pods and nobody said how many."""
_USAGE = (
    "expected 'logs [-f] [-p] (POD | TYPE/NAME) [-c CONTAINER]'.\nPOD or TYPE/NAME is a"
    " required argument for the logs command"
)


async def logs(argv: Sequence[str], session: Session) -> None:
    """Run `kubectl logs ARGV`."""
    p = parse(argv, FLAGS, "logs", session.warn)
    if len(p.args) > 2 or (not p.args and not p["selector"]):
        raise UsageError(_USAGE, "logs")
    if len(p.args) == 1 and p["selector"]:
        raise UsageError("only a selector (-l) or a POD name is allowed", "logs")
    container = p.args[1] if len(p.args) == 2 else p["container"]
    if p["pod-running-timeout"] <= 0:
        raise CommandError("--pod-running-timeout must be higher than zero")
    query = _log_options(p)
    objects = await _objects(p, session)
    _validate(p, container, query)
    sources = [
        source
        for obj in objects
        for source in await logs_for_object(
            obj,
            container,
            session,
            timeout=p["pod-running-timeout"],
            all_containers=p["all-containers"],
            all_pods=p["all-pods"],
        )
    ]
    await _Reading(p, query, session).run(sources)


def _log_options(p: Parsed) -> dict[str, str]:
    """The query of each request; no container yet. Raises CommandError."""
    query = {name: "true" for name in ("follow", "previous", "timestamps") if p[name]}
    if p["insecure-skip-tls-verify-backend"]:
        query["insecureSkipTLSVerifyBackend"] = "true"
    if p["since-time"]:
        query["sinceTime"] = rfc3339(p["since-time"])
    if p["since"]:
        seconds = int(abs(p["since"]) + 0.5)  # halves go away from zero
        query["sinceSeconds"] = str(seconds if p["since"] > 0 else -seconds)
    if p["limit-bytes"]:
        query["limitBytes"] = str(p["limit-bytes"])
    if p["tail"] != -1:
        query["tailLines"] = str(p["tail"])
    elif p["selector"] and "tail" not in p.changed:
        query["tailLines"] = str(SELECTOR_TAIL)
    return query


def _validate(p: Parsed, container: str, query: dict[str, str]) -> None:
    if p["since-time"] and p["since"]:
        raise CommandError(
            "at most one of `sinceTime` or `sinceSeconds` may be specified"
        )
    if p["all-containers"] and container:
        raise CommandError(
            "--all-containers=true should not be specified with container name"
            f" {container}"
        )
    if "container" in p.changed and len(p.args) == 2:
        raise CommandError("only one of -c or an inline [CONTAINER] arg is allowed")
    if p["limit-bytes"] < 0:
        raise CommandError("--limit-bytes must be greater than 0")
    if int(query.get("sinceSeconds", 0)) < 0:
        raise CommandError("--since must be greater than 0")
    if p["tail"] < -1:
        raise CommandError("--tail must be greater than or equal to -1")


async def _objects(p: Parsed, session: Session) -> list[Object]:
    """The object that is named, or the pods that are selected."""
    if p.args[:1] == [""]:
        raise CommandError(NOTHING_NAMED)
    args = ["pods"] if p["selector"] else resource_names("pods", p.args[:1])
    objects = []
    async for info in visit(session, p, args):
        if isinstance(info, StatusError) and info.code == 404:
            raise CommandError(
                f"error from server (NotFound): {info.message} in namespace"
                f' "{session.namespace}"'
            )
        if not isinstance(info, Info):
            raise info
        objects.append(info.obj)
    if not objects:
        session.warn(f"No resources found in {session.namespace} namespace.\n")
    return objects


class _Reading:
    """Reads logs one after another; those that are followed, all at once."""

    def __init__(self, p: Parsed, query: dict[str, str], session: Session) -> None:
        self._p, self._query, self._session = p, query, session
        self._prefix = p["prefix"] or p["all-pods"]

    async def run(self, sources: Sequence[LogSource]) -> None:
        """Until all of them have ended. Raises CommandError, StatusError."""
        if not self._p["follow"] or len(sources) < 2:
            for source in sources:
                await self._consume(source)
            return
        most = self._p["max-log-requests"]
        if len(sources) > most:
            raise CommandError(
                f"you are attempting to follow {len(sources)} log streams, but maximum"
                f" allowed concurrency is {most}, use --max-log-requests to increase"
                " the limit"
            )
        tasks = [asyncio.ensure_future(self._consume(source)) for source in sources]
        try:
            await asyncio.gather(*tasks)
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    async def _consume(self, source: LogSource) -> None:
        try:
            await self._read(source)
        except (CommandError, StatusError) as error:
            if not self._p["ignore-errors"]:
                raise
            self._session.print_now(f"error: {error}\n")

    async def _read(self, source: LogSource) -> None:
        """Print a log, line by line: lines of several logs do not mix."""
        prefix = f"[pod/{source.pod}/{source.container}] " if self._prefix else ""
        pieces = self._session.stream(
            source.path, {**self._query, "container": source.container}
        )
        rest = b""
        try:
            async with aclosing(pieces):
                async for piece in pieces:
                    *lines, rest = (rest + piece).split(b"\n")
                    text = b"".join(prefix.encode() + line + b"\n" for line in lines)
                    if text:
                        self._session.print_now(text.decode(errors="replace"))
        except ConnectionError:
            raise CommandError("unexpected EOF") from None
        if rest:
            self._session.print_now(prefix + rest.decode(errors="replace"))
