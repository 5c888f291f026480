"""Evicting pods, and waiting until they are gone.

An eviction is a request that a disruption budget may refuse: then it is asked for again
after five seconds. All pods of a node are asked for at the same time, and each is
looked at once a second, as upstream does.

Upstream: `kubectl/pkg/drain/drain.go` (`DeleteOrEvictPods`, `evictPods`, `deletePods`,
`waitForDelete`), v1.36.2. Left out: servers that have no evictions.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import suppress

from lifecycle.api.go.duration import go_duration
from lifecycle.api.go.format import go_quote
from lifecycle.api.http.wire import Object
from lifecycle.api.status import StatusError
from lifecycle.kubectl.commands.drain_filters import should_skip
from lifecycle.kubectl.failures import Aggregate, CommandError
from lifecycle.kubectl.flags import Parsed
from lifecycle.kubectl.printers import operation_line
from lifecycle.kubectl.session import Session

RETRY_PERIOD, POLL_PERIOD = 5.0, 1.0
"""Seconds between evictions of one pod, and between two looks at it."""


async def delete_or_evict(
    pods: Sequence[Object], p: Parsed, dry_run: str, session: Session
) -> None:
    """Take the pods away. Raises Aggregate for what could not be evicted; StatusError
    and CommandError for a deletion that failed or lasted too long.
    """
    if p["disable-eviction"]:
        await _delete(pods, p, dry_run, session)
        return
    timeout = p["timeout"]
    ends = asyncio.get_running_loop().time() + timeout if timeout else None
    errs: list[CommandError | StatusError] = []

    async def evict(pod: Object) -> None:
        try:
            await _Eviction(pod, p, dry_run, session, ends).run()
        except CommandError as error:
            errs.append(error)

    async with asyncio.TaskGroup() as group:
        for pod in pods:
            group.create_task(evict(pod))
    if errs:
        raise Aggregate(errs)


def _options(p: Parsed, dry_run: str) -> Object:
    options: Object = {}
    if p["grace-period"] >= 0:
        options["gracePeriodSeconds"] = p["grace-period"]
    if dry_run == "server":
        options["dryRun"] = ["All"]
    return options


def _path(pod: Object) -> str:
    metadata = pod["metadata"]
    return f"/api/v1/namespaces/{metadata['namespace']}/pods/{metadata['name']}"


class _Eviction:
    """One pod's way out. `ends`: the loop's time at which it is given up."""

    def __init__(
        self,
        pod: Object,
        p: Parsed,
        dry_run: str,
        session: Session,
        ends: float | None,
    ) -> None:
        self._pod, self._p, self._dry_run = pod, p, dry_run
        self._session, self._ends = session, ends
        self._name = pod["metadata"]["name"]
        self._namespace = pod["metadata"]["namespace"]

    async def run(self) -> None:
        """Ask until it is granted, then wait. Raises CommandError."""
        try:
            while not await self._granted():
                await asyncio.sleep(RETRY_PERIOD)
                await self._look_again()
        except _Gone:
            return
        if self._dry_run == "server":
            return
        try:
            await wait_for_delete(
                [self._pod], self._p, "evict", self._session, self._ends
            )
        except (CommandError, StatusError) as error:
            raise CommandError(
                f"error when waiting for pod {go_quote(self._name)} in namespace"
                f" {go_quote(self._namespace)} to terminate: {error}"
            ) from None

    @property
    def timed_out(self) -> bool:
        """The time of all evictions together has passed."""
        return (
            self._ends is not None and asyncio.get_running_loop().time() >= self._ends
        )

    async def _granted(self) -> bool:
        note = " (server dry run)" if self._dry_run == "server" else ""
        self._session.print_now(f"evicting pod {self._namespace}/{self._name}{note}\n")
        which = f"pods/{go_quote(self._name)} -n {go_quote(self._namespace)}"
        if self.timed_out:
            raise CommandError(
                f"error when evicting {which}: global timeout reached:"
                f" {go_duration(self._p['timeout'])}"
            )
        try:
            await self._session.send(
                "POST", f"{_path(self._pod)}/eviction", {}, self._eviction()
            )
        except StatusError as error:
            if error.code == 404:
                raise _Gone from None
            if error.code == 429:
                self._tell(f"error when evicting {which}", error)
                return False
            if not _namespace_terminating(error):
                raise CommandError(f"error when evicting {which}: {error}") from None
            if self._pod["metadata"].get("deletionTimestamp"):
                return True  # nobody needs to evict what is about to go
            self._tell(
                f"error when evicting pod {go_quote(self._name)} from terminating"
                f" namespace {go_quote(self._namespace)}",
                error,
            )
            return False
        return True

    def _eviction(self) -> Object:
        return {
            "apiVersion": "policy/v1",
            "kind": "Eviction",
            "metadata": {"name": self._name, "namespace": self._namespace},
            "deleteOptions": _options(self._p, self._dry_run),
        }

    def _tell(self, what: str, error: StatusError) -> None:
        self._session.warn(f"{what} (will retry after 5s): {error}\n")

    async def _look_again(self) -> None:
        """The pod as it is by now; as it was if it cannot be looked at."""
        with suppress(StatusError):
            self._pod = await self._session.send("GET", _path(self._pod))


class _Gone(Exception):
    """There is no such pod any more, and nothing to wait for."""


def _namespace_terminating(error: StatusError) -> bool:
    causes = (error.status.get("details") or {}).get("causes") or ()
    return error.code == 403 and any(
        cause.get("reason") == "NamespaceTerminating" for cause in causes
    )


async def wait_for_delete(
    pods: Sequence[Object],
    p: Parsed,
    verb: str,
    session: Session,
    ends: float | None,
) -> None:
    """Until all of them are gone, or others of the same names are there. `verb`: evict
    or delete; `ends`: the loop's time at which it is given up. Raises CommandError
    then, StatusError if one cannot be looked at.
    """
    left = list(pods)
    try:
        async with asyncio.timeout_at(ends):
            while True:
                left = [
                    pod for pod in left if not await _is_gone(pod, p, verb, session)
                ]
                if not left:
                    return
                await asyncio.sleep(POLL_PERIOD)
    except TimeoutError:
        raise CommandError("context deadline exceeded") from None


async def _is_gone(pod: Object, p: Parsed, verb: str, session: Session) -> bool:
    try:
        now = await session.send("GET", _path(pod))
    except StatusError as error:
        if error.code != 404:
            noun = "eviction" if verb == "evict" else "deletion"
            session.print_now(operation_line(pod, f"{noun} failed"))
            raise
        now = {"metadata": {}}
    if now["metadata"].get("uid") != pod["metadata"]["uid"]:
        participle = "evicted" if verb == "evict" else "deleted"
        session.print_now(operation_line(pod, participle))
        return True
    seconds = p["skip-wait-for-delete-timeout"]
    if should_skip(now, seconds):
        session.print_now(
            f"pod {go_quote(pod['metadata']['name'])} has DeletionTimestamp older than"
            f" {seconds} seconds, skipping\n"
        )
        return True
    return False


async def _delete(
    pods: Sequence[Object], p: Parsed, dry_run: str, session: Session
) -> None:
    options = {"kind": "DeleteOptions", "apiVersion": "v1", **_options(p, dry_run)}
    for pod in pods:
        try:
            await session.send("DELETE", _path(pod), {}, options)
        except StatusError as error:
            if error.code != 404:
                raise
    timeout = p["timeout"]
    ends = asyncio.get_running_loop().time() + timeout if timeout else None
    # also of a dry run, after which they stay, and only the timeout ends it
    await wait_for_delete(pods, p, "delete", session, ends)
