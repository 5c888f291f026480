"""Pod networking: full agreement with the recorded nodes, and a plugin that forgets a route is found out."""

from __future__ import annotations

from typing import Any

import pytest

from lifecycle.agreements.cni import pod_networking
from lifecycle.agreements.cni.pod_networking import pod_networking_agreement
from lifecycle.cni.plugins import chain_names, portmap_rules
from lifecycle.cni.plugins.ptp import pod_routes
from lifecycle.inspector import open_recording


@pytest.mark.parametrize("name", ["kind-1.36.2", "kind-1.36.2-again"])
def test_nodes_agree(name: str) -> None:
    table = pod_networking_agreement(open_recording(name))
    assert table.unexplained == []
    questions = " ".join(row.input for row in table.rows)
    for part in (
        "configuration as read",
        "kept results",
        "in the pods",
        "on the host",
        *(["forwarded ports"] * (name == "kind-1.36.2")),
    ):
        assert part in questions
    assert table.total > 1500


def test_a_ptp_that_leaves_the_subnets_own_route_is_found_out() -> None:
    def first_only(address: Any, gateway: str) -> Any:
        return pod_routes(address, gateway)[:1]

    table = pod_networking_agreement(open_recording(), first_only)
    assert {row.input.split(": ")[1].split(",")[0] for row in table.rows if not row.equal} == {"in the pods"}


def test_other_chain_names_are_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    def named(network: str, container: str, prefix: str = "") -> str:
        return chain_names.format_chain_name(container, network, prefix)

    monkeypatch.setattr(portmap_rules, "format_chain_name", named)
    table = pod_networking_agreement(open_recording())
    assert any("forwarded ports" in row.input and not row.equal for row in table.rows)


def test_another_gateway_is_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    real = pod_networking.allocated
    monkeypatch.setattr(pod_networking, "allocated", lambda *a: {**real(*a), "gateway": "10.244.0.254"})
    table = pod_networking_agreement(open_recording())
    assert any("kept results" in row.input and not row.equal for row in table.rows)


def test_recordings_without_nodes_have_no_rows() -> None:
    assert pod_networking_agreement(open_recording("bare-1.20.2")).rows == []
