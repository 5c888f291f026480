"""What one of Kubernetes' own programs answered, when nothing else stood beside it.

Many stages cannot be seen through a cluster's API: which pods a kubelet throws out, who
waits in a queue. The program was started by itself, asked, and its answers were
recorded; here they are found by what they are about.
"""

from __future__ import annotations

from lifecycle.compare.program_answers import (
    ProgramAnswer,
    ProgramAnswers,
    newest_programs,
)
from lifecycle.inspector.opening import recordings_directory


def asked(programs: ProgramAnswers | None, about: str) -> list[ProgramAnswer]:
    """The answers to questions whose names begin so. `programs`: None: as recorded."""
    if programs is None:
        programs = newest_programs(recordings_directory())
    return [
        each
        for question, each in programs.answers.items()
        if question.startswith(f"{about}/")
    ]
