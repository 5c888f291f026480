"""Pods that wait for news, held against a real scheduler: a node comes, grows, loses a
taint, gets a label; a pod goes, learns to tolerate, or has its gate opened.

A real API server and a real scheduler, without controllers and kubelets, were told so
step by step, and each pod was looked at after each. Ours are told the same, at the same
pace, on virtual time. Compared are whole answers: the pod's node, and what it is told
as long as it has none.
"""

from __future__ import annotations

from lifecycle.agreements.asked_again import Tamper
from lifecycle.agreements.bare_control_plane import SCHEDULER, put_to_control_plane
from lifecycle.compare import AgreementTable
from lifecycle.inspector import Recording


def news_agreement(
    recording: Recording, tamper: Tamper | None = None
) -> AgreementTable:
    """A row for each request of the scenario *news*."""
    return put_to_control_plane(
        recording, "news", "News for pods that wait", _opening, tamper, beside=SCHEDULER
    )


def _opening(table: AgreementTable) -> str:
    looks = [row for row in table.computed if row.input.startswith("GET")]
    return (
        "Pods wait for a node, and then something changes in the cluster."
        f" {len(looks)} times somebody looked: has the pod a node now, and if not, what"
        " is it told? Asked of a real scheduler's cluster and of ours,"
        f" {table.outcome('answers')}."
    )
