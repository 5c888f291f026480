from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.furnished import furnished_starts


@pytest.fixture(scope="module", autouse=True)
def _a_server_has_been_here_before() -> Iterator[None]:
    with furnished_starts():
        yield
