"""A REST transport that answers the official client from a recording.

The official client is layered: typed APIs, an `ApiClient` that turns arguments into a
request, and a REST object that sends it. We replace the last one. What arrives is
method, URL and headers; what must come back looks like a urllib3 response.

A question is matched by meaning (see `exchange.Question`). Two answers may be derived
from a list that was recorded, since a list says everything about its members at that
moment: one object by name (or its 404), and one namespace's part of a list of all
namespaces. Derived answers carry the header `x-lifecycle-derived`.

Upstream: `kubernetes.client.rest.RESTClientObject`.
"""

from __future__ import annotations

import io
import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol
from urllib.parse import urlsplit

from lifecycle.api.late_import import late_import
from lifecycle.api.status import StatusError, not_found
from lifecycle.inspector.errors import InspectorError
from lifecycle.inspector.exchange import Exchange, Question

if TYPE_CHECKING:
    from kubernetes.client import rest
else:
    rest = late_import("kubernetes.client.rest")

DERIVED = "x-lifecycle-derived"


class Recorded(Protocol):
    """As much of a `Recording` as answering takes."""

    path: Path
    scenario: str
    moment: str

    def scenarios(self) -> list[str]:
        """Names of the recorded HTTP scenarios."""

    def exchanges(self, scenario: str) -> tuple[Exchange, ...]:
        """All exchanges of a scenario, in order."""

    def watch(self, scenario: str) -> Iterator[dict[str, Any]]:
        """The recorded lines of its watches."""


class RecordedTransport:
    """Stands where `RESTClientObject` stands in an `ApiClient`."""

    def __init__(self, recording: Recorded) -> None:
        self._recording = recording
        self._answers: dict[Question, list[Exchange]] | None = None

    def close(self) -> None:
        """Nothing to close."""

    def request(
        self,
        method: str,
        url: str,
        headers: dict[str, str] | None = None,
        body: Any = None,
        post_params: Any = None,
        _request_timeout: Any = None,
    ) -> rest.RESTResponse:
        """Answer a request. Raises InspectorError, naming what was recorded, if the
        question was never asked.
        """
        sent = {key.lower(): value for key, value in (headers or {}).items()}
        parts = urlsplit(url)
        target = parts.path + (f"?{parts.query}" if parts.query else "")
        question = Question.of(method, target, sent.get("accept", ""))
        if question.param("watch") in ("true", "True", "1"):
            return rest.RESTResponse(
                _RecordedBody(
                    200, {"content-type": "application/json"}, self._watch(question)
                )
            )
        status, answer_headers, answer = self.answer(question, body)
        data = (
            answer.encode() if isinstance(answer, str) else json.dumps(answer).encode()
        )
        kind = "text/plain" if isinstance(answer, str) else "application/json"
        return rest.RESTResponse(
            _RecordedBody(status, {"content-type": kind, **answer_headers}, [data])
        )

    # -- looking up --------------------------------------------------------------------

    def _index(self) -> dict[Question, list[Exchange]]:
        if self._answers is None:
            self._answers = {}
            for scenario in (
                [self._recording.scenario]
                if self._recording.scenario
                else self._recording.scenarios()
            ):
                for exchange in self._recording.exchanges(scenario):
                    if (
                        not self._recording.moment
                        or exchange.moment == self._recording.moment
                    ):
                        self._answers.setdefault(exchange.question, []).append(exchange)
        return self._answers

    def answer(self, question: Question, body: Any) -> tuple[int, dict[str, str], Any]:
        """Status, headers and the parsed answer, which is the recording's own: not to
        be changed. Raises InspectorError like `request`.
        """
        exchanges = self._index().get(question)
        if exchanges:
            exchange = _choose(exchanges, body)
            if exchange is None:
                raise InspectorError(
                    f"{self._recording!r}: {question.method} {question.path} was"
                    " recorded only with other bodies"
                )
            return exchange.status, exchange.headers, exchange.response
        if question.method == "GET" and not question.form:
            derived = self._one_of_list(question) or self._part_of_list(question)
            if derived:
                return derived
        raise InspectorError(self._never_asked(question))

    def _one_of_list(
        self, question: Question
    ) -> tuple[int, dict[str, str], Any] | None:
        collection, _, name = question.path.rpartition("/")
        answer = self._list(question.with_path(collection))
        if answer is None:
            return None
        for item in answer["items"]:
            if item["metadata"]["name"] == name:
                head = {
                    "kind": answer["kind"].removesuffix("List"),
                    "apiVersion": answer["apiVersion"],
                }
                return 200, {DERIVED: "from a list"}, head | item
        group = collection.split("/")[2] if collection.startswith("/apis/") else ""
        refused: StatusError = not_found(collection.rpartition("/")[2], name, group)
        return 404, {DERIVED: "from a list"}, refused.status

    def _part_of_list(
        self, question: Question
    ) -> tuple[int, dict[str, str], Any] | None:
        before, separator, after = question.path.partition("/namespaces/")
        namespace, _, plural = after.partition("/")
        if not separator or not plural or "/" in plural:
            return None
        answer = self._exact_list(question.with_path(f"{before}/{plural}"))
        if answer is None:
            return None
        items = [
            item
            for item in answer["items"]
            if item["metadata"].get("namespace") == namespace
        ]
        return (
            200,
            {DERIVED: "from a list of all namespaces"},
            answer | {"items": items},
        )

    def _list(self, question: Question) -> Any:
        answer = self._exact_list(question)
        if answer is None and (part := self._part_of_list(question)):
            answer = part[2]
        return answer

    def _exact_list(self, question: Question) -> Any:
        exchanges = self._index().get(question)
        if not exchanges or exchanges[-1].status != 200:
            return None
        answer = exchanges[-1].response
        return (
            answer
            if isinstance(answer, dict) and isinstance(answer.get("items"), list)
            else None
        )

    def _never_asked(self, question: Question) -> str:
        plural = question.path.rpartition("/")[2]
        near = [e for e in self._index() if e.path == question.path] or [
            e for e in self._index() if e.path.endswith(f"/{plural}")
        ]
        near = near or list(self._index())
        lines = sorted({_line(q) for q in near})
        more = f" and {len(lines) - 8} more" if len(lines) > 8 else ""
        return (
            f"{self._recording!r} was never asked {_line(question)}; recorded:"
            f" {'; '.join(lines[:8])}{more}"
        )

    # -- watches -----------------------------------------------------------------------

    def _watch(self, question: Question) -> Iterator[bytes]:
        """The recorded events of a watch, from the resourceVersion asked for, as JSON
        lines.
        """
        scenarios = (
            [self._recording.scenario]
            if self._recording.scenario
            else sorted(
                path.stem for path in (self._recording.path / "watch").glob("*.jsonl")
            )
        )
        after = int(question.param("resourceVersion") or 0)
        seen = sent = 0
        for scenario in scenarios:
            for line in self._recording.watch(scenario):
                if line["path"].partition("?")[0] != question.path:
                    continue
                seen += 1
                event = line["event"]
                version = (
                    event.get("object", {})
                    .get("metadata", {})
                    .get("resourceVersion", "0")
                )
                if int(version or 0) > after:
                    sent += 1
                    yield json.dumps(event).encode() + b"\n"
        if not seen:
            raise InspectorError(
                f"{self._recording!r} holds no watch of {question.path}"
            )
        if not sent:
            raise InspectorError(
                f"the recorded watch of {question.path} has ended; pass timeout_seconds"
                " to stop there"
            )


def _choose(exchanges: list[Exchange], body: Any) -> Exchange | None:
    """The exchange that was sent the same body; without a body the last one (the state
    the recording ended in).
    """
    if body is None:
        return exchanges[-1]
    return next((e for e in exchanges if e.body == body), None)


def _line(question: Question) -> str:
    query = "&".join(f"{k}={v}" for k, v in sorted(question.query))
    return (
        f"{question.method} {question.path}"
        + (f"?{query}" if query else "")
        + (f" as {question.form}" if question.form else "")
    )


class _RecordedBody(io.IOBase):
    """As much of `urllib3.HTTPResponse` as the official client uses."""

    def __init__(
        self, status: int, headers: dict[str, str], chunks: Iterable[bytes]
    ) -> None:
        self.status = status
        self.reason = ""
        self.headers = headers
        self._chunks = chunks

    @property
    def data(self) -> bytes:
        """The whole body."""
        return b"".join(self._chunks)

    def stream(
        self, amt: int | None = None, decode_content: bool | None = None
    ) -> Iterator[bytes]:
        """The body in pieces, as a watch reads it."""
        yield from self._chunks

    def release_conn(self) -> None:
        """No connection to give back."""
