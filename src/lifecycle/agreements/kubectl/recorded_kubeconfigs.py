"""kubeconfigs as a real kubectl read and changed them once, for good.

The same questions as in `kubeconfig`, about more sets of files than a page can wait
for, and for whoever has no kubectl here.
"""

from __future__ import annotations

from lifecycle.agreements.asked_programs import asked
from lifecycle.agreements.kubectl.kubeconfig import (
    CHANGES,
    QUESTIONS,
    Files,
    add_answers,
    answer_of,
    ours,
)
from lifecycle.compare import AgreementTable
from lifecycle.compare.program_answers import ProgramAnswers

SETS = 40


def recorded_kubeconfig_agreement(
    programs: ProgramAnswers | None = None,
) -> AgreementTable:
    """A row for each command, over all sets. `programs`: what the real one said; None:
    as recorded.
    """
    sets = asked(programs, "kubeconfigs")
    table = AgreementTable(
        "kubeconfigs, recorded",
        "lifecycle",
        f"{sets[0].program}, asked directly",
        lambda table: (
            f"{len(sets)} sets of kubeconfig files were given to a real kubectl and to"
            f" ours with {len(table.computed)} commands each: output, refusals and"
            f" changed files: {table.outcome('commands')}."
        ),
    )
    files = [Files(each.answer["documents"]) for each in sets]
    for question in (*QUESTIONS, *CHANGES):
        answers = [
            (
                answer_of(one, question, ours),
                each.answer["answers"][" ".join(question)],
            )
            for one, each in zip(files, sets, strict=True)
        ]
        add_answers(table, question, answers)
    return table
