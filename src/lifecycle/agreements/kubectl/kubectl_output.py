"""kubectl's generators and refusals held against what the real one printed.

The recordings hold some forty `kubectl create …` and `kubectl run …` lines, each with
what `--dry-run=client -o json` printed for it: stdout, stderr, exit code. Our kubectl
gets the same lines. All it may ask meanwhile is what the recorded server serves
(discovery); any other request would make the comparison fail, because a client-side dry
run must not need one.
"""

from __future__ import annotations

import asyncio
import shlex
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from lifecycle.api.http.wire import Request, Response
from lifecycle.client.rest import Transport
from lifecycle.cluster.command_line import Typed, type_line
from lifecycle.compare import AgreementTable, Comparison, compare
from lifecycle.historical.kubectl.generators import run
from lifecycle.inspector import InspectorError, LiveCluster, Recording
from lifecycle.inspector.kubectl_command import run_kubectl
from lifecycle.inspector.transcript import Transcript, parse_transcript

Kubectl = Callable[[Sequence[str], Transport], Awaitable[Typed]]
"""Something that can stand in ours' place: takes a command line without `kubectl`, and
a way to the server.
"""

COMMANDS = ("create-", "run-")


class RecordedDiscovery:
    """A transport that knows what a recorded server serves, and nothing else."""

    def __init__(self, recording: Recording) -> None:
        self._documents = {
            ("apidiscovery" in exchange.accept, exchange.path): exchange.response
            for exchange in recording.exchanges("discovery")
            if exchange.method == "GET" and exchange.status == 200
        }

    async def round_trip(self, request: Request) -> Response:
        """A discovery document. Raises AssertionError for any other request."""
        document = self._documents.get(
            ("apidiscovery" in request.headers.get("accept", ""), request.path)
        )
        assert request.method == "GET", (
            f"{request.method} {request.path}: a dry run must not send anything"
        )
        assert document is not None, f"GET {request.path} is not discovery"
        return Response(obj=document)

    async def close(self) -> None:
        """See `Transport`."""


def recorded_lines(recording: Recording) -> dict[str, Transcript]:
    """Every recorded line of `create` and `run` by its file's name."""
    files = sorted((recording.path / "kubectl" / "dry-run").glob("*.txt"))
    return {
        file.stem: parse_transcript(file.read_text())
        for file in files
        if file.stem.startswith(COMMANDS)
    }


def printed_by(cluster: Recording | LiveCluster, line: str) -> Transcript:
    """What a real kubectl printed for a line of `create` or `run` on a client-side dry
    run.

    It was recorded, or is run now in a live cluster's context. Raises InspectorError if
    the line was not recorded.
    """
    argv = shlex.split(line)
    if isinstance(cluster, LiveCluster):
        ran = run_kubectl(
            with_dry_run(argv), context=cluster.name, config_file=cluster.config_file
        )
        return Transcript(tuple(argv), ran.returncode, ran.stdout, ran.stderr)
    for transcript in recorded_lines(cluster).values():
        if list(transcript.argv) == argv:
            return transcript
    raise InspectorError(f"{cluster.name} has no recording of kubectl {line}")


def with_dry_run(argv: Sequence[str]) -> list[str]:
    """The line with the flags it was recorded with, before a `--`."""
    cut = argv.index("--") if "--" in argv else len(argv)
    return [*argv[:cut], "--dry-run=client", "-o", "json", *argv[cut:]]


def kubectl_agreement(
    recording: Recording, kubectl: Kubectl = type_line
) -> AgreementTable:
    """One row per line: exit code, stderr and stdout, letter by letter. `kubectl`:
    judge this one instead of ours.
    """
    table = AgreementTable(
        "What kubectl generates and refuses",
        "lifecycle",
        f"recording {recording.provenance}",
        lambda table: (
            f"{len(lines)} command lines typed into a real kubectl and into ours:"
            f" {table.outcome('answers')}, letter by letter, refusals and exit codes"
            " included."
        ),
    )
    lines = recorded_lines(recording)

    async def answers() -> list[Typed]:
        discovery = RecordedDiscovery(recording)
        return [
            await kubectl(with_dry_run(theirs.argv), discovery)
            for theirs in lines.values()
        ]

    with ThreadPoolExecutor(
        1, "kubectl"
    ) as pool:  # a notebook has a loop running already
        ours = pool.submit(lambda: asyncio.run(answers())).result()
    for mine, theirs in zip(ours, lines.values(), strict=True):
        table.add(
            "generators",
            shlex.join(theirs.argv),
            say(mine),
            say(theirs),
            compare(_letters(mine), _letters(theirs)),
        )
    return table


def versions_agreement(older: Recording, newer: Recording) -> AgreementTable:
    """The same lines typed into two versions of the real kubectl: what differs is what
    changed.

    Lines that were printed alike share a row, and so do those that differ in nothing
    but a `creationTimestamp` of null.
    """
    table = AgreementTable(
        "The same lines, two kubectls",
        f"recording {older.provenance}",
        f"recording {newer.provenance}",
        lambda table: (
            f"{len(then)} command lines typed into two versions of kubectl:"
            f" {counts['alike']} print the same, {counts['nulls']} differ only in how"
            " they print a time that is not set, and"
            f" {len(then) - counts['alike'] - counts['nulls']} in more."
        ),
    )
    then = recorded_lines(older)
    alike, nulls = Comparison(), Comparison()
    counts = Counter[str]()
    for name, now in recorded_lines(newer).items():
        line = shlex.join(now.argv)
        comparison = compare(_fields(then[name]), _fields(now), path=f"/{line}")
        if comparison.agrees:
            alike += comparison
            counts["alike"] += 1
        elif all(
            difference.path.endswith("/creationTimestamp")
            for difference in comparison.differences
        ):
            nulls += comparison
            counts["nulls"] += 1
        else:
            table.add("kubectl-versions", line, say(then[name]), say(now), comparison)
    table.add(
        "kubectl-versions",
        f"{counts['nulls']} lines: only how unset times are printed",
        "null",
        "left out",
        nulls,
    )
    table.add(
        "kubectl-versions",
        f"{counts['alike']} lines: nothing",
        "the same",
        "the same",
        alike,
    )
    return table


def historical_agreement(recording: Recording, minor: int) -> AgreementTable:
    """The model of the old rules, asked for 1.`minor`, beside a recording of that
    kubectl: what `run` made under each rule.
    """
    table = AgreementTable(
        f"kubectl run as of 1.{minor}",
        "lifecycle, the historical model",
        f"recording {recording.provenance}",
        lambda table: (
            f"{len(table.computed)} lines of `kubectl run`, typed into kubectl"
            f" 1.{minor} and given to a model of its rules: {table.outcome('objects')}."
        ),
    )
    lines = recorded_lines(recording)
    for name, flags in HISTORICAL.items():
        theirs = lines[name]
        generated = run(minor, theirs.argv[1], _flag(theirs, "image"), **flags)
        warnings = "".join(f"{warning}\n" for warning in generated.warnings)
        ours = {"objects": [without_empties(generated.obj)], "stderr": warnings}
        recorded = {
            "objects": [without_empties(obj) for obj in theirs.objects],
            "stderr": theirs.err,
        }
        table.add(
            "historical",
            shlex.join(theirs.argv),
            generated.obj["kind"],
            say(theirs),
            compare(ours, recorded),
        )
    return table


HISTORICAL: dict[str, dict[str, Any]] = {
    "run-pod": {},
    "run-onfailure": {"restart": "OnFailure"},
    "run-generator": {"generator": "deployment/apps.v1"},
}


def say(answer: Transcript | Typed) -> str:
    """An answer in a few words: the kinds it made, or the first line of what it
    complained about.
    """
    if answer.code:
        return f"exit {answer.code}: {answer.err.splitlines()[0]}"
    objects = Transcript(answer.argv, answer.code, answer.out, answer.err).objects
    return ", ".join(obj["kind"] for obj in objects)


def without_empties(value: Any) -> Any:
    """A document without the empty structs and nulls that Go prints, which say
    nothing.
    """
    if isinstance(value, dict):
        kept = {key: without_empties(item) for key, item in value.items()}
        return {key: item for key, item in kept.items() if item not in (None, {}, [])}
    return (
        [without_empties(item) for item in value] if isinstance(value, list) else value
    )


def _letters(answer: Transcript | Typed) -> dict[str, Any]:
    return {
        "exit code": answer.code,
        "stdout": answer.out.rstrip("\n").split("\n"),
        "stderr": answer.err.rstrip("\n").split("\n"),
    }


def _fields(answer: Transcript) -> dict[str, Any]:
    return {
        "exit code": answer.code,
        "objects": answer.objects,
        "stderr": answer.err.rstrip("\n").split("\n"),
    }


def _flag(transcript: Transcript, name: str) -> str:
    return next(
        word.partition("=")[2]
        for word in transcript.argv
        if word.startswith(f"--{name}=")
    )
