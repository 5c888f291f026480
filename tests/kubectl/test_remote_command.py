"""What `exec` makes of how a command ended."""

from __future__ import annotations

import json
from typing import Any

import pytest

from lifecycle.kubectl.failures import CodeExitError
from lifecycle.kubectl.remote_command import decoded


def ended(**status: Any) -> bytes:
    return json.dumps({"metadata": {}, **status}).encode()


def exited(code: str) -> bytes:
    causes = [{"reason": "Other", "message": "9"}, {"reason": "ExitCode", "message": code}]
    return ended(status="Failure", reason="NonZeroExitCode", message="failed", details={"causes": causes})


@pytest.mark.parametrize("message", [b"", ended(status="Success")])
def test_nothing_or_success_is_no_error(message: bytes) -> None:
    assert decoded(message) is None


def test_kubectl_ends_with_the_code_of_the_command() -> None:
    error = decoded(exited("42"))
    assert isinstance(error, CodeExitError)
    assert (error.code, str(error)) == (42, "command terminated with exit code 42")


@pytest.mark.parametrize(
    ("message", "text"),
    [
        (exited("300"), 'error stream protocol error: invalid exit code value "300"'),
        (exited("-1"), 'error stream protocol error: invalid exit code value "-1"'),
        (ended(status="Failure", reason="NonZeroExitCode"), "error stream protocol error: details must be set"),
        (
            ended(status="Failure", reason="NonZeroExitCode", details={}),
            "error stream protocol error: no ExitCode cause given",
        ),
        (ended(status="Failure", message="no such container"), "no such container"),
        (ended(status="Perhaps"), "error stream protocol error: unknown error"),
    ],
)
def test_other_endings_are_errors_in_words(message: bytes, text: str) -> None:
    error = decoded(message)
    assert error is not None
    assert not isinstance(error, CodeExitError)
    assert str(error) == text


@pytest.mark.parametrize("message", [b"no json", b"[]", b"\xff"])
def test_an_ending_that_is_no_status_is_an_error(message: bytes) -> None:
    assert str(decoded(message)).startswith("error stream protocol error: ")
