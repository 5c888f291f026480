"""One answer, and the lines of a file of them."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any

from generators.first_line import first_line


@dataclass(slots=True, frozen=True)
class Answer:
    """`question`: a name for it, unique among all; `program`: who was asked, with its
    version; `asked`: what was done, in a sentence; `answer`: JSON.
    """

    question: str
    program: str
    asked: str
    answer: Any


def lines(answers: Iterable[Answer], about: str, programs: str) -> bytes:
    """The file: its first line says what it is."""
    head = first_line(
        f"What real programs answered when they were asked about {about}",
        f"{programs}, run on loopback without nodes",
        "programs",
    )
    body = "".join(f"{json.dumps(asdict(each))}\n" for each in answers)
    return (head + body).encode()
