"""`python -m tests.differential.record fields|rules|scenes|transitions|formats|questions|configurations [KINDS]`: what a
real API server says, kept for the tests of ours.

Fields: odd values in every field of every kind, one at a time, as dry runs: in a new object, in a stored one, in its status, for
`tests/apiserver/registry/test_answers_of_fields.py`. Rules: fields that do not go together, for
`tests/apiserver/registry/test_answers_about_rules.py`. Scenes: random cases of one seed, for `tests/apiserver/test_answers_to_scenes.py`.
Transitions: each state of an object after each other, for `tests/apiserver/registry/test_answers_to_transitions.py`.
Formats: texts that are nearly of a format that a custom kind asks for, for `tests/apiserver/test_answers_about_formats.py`.
Questions: access reviews, statuses of pods and addresses with something wrong, for `tests/apiserver/test_answers_to_questions.py`.
Configurations: what it says of the files it is started with, for `tests/apiserver/test_configuration_files.py`; it is started for each.
What it says twice in the same words is kept; what it says once so and once so is chance (a Go map has no order) and is not.
"""

from __future__ import annotations

import argparse
import asyncio
import gzip
import json
import sys
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict
from itertools import islice
from pathlib import Path
from random import Random
from typing import Any

from tests.differential import addresses, configurations, custom, odd_texts, pod_statuses, reviews, rules, transitions
from tests.differential.case import JSON, Case, Step
from tests.differential.definitions import DEFINITIONS, define
from tests.differential.fields import Fields, changed
from tests.differential.objects import Objects
from tests.differential.player import Target, play
from tests.differential.published import Kind, Published, published
from tests.differential.replayed import disagreements
from tests.differential.scenes import EVERYBODYS, MERGE, Scenes
from tests.differential.servers import HTTPTarget, NotAvailableError, ready, real_server

_APISERVER = Path(__file__).parents[1] / "apiserver"
FIELDS = _APISERVER / "registry" / "answers_of_fields.jsonl.gz"
RULES = _APISERVER / "registry" / "answers_about_rules.jsonl.gz"
SCENES = _APISERVER / "answers_to_scenes.jsonl.gz"
TRANSITIONS = _APISERVER / "registry" / "answers_to_transitions.jsonl.gz"
QUESTIONS = _APISERVER / "answers_to_questions.jsonl.gz"
CONFIGURATIONS = _APISERVER / "answers_to_configurations.jsonl.gz"
FORMATS = _APISERVER / "answers_about_formats.jsonl.gz"
SEED, CASES = 1_362, 500
ASKED_AGAIN = 24
"""A Go map of two begins with its second item once in eight times: fewer would take chance for a rule."""
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


def of_scenes(shapes: Published) -> Iterator[Case]:
    """So many random cases."""
    for count, case in enumerate(islice(Scenes(shapes, SEED).cases(), CASES)):
        yield Case(case.steps, name=f"{count}")


async def record(target: Target, cases: Iterable[Case], definitions: Sequence[Any] = ()) -> list[dict[str, Any]]:
    """A row for each case: its steps, and the answers that were the same twice (None: they were not)."""
    if definitions:
        await define(target, definitions)
    rows = []
    for count, case in enumerate(cases):
        first, second = [await play(target, case, f"recorded-{count}-{turn}") for turn in "ab"]
        answers = [one if one == other else None for one, other in zip(first, second, strict=True)]
        if await disagreements(
            (case.steps, answers), definitions=definitions
        ):  # ours says otherwise: which of them would a third turn agree with?
            for turn in range(ASKED_AGAIN):
                again = await play(target, case, f"recorded-{count}-{turn}")
                answers = [one if one == other else None for one, other in zip(answers, again, strict=True)]
        rows.append({"name": case.name, "steps": [_brief(step) for step in case.steps], "answers": answers})
        print(f"{case.name}: {len(answers)}, by chance {answers.count(None)}", file=sys.stderr, flush=True)
    return rows


def _brief(step: Step) -> dict[str, Any]:
    return {key: value for key, value in asdict(step).items() if value not in (None, JSON)}


async def _main(kubeconfig: Path, what: str, kinds: str) -> None:
    async with HTTPTarget(kubeconfig) as target:
        await ready(target)
        shapes = await published(target)
        cases: dict[str, tuple[Path, Iterable[Case], Sequence[Any]]] = {
            "fields": (FIELDS, OwnFields(shapes, kinds).cases(), ()),
            "rules": (RULES, rules.cases(), ()),
            "scenes": (SCENES, of_scenes(shapes), ()),
            "transitions": (TRANSITIONS, transitions.cases(), ()),
            "questions": (
                QUESTIONS,
                (*reviews.cases(), *pod_statuses.cases(), *addresses.cases(), *custom.cases()),
                DEFINITIONS,
            ),
            "formats": (FORMATS, odd_texts.cases(), (odd_texts.FORMED,)),
        }
        file, asked, definitions = cases[what]
        rows = await record(target, asked, definitions)
    _write(file, rows)


def _write(file: Path, rows: Iterable[Any]) -> None:
    lines = "".join(json.dumps(row, ensure_ascii=False, separators=(",", ":")) + "\n" for row in rows)
    file.write_bytes(gzip.compress(lines.encode(), mtime=0))


def main() -> int:
    """0: kept; 2: there is no real server to ask."""
    parser = argparse.ArgumentParser(prog="python -m tests.differential.record", description=__doc__)
    parser.add_argument(
        "what", choices=("fields", "rules", "scenes", "transitions", "formats", "questions", "configurations")
    )
    parser.add_argument("kinds", nargs="?", default="", help="fields of these only, such as apps/v1/")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="record-", ignore_cleanup_errors=True) as folder:
        try:
            with real_server(Path(folder)) as kubeconfig:
                if arguments.what == "configurations":
                    _write(CONFIGURATIONS, configurations.answers(kubeconfig.parent / "pki"))
                    return 0
                asyncio.run(_main(kubeconfig, arguments.what, arguments.kinds))
        except NotAvailableError as error:
            print(f"record: {error}", file=sys.stderr)
            return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
