"""One recorded request and its answer, and what it means for two requests to be the
same.

A recording answers a question that was asked once. "The same question" cannot mean the
same bytes: clients order query parameters differently, spell `Accept` differently, and
add parameters (`pretty`, a time-out) that change nothing about the answer.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qsl, urlsplit

_NO_MEANING = frozenset(
    {"pretty", "timeout", "timeoutSeconds", "allowWatchBookmarks", "fieldValidation"}
)
"""Query parameters that do not change what a GET answers."""


@dataclass(slots=True, frozen=True)
class Exchange:
    """A line of `http/<scenario>.jsonl`. `t` and `ms` are seconds since the scenario
    began and milliseconds the answer took.

    `token` is the bearer token that was sent, if any.
    """

    scenario: str
    n: int
    t: float
    ms: float
    identity: str
    moment: str
    method: str
    path: str
    content_type: str
    accept: str
    headers_sent: dict[str, str]
    body: Any
    status: int
    headers: dict[str, Any]
    response: Any
    token: str = ""

    @classmethod
    def from_line(cls, scenario: str, line: dict[str, Any]) -> Exchange:
        """Read one line of a recording."""
        return cls(
            scenario=scenario,
            n=line["n"],
            t=line["t"],
            ms=line["ms"],
            identity=line["as"],
            moment=line["note"] or "",
            method=line["method"],
            path=line["path"],
            content_type=line["content_type"] or "",
            accept=line["accept"] or "",
            headers_sent=line["headers_sent"] or {},
            body=line["body"],
            status=line["status"],
            headers=line["headers"] or {},
            response=line["response"],
            token=line.get("token", ""),
        )

    @property
    def question(self) -> Question:
        """What this exchange answers."""
        return Question.of(self.method, self.path, self.accept)

    def __str__(self) -> str:
        at = f" ({self.moment})" if self.moment else ""
        return f"{self.scenario} #{self.n}{at}: {self.method} {self.path}"


@dataclass(slots=True, frozen=True)
class Question:
    """A request reduced to its meaning; hashable, so that recordings can be looked up
    by it.
    """

    method: str
    path: str
    query: frozenset[tuple[str, str]]
    form: str

    @classmethod
    def of(cls, method: str, target: str, accept: str = "") -> Question:
        """The meaning of a request line and its `Accept` header."""
        parts = urlsplit(target)
        pairs = parse_qsl(parts.query, keep_blank_values=True)
        drop = (
            _NO_MEANING
            if method.upper() == "GET"
            else frozenset({"pretty", "fieldValidation"})
        )
        query = frozenset((k, v) for k, v in pairs if k not in drop)
        return cls(method.upper(), parts.path.rstrip("/") or "/", query, _form(accept))

    def with_path(self, path: str) -> Question:
        """The same question about another path."""
        return Question(self.method, path, self.query, self.form)

    def param(self, key: str) -> str:
        """A query parameter's value, or an empty string."""
        return next((v for k, v in self.query if k == key), "")


def _form(accept: str) -> str:
    """Which rendering an `Accept` header wants first: `""` for the object itself, else
    `Table`, `yaml`, …
    """
    first = accept.split(",")[0]
    media, *params = (part.strip() for part in first.split(";"))
    for param in params:
        if param.startswith("as="):
            return param[3:]
    sub = media.rpartition("/")[2]
    return "" if sub in ("", "json", "*") else sub
