"""One cluster for all tests that put our kubectl beside the real one."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.kubectl.beside import Both, both_of_them


@pytest.fixture(scope="package")
def both(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Both]:
    with both_of_them(tmp_path_factory.mktemp("home")) as asked:
        yield asked
