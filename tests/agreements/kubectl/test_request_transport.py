"""Each traced request of the journey is made by ours, in the same order, header by header; and a changed request shows."""

from __future__ import annotations

import dataclasses

import pytest

from lifecycle.agreements.kubectl.request_transport import journey, request_agreement, typed_again
from lifecycle.agreements.kubectl.traced_requests import traced_requests
from lifecycle.api import protobuf
from lifecycle.inspector import Recording
from tests.conftest import RECORDINGS

RECORDED = {name: Recording(RECORDINGS / name) for name in ("kind-1.36.2", "kind-1.36.2-again", "bare-1.20.2")}


@pytest.fixture(scope="module")
def ours():
    lines = journey(RECORDED["kind-1.36.2"])
    return typed_again({name: line for name, line in lines.items() if traced_requests(line.err)})


@pytest.mark.parametrize("name", ["kind-1.36.2", "kind-1.36.2-again"])
def test_every_traced_request_is_ours(name, ours):
    table = request_agreement(RECORDED[name], ours)
    assert table.equal, table.unexplained[:5]
    assert len(table.rows) == 13


def test_another_version_is_told_apart(ours):
    different = [row for row in request_agreement(RECORDED["bare-1.20.2"], ours).rows if not row.equal]
    assert "POST …/deployments" in {row.ours for row in different} | {row.input for row in different}


def test_a_forgotten_header_is_found_out(ours):
    typed = ours["03-scale"]
    *rest, (last, status) = typed.requests
    changed = dataclasses.replace(last, headers={**last.headers, "accept": "text/plain"})
    broken = {**ours, "03-scale": dataclasses.replace(typed, requests=(*rest, (changed, status)))}
    table = request_agreement(RECORDED["kind-1.36.2"], broken)
    assert [(row.stage, row.equal) for row in table.rows if not row.equal] == [("scale", False)]


def test_both_dialects_of_traces_are_read():
    new, old = (traced_requests(journey(RECORDED[name])["01-create"].err) for name in ("kind-1.36.2", "bare-1.20.2"))
    assert [request.line for request in new] == [request.line for request in old]
    assert protobuf.is_protobuf(new[0].body)
    assert old[0].body.startswith(b'{"kind":"Deployment"')
    assert (new[0].query["fieldManager"], old[0].query["fieldManager"]) == ("kubectl-create", "kubectl-create")
    assert old[0].headers["accept"] == "application/json, */*"
