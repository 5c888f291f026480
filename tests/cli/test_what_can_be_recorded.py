"""A cluster without nodes runs no pods: what needs them is not waited for in vain."""

from __future__ import annotations

from typing import Any

import pytest

from lifecycle.cli.live_comparison import WITH_PODS, playable
from lifecycle.inspector.recorder import DEFAULT_SCENARIOS


class Listing:
    """A live cluster, as far as its nodes go."""

    def __init__(self, *nodes: str) -> None:
        self._nodes = nodes

    def get(self, path: str) -> dict[str, Any]:
        return {"items": [{"metadata": {"name": name}} for name in self._nodes]}


def test_without_nodes_the_journey_is_left_out_and_said_so(capsys: pytest.CaptureFixture[str]) -> None:
    assert playable(Listing("one"), "bare") == DEFAULT_SCENARIOS  # type: ignore[arg-type]
    assert capsys.readouterr().err == ""
    assert playable(Listing(), "bare") == tuple(  # type: ignore[arg-type]
        each for each in DEFAULT_SCENARIOS if each != WITH_PODS
    )
    assert capsys.readouterr().err == "bare has no nodes: journey, which runs pods, is left out\n"
