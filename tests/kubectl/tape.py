"""What a server answered while kubectl was asked something, and how it is played again: no cluster, no program, the same text.

A tape has one entry for each line: what was said, at which moment, and each request with its answer. Answers are kept once,
however many lines asked for them.
"""

from __future__ import annotations

import gzip
import hashlib
import json
from pathlib import Path
from typing import Any

from lifecycle.api.wire import Request, Response
from lifecycle.client.rest import Client, Transport
from lifecycle.kubectl.discovery.discovery_client import document_of

DESCRIBED = Path(__file__).parent / "real_descriptions.json.gz"
"""Descriptions by kubectl 1.36. Written anew with `RECORD_KUBECTL=1 pytest tests/kubectl/test_describe_beside_real_kubectl.py`."""


def asked(request: Request) -> str:
    """What makes a request the one it is: `GET /api/v1/pods?limit=500 as=Table`. How its parameters are ordered does not."""
    query = "&".join(f"{key}={value}" for key in sorted(request.query) for value in request.query[key])
    form = " as=Table" if "as=Table" in request.headers.get("accept", "") else ""
    return f"{request.method} {request.path}{query and '?' + query}{form}"


class Recorder:
    """A transport that writes down what passes through it."""

    def __init__(self, inner: Transport) -> None:
        self.inner = inner
        self.heard: list[tuple[str, int, dict[str, Any], str]] = []

    async def round_trip(self, request: Request) -> Response:
        response = await self.inner.round_trip(request)
        document, warning = document_of(response), response.headers.get("warning", "")
        self.heard.append((asked(request), response.status, document, warning))
        return Response(status=response.status, obj=document, headers=dict(response.headers))

    async def close(self) -> None:
        await self.inner.close()


class Tape:
    """The file: what was said to each line, and what was heard meanwhile."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.lines: dict[str, dict[str, Any]] = {}
        self.answers: dict[str, Any] = {}
        if path.exists():
            document = json.loads(gzip.decompress(path.read_bytes()))
            self.lines, self.answers = document["lines"], document["answers"]

    def add(self, line: str, now: float, said: list[Any], recorder: Recorder) -> None:
        """One line more. `now`: where the clock stood, in seconds since 1970."""
        heard = [[request, status, self._kept(answer), warning] for request, status, answer, warning in recorder.heard]
        self.lines[line] = {"now": now, "said": said, "heard": heard}

    def _kept(self, answer: dict[str, Any]) -> str:
        if "items" in answer:
            answer = {**answer, "items": [self._kept(item) for item in answer["items"] or ()]}
        elif "managedFields" in answer.get("metadata", {}):  # half of what is sent, and nobody describes it
            answer = {**answer, "metadata": {k: v for k, v in answer["metadata"].items() if k != "managedFields"}}
        key = hashlib.sha256(json.dumps(answer, sort_keys=True).encode()).hexdigest()[:12]
        self.answers[key] = answer
        return key

    def _answer(self, key: str) -> dict[str, Any]:
        answer: dict[str, Any] = self.answers[key]
        return {**answer, "items": [self._answer(item) for item in answer["items"]]} if "items" in answer else answer

    def write(self) -> None:
        """Into the file; the same tape is the same file."""
        document = json.dumps({"lines": self.lines, "answers": self.answers}, ensure_ascii=False, sort_keys=True)
        self.path.write_bytes(gzip.compress(document.encode(), mtime=0))

    def player(self, line: str) -> Player:
        """Somebody who answers as the server did then."""
        heard = self.lines[line]["heard"]
        return Player([(request, status, self._answer(key), warning) for request, status, key, warning in heard])


class Player:
    """A transport that answers from a tape; each answer once, for who asks again may hear something else.

    A request that is not on the tape, or not as often, fails: the command asked for something that it did not need.
    """

    def __init__(self, heard: list[tuple[str, int, Any, str]]) -> None:
        self.left = heard

    async def round_trip(self, request: Request) -> Response:
        wanted = asked(request)
        found = next((entry for entry in self.left if entry[0] == wanted), None)
        assert found is not None, f"{wanted} was not asked then; what is left: {[entry[0] for entry in self.left]}"
        self.left.remove(found)
        _, status, document, warning = found
        return Response(status=status, obj=document, headers={"warning": warning} if warning else {})

    async def close(self) -> None:
        """Nothing to close."""

    def client(self) -> Client:
        """For `run_kubectl`."""
        return Client(self, "test")
