"""A case: requests in a row, as data that a YAML file can hold."""

from __future__ import annotations

import hashlib
import re
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import yaml

JSON = "application/json"
PROTOBUF = "application/vnd.kubernetes.protobuf"
CASES = Path(__file__).parent / "cases"


@dataclass(frozen=True)
class Step:
    """One request. In `path` and `body`, `{ns}` stands for the case's namespace, `{rv}` and `{uid}` for the revision and the uid
    that the server told last.
    """

    method: str
    path: str
    body: Any = None
    content_type: str = JSON
    accept: str = JSON


@dataclass(frozen=True)
class Case:
    """Steps, and the real server's answers to them (see `answers.settled`). `known`: why ours is still another."""

    steps: tuple[Step, ...]
    answers: tuple[Any, ...] = ()
    known: str = ""
    name: str = field(default="", compare=False)

    def up_to(self, count: int) -> Case:
        """Only the first steps."""
        return replace(self, steps=self.steps[:count], answers=self.answers[:count])

    def save(self, folder: Path = CASES) -> Path:
        """Write it to a file named after its last step."""
        last = self.steps[-1]
        digest = hashlib.sha256(repr(self.steps).encode()).hexdigest()[:8]
        what = re.sub(
            r"[^a-z]+", "-", last.path.partition("?")[0].replace("{ns}", "").rpartition("v1")[2].lower()
        ).strip("-")
        kind = last.content_type.removeprefix("application/").partition("+")[0] if last.method == "PATCH" else ""
        path = folder / f"{'-'.join(filter(None, (last.method.lower(), kind, what)))[:60]}-{digest}.yaml"
        steps = [
            {**{key: value for key, value in asdict(step).items() if value not in (None, JSON)}, "answer": answer}
            for step, answer in zip(self.steps, self.answers, strict=True)
        ]
        document = {**({"known": self.known} if self.known else {}), "steps": steps}
        path.write_text(yaml.safe_dump(document, sort_keys=False, allow_unicode=True, width=140))
        return path


def load(path: Path) -> Case:
    """The case in a file."""
    document = yaml.safe_load(path.read_text())
    steps = [dict(step) for step in document["steps"]]
    answers = tuple(step.pop("answer") for step in steps)
    return Case(tuple(Step(**step) for step in steps), answers, document.get("known", ""), path.stem)
