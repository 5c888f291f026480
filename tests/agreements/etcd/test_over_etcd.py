"""Two of our API servers over one real etcd, asked in turn."""

from __future__ import annotations

import shutil

import pytest

from lifecycle.agreements.bare_server import BARE
from lifecycle.agreements.etcd.over_etcd import OVER_ETCD, over_etcd_agreement
from lifecycle.inspector import open_recording
from tests.conftest import unavailable


@pytest.fixture(autouse=True)
def _etcd() -> None:
    if shutil.which("etcd") is None:
        unavailable("etcd is not installed")


def test_every_answer_is_the_recorded_one() -> None:
    table = over_etcd_agreement(open_recording(BARE))
    assert table.ours == OVER_ETCD
    assert [f"{question}{difference}" for question, difference in table.unexplained] == []
    assert len(table.computed) == len(open_recording(BARE).exchanges("resize"))
