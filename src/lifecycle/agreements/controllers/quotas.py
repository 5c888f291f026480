"""Quotas, held against a real API server and a real quota controller.

What a pod, a claim or a Service is charged, and by which of several quotas; what is
refused, and in which words; what a quota that has nothing to say about it lets through;
and what the controller gives back once something is gone or done. Compared are whole
answers, the bills among them.
"""

from __future__ import annotations

from lifecycle.agreements.asked_again import Tamper
from lifecycle.agreements.bare_control_plane import CONTROLLERS, put_to_control_plane
from lifecycle.agreements.bare_server import refusals
from lifecycle.compare import AgreementTable
from lifecycle.inspector import Recording


def quota_agreement(
    recording: Recording, tamper: Tamper | None = None
) -> AgreementTable:
    """A row for each request of the scenario *quotas*."""
    return put_to_control_plane(
        recording, "quotas", "Quotas", _opening, tamper, beside=CONTROLLERS
    )


def _opening(table: AgreementTable) -> str:
    bills = sum(row.input.startswith("GET") for row in table.computed)
    return (
        "Five namespaces with a dozen quotas: the real API server refused"
        f" {refusals(table)} of {len(table.computed) - bills} requests, and {bills}"
        f" times somebody looked at a bill. Asked of ours, {table.outcome('answers')}."
    )
