from __future__ import annotations

from collections.abc import Iterator

import pytest

from lifecycle.compare.program_answers import newest_programs, recorded_programs
from lifecycle.inspector.opening import recordings_directory
from tests.furnished import furnished_starts


@pytest.fixture(scope="module", autouse=True)
def _a_server_has_been_here_before() -> Iterator[None]:
    with furnished_starts():
        yield


@pytest.fixture(scope="session", autouse=True)
def _nobody_changes_what_the_programs_answered() -> Iterator[None]:
    """All tables of a process ask the same answers."""
    yield
    where = recordings_directory()
    assert newest_programs(where).answers == recorded_programs(where)["v1.36"].answers
