"""Ours and the real kubectl, word for word; and the judge tells a spoiled one from a good one."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

import lifecycle
from lifecycle.agreements.kubectl.kubectl_output import (
    historical_agreement,
    kubectl_agreement,
    printed_by,
    recorded_lines,
    versions_agreement,
)
from lifecycle.api import protobuf
from lifecycle.cluster.command_line import type_line, type_lines
from lifecycle.inspector import InspectorError, Recording
from lifecycle.inspector.transcript import parse_transcript
from lifecycle.kubectl.generators.create_deployment import create_deployment
from lifecycle.kubectl.printers import typed
from tests.conftest import RECORDINGS, find_kubectl, unavailable

NEWER, OLDER = Recording(RECORDINGS / "kind-1.36.2"), Recording(RECORDINGS / "bare-1.20.2")


def test_every_recorded_line_is_answered_letter_by_letter():
    table = kubectl_agreement(NEWER)
    assert table.equal, str(table)
    assert len(table.rows) == len(recorded_lines(NEWER)) > 0


def test_a_spoiled_kubectl_is_found_out():
    async def forgetful(argv, transport):
        return await type_line([word for word in argv if not word.startswith("--restart")], transport)

    different = [row.input for row in kubectl_agreement(NEWER, forgetful).rows if not row.equal]
    assert len(different) == 3
    assert all("--restart" in line for line in different)


def test_what_changed_between_two_kubectls_is_explained():
    table = versions_agreement(OLDER, NEWER)
    assert table.unexplained == []
    assert len(table.rows) == 7
    assert historical_agreement(OLDER, minor=20).equal


def test_the_bytes_of_the_request_are_the_recorded_ones():
    transcript = parse_transcript(NEWER.kubectl("01-create"))
    ours = typed(create_deployment("nginx", ["nginx:1.27"], replicas=3, namespace="journey"))
    assert transcript.dumped_requests == [protobuf.encode(ours)]


def test_a_dump_that_was_cut_short_is_not_taken_for_a_body():
    cut = '$ kubectl x\n[exit 0, t=1]\n[stderr]\n"Request Body" body=<\n\t00000000  6b 38 73 00  |k8s.| [truncated 9 chars]\n\tx\n >\n'
    with pytest.raises(InspectorError, match=r"this hex dump was cut short; kubectl -v=9 prints whole ones$"):
        _ = parse_transcript(cut).dumped_requests
    with pytest.raises(InspectorError, match=r"no transcript: it should begin with `\$ command` and `\[exit N\]`$"):
        parse_transcript("hello")
    with pytest.raises(InspectorError, match=r"kind-1\.36\.2 has no recording of kubectl run nobody$"):
        printed_by(NEWER, "run nobody")


SERVER_DECIDES = (
    "create deployment Bad_Name --image=nginx",
    "create deployment nginx --image=nginx --replicas=-2",
    "create deployment bad --image=NGINX::1",
    "create deployment nginx --image=nginx:!!",
    "create deployment nginx --image=nginx",
    "run nginx --image=nginx --port=80 --expose --dry-run=server",
    "run Web --image=nginx",
)


@pytest.mark.real
def test_ours_says_what_a_real_kubectl_says_when_the_server_decides(tmp_path: Path):
    program = find_kubectl("1.36")
    if program is None:
        unavailable("kubectl 1.36 is not here (.ci/kubectl fetches it on Debian)")
    config = tmp_path / "kubeconfig"
    with lifecycle.up(nodes=1) as cluster:
        assert cluster.cluster is not None
        cluster.cluster.write_kubeconfig(config)
        real = [
            subprocess.run(
                [str(program), "--kubeconfig", str(config), *line.split()], capture_output=True, text=True, check=False
            )
            for line in SERVER_DECIDES
        ]
    ours = type_lines(*SERVER_DECIDES, nodes=1)
    assert [(o.code, o.out, o.err) for o in ours] == [(r.returncode, r.stdout, r.stderr) for r in real]
    assert re.search("must be greater than or equal to 0", ours[1].err)
