"""Health: is the server alive, and is it ready for work?

`/livez` asks whether restarting it would help, `/readyz` whether requests should be
sent to it; `/healthz` is the older of both. Each is a list of named checks. `?verbose`
shows them all, `?exclude=` leaves one out, and `/livez/etcd` asks a single one.

The names are those of the pinned version, so that a monitor finds what it looks for;
most of what they stand for (start-up hooks of many components) is one step here and
done before the server answers at all.

Upstream: `apiserver/pkg/server/healthz/healthz.go` (`handleRootHealth`,
`adaptCheckToHandler`), v1.36.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

from lifecycle.api.go.format import go_quote
from lifecycle.api.http.wire import Request, Response
from lifecycle.api.published import published_bytes
from lifecycle.apiserver.endpoints.document import page_not_found, text

ENDPOINTS = ("healthz", "livez", "readyz")
Check = Callable[[], str]
"""Returns an empty string, or what is wrong."""


@cache
def check_names(endpoint: str) -> tuple[str, ...]:
    """The checks of an endpoint, in order."""
    name = "readyz" if endpoint == "readyz" else "livez"
    lines = published_bytes(f"discovery/{name}.txt").decode().splitlines()
    return tuple(
        line[3:].removesuffix(" ok") for line in lines if line.startswith("[+]")
    )


class Health:
    """The three endpoints. `checks` holds the checks that can fail, by name; the others
    always succeed.
    """

    def __init__(self, checks: dict[str, Check] | None = None) -> None:
        self.checks = checks if checks is not None else {}

    def serve(self, request: Request, path: str) -> Response:
        """`/livez`, `/livez/etcd` …"""
        endpoint, _, single = path.lstrip("/").partition("/")
        names = check_names(endpoint)
        if single:
            if single not in names:
                return page_not_found()
            problem = self._ask(single)
            return (
                text(f"internal server error: {problem}\n", 500)
                if problem
                else text("ok")
            )
        excluded = set(request.query.get("exclude", []))
        lines = []
        failed = []
        for name in names:
            if name in excluded:
                lines.append(f"[+]{name} excluded: ok\n")
            elif self._ask(name):
                lines.append(f"[-]{name} failed: reason withheld\n")
                failed.append(name)
            else:
                lines.append(f"[+]{name} ok\n")
        if unknown := ",".join(
            go_quote(name) for name in sorted(excluded.difference(names))
        ):
            lines.append(
                "warn: some health checks cannot be excluded: no matches for"
                f" {unknown}\n"
            )
        if failed:
            return text("".join(lines) + f"{endpoint} check failed\n", 500)
        if "verbose" not in request.query:
            return text("ok")
        return text("".join(lines) + f"{endpoint} check passed\n")

    def _ask(self, name: str) -> str:
        check = self.checks.get(name)
        return check() if check is not None else ""
