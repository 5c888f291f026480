"""What kubectl reads in kubeconfig files, and how it changes them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from generators.programs.answer import Answer
from generators.programs.kubectl import version_of
from lifecycle.agreements.kubectl.kubeconfig import (
    CHANGES,
    QUESTIONS,
    answer_of,
    generated,
    real,
)
from lifecycle.agreements.kubectl.recorded_kubeconfigs import SETS


def answers(kubectl: Path) -> Iterator[Answer]:
    """One for each set of files."""
    who, ask = version_of(kubectl), real(kubectl)
    for number, files in enumerate(generated(SETS)):
        yield Answer(
            f"kubeconfigs/{number}",
            who,
            "kubeconfig files in the order of KUBECONFIG (null: missing), and what"
            " `kubectl config` prints of them or makes of them",
            {
                "documents": files.documents,
                "answers": {
                    " ".join(question): answer_of(files, question, ask)
                    for question in (*QUESTIONS, *CHANGES)
                },
            },
        )
