"""What a server answered while kubectl was asked something, and how it is played again: no cluster, no program, the same text.

A tape has one entry for each line: what was said, at which moment, and each request with its answer. Answers are kept once,
however many lines asked for them.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from typing import Any

from lifecycle.agreements.kubectl.printed import DESCRIPTIONS, NotOnTape, asked, tape_of
from lifecycle.agreements.kubectl.printed import LINES as TAPED
from lifecycle.agreements.kubectl.printed import Tape as TakenTape
from lifecycle.api.http.wire import Request, Response
from lifecycle.client.rest import Transport
from lifecycle.kubectl.discovery.discovery_client import document_of
from tests.kubectl.fake_server import kubectl

DESCRIBED = tape_of(DESCRIPTIONS)
"""Descriptions by kubectl 1.36. Written anew with `RECORD_KUBECTL=1 pytest tests/kubectl/test_describe_beside_real_kubectl.py`."""
LINES = tape_of(TAPED)
"""What else it was asked, in the same way."""


class Recorder:
    """A transport that writes down what passes through it."""

    def __init__(self, inner: Transport) -> None:
        self.inner = inner
        self.heard: list[tuple[str, int, dict[str, Any], str]] = []
        self.whole = True
        """Whether all of it can be written down: a watch goes on, and a schema is long."""

    async def round_trip(self, request: Request) -> Response:
        response = await self.inner.round_trip(request)
        if response.stream is not None or request.path.startswith("/openapi/"):
            self.whole = False
            return response
        document, warning = document_of(response), response.headers.get("warning", "")
        self.heard.append((asked(request), response.status, document, warning))
        return Response(status=response.status, obj=document, headers=dict(response.headers))

    async def close(self) -> None:
        await self.inner.close()


class Tape(TakenTape):
    """The file, to be written."""

    def add(self, line: str, argv: Sequence[str], now: float, said: list[Any], recorder: Recorder) -> None:
        """One line more; in `argv` a folder is called HOME. `now`: where the clock stood, in seconds since 1970."""
        heard = [[request, status, self._kept(answer), warning] for request, status, answer, warning in recorder.heard]
        self.lines[line] = {"argv": list(argv), "now": now, "said": said, "heard": heard}

    def forget(self, lines: Iterable[str]) -> None:
        """Lines that are recorded anew, or cannot be played; and the answers that only they have heard."""
        self.lines = {line: entry for line, entry in self.lines.items() if line not in set(lines)}
        wanted = {key for entry in self.lines.values() for _, _, key, _ in entry["heard"]}
        wanted |= {item for key in wanted for item in self.answers[key].get("items", ())}
        self.answers = {key: answer for key, answer in self.answers.items() if key in wanted}

    def play(self, line: str, argv: Sequence[str]) -> tuple[int, str, str]:
        """What our kubectl says if it hears that again. `argv`: the line in full, as words.

        Raises:
            AssertionError: it asks for something else.
        """
        player = self.player(line)
        try:
            code, out, err, _ = kubectl(list(argv), server=player)
        except NotOnTape as request:
            raise AssertionError(f"{request} was not asked then") from None
        assert player.left == [], "asked then, and not now"
        return code, out, err

    def plays(self, line: str, argv: Sequence[str], told: Callable[[tuple[int, str, str]], list[str]]) -> bool:
        """Whether that is what was said then. It is not if the command asked somebody else, too."""
        with suppress(AssertionError):
            return told(self.play(line, argv)) == self.lines[line]["said"]
        return False

    def _kept(self, answer: dict[str, Any]) -> str:
        if "items" in answer:
            answer = {**answer, "items": [self._kept(item) for item in answer["items"] or ()]}
        elif "managedFields" in answer.get("metadata", {}):  # half of what is sent, and nobody describes it
            answer = {**answer, "metadata": {k: v for k, v in answer["metadata"].items() if k != "managedFields"}}
        key = hashlib.sha256(json.dumps(answer, sort_keys=True).encode()).hexdigest()[:12]
        self.answers[key] = answer
        return key

    def write(self) -> None:
        """Into the file, each entry on a line; the same tape is the same file."""
        parts = {"answers": self.answers, "files": self.files, "lines": self.lines}
        self.path.write_text("{" + ",\n".join(f"{_json(name)}: {_table(part)}" for name, part in parts.items()) + "}\n")


def _table(entries: dict[str, Any]) -> str:
    return "{\n" + ",\n".join(f"{_json(key)}: {_json(entries[key])}" for key in sorted(entries)) + "\n}"


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, sort_keys=True)
