from __future__ import annotations

import pytest

from tests.furnished import furnish


@pytest.fixture(scope="session", autouse=True)
def _a_server_has_been_here_before() -> None:
    furnish()
