"""Discovery agrees with both recorded servers, in both forms; and a changed reading shows."""

from __future__ import annotations

import pytest

from lifecycle.agreements.apiserver.discovery import (
    discovery_agreement,
    mapper_of,
    read_by_ours,
    server_agreement,
)
from lifecycle.agreements.apiserver.remembering_server import RememberingServer
from lifecycle.inspector import Recording
from tests.conftest import RECORDINGS

RECORDED = {name: Recording(RECORDINGS / name) for name in ("kind-1.36.2", "kind-1.36.2-again", "bare-1.20.2")}


@pytest.mark.parametrize("name", RECORDED)
def test_our_client_reads_what_the_server_means(name):
    table = discovery_agreement(RECORDED[name])
    assert table.equal, table.unexplained[:3]
    assert len(table.rows) > 20


def test_our_server_serves_what_the_recorded_one_serves():
    table = server_agreement(RECORDED["kind-1.36.2"])
    assert table.equal, table.unexplained[:3]


def test_a_resource_that_is_overlooked_is_found_out():
    groups, lists = read_by_ours(RememberingServer(RECORDED["kind-1.36.2"]))
    less = [
        {**rows, "resources": rows["resources"][1:]} if rows["groupVersion"] == "apps/v1" else rows for rows in lists
    ]
    table = discovery_agreement(RECORDED["kind-1.36.2"], (groups, less))
    assert [row.input for row in table.rows if not row.equal] == ["apps/v1"]


def test_versions_differ_in_what_they_serve():
    new, old = mapper_of(RECORDED["kind-1.36.2"]), mapper_of(RECORDED["bare-1.20.2"])
    assert (new.resource_for("hpa").version, old.resource_for("hpa").version) == ("v2", "v1")
    assert (new.resource_for("pdb").version, old.resource_for("pdb").version) == ("v1", "v1beta1")
