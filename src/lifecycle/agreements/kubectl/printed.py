"""What kubectl prints, and asks, held against a real one, letter by letter.

The real kubectl was asked hundreds of things by people who know it and by people who do
not: to make, to change, to explain, to describe. While it answered, everything that the
server said was taped. Ours is asked the same and hears the tape; it must ask for just
what is on it, and print the same.

For a description our clock stands where the real one's stood, so ages are compared,
too; times are told in the reader's own zone, and are compared in one.
"""

from __future__ import annotations

import io
import json
import re
from collections.abc import Callable, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from lifecycle.api.http.wire import Object, Request, Response
from lifecycle.client.rest import Client
from lifecycle.cluster.rehearsal import on_virtual_time
from lifecycle.compare import AgreementTable
from lifecycle.compare.compare import compare
from lifecycle.inspector.opening import recordings_directory
from lifecycle.kubectl.command import run_kubectl

LINES, DESCRIPTIONS = "lines", "descriptions"
WHO = "kubectl v1.36, asked once and taped"
AGES = re.compile(r"(?<=\s)(\d+[smh])+( \(\d+[smh] ago\))?(?=\s)")
OWN = (
    (re.compile(r"(?m)^[EFW]\d{4} .*?\] "), ""),
    (re.compile(r"(?<=web-)\w+-\w{5}\b"), "<random>"),
    (re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}"), "<uid>"),
    (re.compile(r"\d{4}-\d\d-\d\dT[\d:]+Z"), "<time>"),
    (re.compile(r'resourceVersion"?: ?"\d+"'), "<revision>"),
    (re.compile(r'resourceVersion":"\d+"'), "<revision>"),
    (re.compile(r"(?<=, was )\d+"), "<revision>"),
)
"""What no two objects share."""
_STAMP = re.compile(r"\w{3}, \d\d \w{3} \d{4} [\d:]{8} [+-]\d{4}")


Clean = Callable[[Sequence[object], Path], list[str]]
"""Makes an answer one that can be compared."""


class NotOnTape(Exception):
    """Somebody asked for something that nobody asked for then."""


def tape_of(name: str) -> Path:
    """The file of a tape."""
    return Path(recordings_directory(), "programs-1.36.2", f"{name}.json")


def asked(request: Request) -> str:
    """What makes a request the one it is: `GET /api/v1/pods?limit=500 as=Table`. How
    its parameters are ordered does not.
    """
    query = "&".join(
        f"{key}={value}"
        for key, values in sorted(request.query.items())
        for value in values
    )
    form = " as=Table" if "as=Table" in request.headers.get("accept", "") else ""
    return f"{request.method} {request.path}{query and '?' + query}{form}"


class Player:
    """A transport that answers from a tape; each answer once, for who asks again may
    hear something else.
    """

    def __init__(self, heard: list[tuple[str, int, Any, str]]) -> None:
        self.left = heard
        self.strange: list[str] = []
        """What was asked and is not on the tape, or not as often."""

    async def round_trip(self, request: Request) -> Response:
        """Raises NotOnTape."""
        wanted = asked(request)
        found = next((entry for entry in self.left if entry[0] == wanted), None)
        if found is None:
            self.strange.append(wanted)
            raise NotOnTape(wanted)
        self.left.remove(found)
        _, status, document, warning = found
        headers = {"warning": warning} if warning else {}
        return Response(status=status, obj=document, headers=headers)

    async def close(self) -> None:
        """See `Transport`."""


class Tape:
    """A file: what was typed, what was said to it, and what was heard meanwhile.
    Answers are kept once, however many lines heard them.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.lines: dict[str, Object] = {}
        self.answers: dict[str, Any] = {}
        self.files: dict[str, str] = {}
        """What lies in the folder that is called HOME."""
        if path.exists():
            document = json.loads(path.read_bytes())
            self.lines, self.answers = document["lines"], document["answers"]
            self.files = document.get("files", {})

    def player(self, line: str) -> Player:
        """Somebody who answers as the server did then."""
        return Player(
            [
                (request, status, self._answer(key), warning)
                for request, status, key, warning in self.lines[line]["heard"]
            ]
        )

    def _answer(self, key: str) -> Object:
        answer: Object = self.answers[key]
        if "items" not in answer:
            return answer
        return {**answer, "items": [self._answer(item) for item in answer["items"]]}

    def furnish(self, home: Path) -> None:
        """Write the files."""
        for name, text in self.files.items():
            (home / name).parent.mkdir(parents=True, exist_ok=True)
            (home / name).write_text(text)


def shown(part: object) -> str:
    """Without ages and how wide they are, and without the object that a failed template
    prints at length.
    """
    text = re.sub(r"(<age>|AGE) +", r"\1 ", AGES.sub("<age>", str(part)))
    return text.partition("\tobject given to jsonpath engine was:")[0]


def told(answer: Sequence[object], home: Path) -> list[str]:
    """Without what differs from moment to moment: where files are, times, and the
    random parts of names.
    """
    parts = [shown(part) for part in bare(answer, home)]
    for pattern, name in OWN:
        parts = [pattern.sub(name, part) for part in parts]
    return parts


def bare(answer: Sequence[object], home: Path) -> list[str]:
    """Without where files are, and with times of one zone."""
    texts = (str(part).replace(str(home), "HOME") for part in answer)
    return [_STAMP.sub(_in_utc, text) for text in texts]


def _in_utc(match: re.Match[str]) -> str:
    moment: datetime = parsedate_to_datetime(match[0])
    return moment.astimezone(UTC).isoformat()


def printed_agreement() -> AgreementTable:
    """A row for each line: exit code, both outputs, and what was asked."""
    table = AgreementTable(
        "What kubectl prints",
        "lifecycle",
        WHO,
        lambda table: (
            f"{len(table.computed)} lines typed into a real kubectl, and into ours,"
            " which hears what the server said then. Exit codes, both outputs and every"
            f" request: {table.outcome('answers')}, letter by letter."
        ),
        telling="describe svc web",
    )
    with TemporaryDirectory() as folder:
        home = Path(folder)
        for name in (LINES, DESCRIPTIONS):
            tape = Tape(tape_of(name))
            tape.furnish(home)
            clean = told if name == LINES else bare
            for line, then in tape.lines.items():
                ours = _ours(tape, line, home, clean)
                theirs = _as_shown(clean(then["said"], home))
                here, there = (_short(side) for side in (ours, theirs))
                table.add(name, line, here, there, compare(ours, theirs))
    return table


def _ours(tape: Tape, line: str, home: Path, clean: Clean) -> Object:
    then = tape.lines[line]
    argv = [word.replace("HOME", str(home)) for word in then["argv"]]
    player = tape.player(line)
    out, err, code = io.StringIO(), io.StringIO(), -1
    with suppress(NotOnTape):
        code = on_virtual_time(
            run_kubectl(argv, Client(player, "kubectl"), out=out, err=err), then["now"]
        )
    said = _as_shown(clean((code, out.getvalue(), err.getvalue()), home))
    asked_for = {"not asked": [entry[0] for entry in player.left]}
    strange = {"asked besides": player.strange}
    return said | {key: v for key, v in (asked_for | strange).items() if v}


def _as_shown(said: list[str]) -> Object:
    code, out, err = said
    return {"exit": code, "out": out.splitlines(), "err": err.splitlines()}


def _short(said: Object) -> str:
    lines = [*said["out"], *said["err"]]
    more = f" (and {len(lines) - 1} lines)" if len(lines) > 1 else ""
    return f"{lines[0].strip()[:60] if lines else 'exit ' + said['exit']}{more}"
