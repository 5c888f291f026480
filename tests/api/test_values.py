"""What is built in this room stays as it was built; the exceptions are known."""

from __future__ import annotations

from tests.changeable import changeable

CHANGEABLE = {
    "http.wire.Request",
    "http.wire.Response",
    "http.wire.WatchFrame",
    "tracing.Span",
}
"""What is filled in step by step, or keeps a state: by module and name."""


def test_what_is_built_is_not_changed_afterwards() -> None:
    assert changeable("api") == CHANGEABLE
