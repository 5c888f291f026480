"""What the outermost stage makes of what nobody meant to raise: a detail is for the log."""

from __future__ import annotations

import pytest

from lifecycle.agreements.claim_checks.on_a_loop import on_a_loop
from lifecycle.api.http.wire import Request, Response
from lifecycle.api.late_import import LibraryMissingError
from lifecycle.api.status import PanicError, internal_error
from lifecycle.apiserver.filters.panic_recovery import MESSAGE, with_panic_recovery
from tests.agreements.beyond_the_claims.logged import logged


def _outermost(error: Exception) -> tuple[str, list[str]]:
    async def fails(request: Request) -> Response:
        raise error

    async def ask() -> Response:
        return await with_panic_recovery(fails)(Request("POST", "/pods"))

    with logged(with_panic_recovery.__module__) as lines:
        try:
            answer = on_a_loop(ask())
        except PanicError:
            return "PanicError", lines
    status = answer.obj
    said = status["message"] if isinstance(status, dict) else (answer.body or b"").decode()
    return f"{answer.status} {said}", lines


@pytest.mark.parametrize(
    ("error", "said", "noted"),
    [
        (internal_error("no"), "500 Internal error occurred: no", []),
        (ValueError("x"), f"500 {MESSAGE}\n", ["ERROR apiserver panic'd on POST /pods: ValueError"]),
        (LibraryMissingError("cel"), "500 Internal error occurred: cel", []),
        (PanicError("nil"), "PanicError", ["WARNING panic on POST /pods: nil"]),
    ],
    ids=["a refusal", "a bug", "a library that is not here", "a bug that upstream has, too"],
)
def test_what_the_client_gets_and_what_is_written_down(error: Exception, said: str, noted: list[str]) -> None:
    assert _outermost(error) == (said, noted)
