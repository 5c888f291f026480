"""`python -m tests.differential.record_fields`: what a real API server says of odd values in every field of every kind.

One field at a time, as dry runs: in a new object, in a stored one, in its status. What it says twice in the same words is kept for
`tests/apiserver/registry/test_answers_of_fields.py`; what it says once so and once so is chance (a Go map has no order) and is not.
"""

from __future__ import annotations

import asyncio
import gzip
import json
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from random import Random
from typing import Any

from tests.differential.case import JSON, Case, Step
from tests.differential.fields import Fields, changed
from tests.differential.objects import Objects
from tests.differential.player import Target, play
from tests.differential.published import Kind, Published, published
from tests.differential.scenes import EVERYBODYS, MERGE
from tests.differential.servers import HTTPTarget, NotAvailableError, ready, real_server

KEPT = Path(__file__).parents[1] / "apiserver" / "registry" / "answers_of_fields.jsonl.gz"
MORE: dict[type, tuple[Any, ...]] = {str: ("<&>", "a.b"), int: (-1, 0, 70000), list: ([],), dict: ({},)}
"""Beside what `Fields` tries: a text that some rules take, and numbers on either side of most limits."""
TEMPLATES = ("template", "jobTemplate", "templateGeneration")
NOT_ASKED = ("SelfSubjectRulesReview", "TokenReview")
"""What they say depends on who asks, not on what is in them."""


class OwnFields(Fields):
    """The fields that a kind has to itself: a pod's are asked of pods, not once more of each kind that makes some."""

    def cases(self) -> Iterator[Case]:
        """One for each kind: its creates, then the changes of a stored object."""
        for kind in self._published.kinds:
            if self._kinds.search(f"{kind.api_version}/{kind.kind}") and kind.kind not in NOT_ASKED:
                yield Case(tuple(self._steps(kind)), name=f"{kind.api_version}/{kind.kind}")

    def _steps(self, kind: Kind) -> Iterator[Step]:
        plain = Objects(self._published, Random(1)).plain(kind)
        one = f"{kind.collection}/{plain['metadata']['name']}"
        fields = [
            (path, value)
            for path, odd in self._fields(self._published.schemas[kind.schema])
            if _is_own(path, kind)
            for value in MORE.get(type(odd), (odd,))
        ]
        spec = [field for field in fields if field[0][0] != "status"]
        yield Step("POST", f"{kind.collection}?dryRun=All", plain)
        yield from (Step("POST", f"{kind.collection}?dryRun=All", changed(plain, *field)) for field in spec)
        if "get" not in kind.verbs or kind.kind in EVERYBODYS:
            return
        yield Step("POST", kind.collection, plain)
        yield from (Step("PATCH", f"{one}?dryRun=All", changed({}, *field), MERGE) for field in spec)
        if any(name == "status" for name, _, _ in kind.subresources):
            status = [field for field in fields if field[0][0] == "status"]
            yield from (Step("PATCH", f"{one}/status?dryRun=All", changed({}, *field), MERGE) for field in status)


def _is_own(path: Sequence[Any], kind: Kind) -> bool:
    if path[0] == "metadata" and kind.kind != "ConfigMap":
        return False
    return kind.kind == "PodTemplate" or not any(name in TEMPLATES for name in path[:-2])


async def record(target: Target, shapes: Published, kinds: str) -> list[dict[str, Any]]:
    """A row for each kind: its steps, and the answers that were the same twice (None: they were not)."""
    rows = []
    for count, case in enumerate(OwnFields(shapes, kinds).cases()):
        first, second = [await play(target, case, f"recorded-{count}-{turn}") for turn in "ab"]
        answers = [one if one == other else None for one, other in zip(first, second, strict=True)]
        rows.append({"kind": case.name, "steps": [_brief(step) for step in case.steps], "answers": answers})
        print(f"{case.name}: {len(answers)}, by chance {answers.count(None)}", file=sys.stderr, flush=True)
    return rows


def _brief(step: Step) -> dict[str, Any]:
    return {key: value for key, value in asdict(step).items() if value not in (None, JSON)}


async def _main(kubeconfig: Path, kinds: str) -> None:
    async with HTTPTarget(kubeconfig) as target:
        await ready(target)
        rows = await record(target, await published(target), kinds)
    lines = "".join(json.dumps(row, ensure_ascii=False, separators=(",", ":")) + "\n" for row in rows)
    KEPT.write_bytes(gzip.compress(lines.encode(), mtime=0))


def main() -> int:
    """0: kept; 2: there is no real server to ask."""
    with tempfile.TemporaryDirectory(prefix="fields-", ignore_cleanup_errors=True) as folder:
        try:
            with real_server(Path(folder)) as kubeconfig:
                asyncio.run(_main(kubeconfig, sys.argv[1] if len(sys.argv) > 1 else ""))
        except NotAvailableError as error:
            print(f"record_fields: {error}", file=sys.stderr)
            return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
