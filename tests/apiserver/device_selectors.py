"""Expressions that choose devices, and how a real API server is asked which of them it takes.

Each line of `device_selectors.txt` is the selector of a DeviceClass: some have a slip, some may take too long. `KUBE_BIN=… python -m
tests.apiserver.device_selectors` asks for all of them, and keeps the answers in `device_selector_answers.json`.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.apiserver.questions import Asker, keep
from tests.differential.player import Target

ANSWERS = Path(__file__).parent / "device_selector_answers.json"
SELECTORS = (Path(__file__).parent / "device_selectors.txt").read_text().splitlines()
PATH = "/apis/resource.k8s.io/v1/deviceclasses?dryRun=All"


async def answers(target: Target) -> list[Any]:
    """What is said to each: why it is refused, nothing if it is not."""
    ask, said = Asker(target), []
    for number, expression in enumerate(SELECTORS):
        spec = {"selectors": [{"cel": {"expression": expression}}]}
        answer = await ask("POST", PATH, {"metadata": {"name": f"c{number}"}, "spec": spec})
        said.append("" if answer["status"] == 201 else answer["body"]["message"])
    return said


if __name__ == "__main__":
    keep(ANSWERS, answers)
