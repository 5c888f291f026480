"""Which pods become endpoints, held against a real controller: pods that come, get
ready, get another address, another label, and go; Services of many shapes that select
them; slices that fill up, and others that somebody else has made.

A real API server and a real controller manager were told so, and the slices of each
Service were looked at after each change. Statuses of pods were written by the scenario,
since no kubelet ran.
"""

from __future__ import annotations

from lifecycle.agreements.asked_again import Tamper
from lifecycle.agreements.bare_control_plane import CONTROLLERS, put_to_control_plane
from lifecycle.compare import AgreementTable
from lifecycle.inspector import Recording


def endpoint_slice_agreement(
    recording: Recording, tamper: Tamper | None = None
) -> AgreementTable:
    """A row for each request of the scenario *endpoints*."""
    return put_to_control_plane(
        recording, "endpoints", "Slices", _opening, tamper, beside=CONTROLLERS
    )


def _opening(table: AgreementTable) -> str:
    looks = sum(row.input.startswith("GET") for row in table.computed)
    return (
        "Pods come, get ready and go, and Services of many shapes select them."
        f" {looks} times somebody looked at a Service's slices. Asked of a real"
        f" controller's cluster and of ours, {table.outcome('answers')}."
    )
