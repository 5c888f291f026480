"""The straight line: the same ends as the curve of today, and too little between them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lifecycle.historical.kubelet.cpu_weight import cpu_shares_to_weight_linear
from lifecycle.kubelet.cm.resource_config import cpu_shares_to_weight


def test_the_old_line_gave_one_cpu_less_than_the_default_weight() -> None:
    assert cpu_shares_to_weight_linear(1024) == 39


@pytest.mark.parametrize("shares", [0, 2, 262144])
def test_line_and_curve_meet_at_the_ends(shares: int) -> None:
    assert cpu_shares_to_weight_linear(shares) == cpu_shares_to_weight(shares)


@given(st.integers(2, 262143))
def test_the_line_rises_and_stays_in_the_range_of_weights(shares: int) -> None:
    assert 1 <= cpu_shares_to_weight_linear(shares) <= cpu_shares_to_weight_linear(shares + 1) <= 10000
