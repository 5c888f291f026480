"""Between the nodes: full agreement with the recorded ones, and a daemon that forgets a node is found out."""

from __future__ import annotations

from typing import Any

import pytest

from lifecycle.agreements.cni.overlay import overlay_agreement
from lifecycle.cni.overlay.kindnet import sync_routes
from lifecycle.inspector import open_recording


@pytest.mark.parametrize("name", ["kind-1.36.2", "kind-1.36.2-again"])
def test_nodes_agree(name: str) -> None:
    table = overlay_agreement(open_recording(name))
    assert table.unexplained == []
    assert len(table.rows) >= 40


def test_a_daemon_that_forgets_a_node_is_found_out() -> None:
    def forgetful(nodes: Any, own: str) -> Any:
        return sync_routes(nodes[:-1], own)

    assert any(
        "routes to other nodes" in row.input and not row.equal
        for row in overlay_agreement(open_recording(), forgetful).rows
    )
