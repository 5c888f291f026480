"""Every question a recording put to CoreDNS, put to us; and the resolver files its pods had."""

from __future__ import annotations

import json
from typing import Any

import pytest

from lifecycle.agreements.dns_answers import compare_answer, dns_agreement, parse_dig, recorded_answerer
from lifecycle.api.pods.dns import parse_resolv_conf, pod_dns
from lifecycle.dns.records import Answer
from lifecycle.inspector import Recording, open_recording
from tests.conftest import RECORDINGS

CLUSTERS = ("kind-1.36.2", "kind-1.36.2-again")
DISAGREEMENTS: dict[str, list[str]] = {"kind-1.36.2": [], "kind-1.36.2-again": []}


@pytest.fixture(params=CLUSTERS)
def recording(request: pytest.FixtureRequest) -> Recording:
    return open_recording(str(RECORDINGS / request.param))


def test_every_answer_is_the_recorded_one(recording: Recording) -> None:
    table = dns_agreement(recording)
    assert len(table.rows) == 56
    assert [str(d) for row in table.rows for d in row.comparison.differences] == DISAGREEMENTS[recording.name]


def test_the_comparison_notices(recording: Recording) -> None:
    answerer = recorded_answerer(recording)
    for theirs in parse_dig(recording.dns("svc")):
        ours = answerer.answer(theirs.name, theirs.type)
        assert not compare_answer(Answer("REFUSED"), theirs).agrees
        for section in (ours.answer, ours.authority, ours.additional):
            if section:
                lost = section.pop()
                assert not compare_answer(ours, theirs).agrees
                section.append(lost._replace(ttl=5))
                assert not compare_answer(ours, theirs).agrees
                section[-1] = lost


def _pods(recording: Recording) -> dict[str, Any]:
    settled = [e for e in recording.exchanges("kubelet") if e.path.endswith("/kubelet/pods") and e.method == "GET"]
    return {pod["metadata"]["name"]: pod for pod in settled[-1].response["items"]}


def _sandboxes(text: str) -> list[Any]:
    """The documents `crictl inspectp` printed one after the other."""
    decoder, found, at = json.JSONDecoder(), [], text.find("{")
    while at >= 0:
        document, end = decoder.raw_decode(text, at)
        found.append(document)
        at = text.find("{", end)
    return found


def test_every_pod_got_the_resolver_file_we_would_give_it(recording: Recording) -> None:
    """What the kubelet told the runtime (`dns_config` of each sandbox), and what then stood in the files."""
    pods, compared = _pods(recording), 0
    host = parse_resolv_conf("nameserver 172.19.0.1\noptions ndots:0\n")
    for node in map(recording.node, recording.nodes()):
        files = node.run("pod-files")
        for sandbox in _sandboxes(node.run("nodes-inspect-pods")):
            config = sandbox["info"]["config"]
            pod = pods.get(config["metadata"]["name"])
            if pod is None or config["metadata"]["namespace"] != "kubelet":
                continue
            ours = pod_dns(pod, host, cluster_dns=["10.96.0.10"])
            theirs = config["dns_config"]
            assert list(ours.servers) == theirs.get("servers", []), pod["metadata"]["name"]
            assert list(ours.searches) == theirs.get("searches", []), pod["metadata"]["name"]
            assert sorted(ours.options) == sorted(theirs.get("options", [])), pod["metadata"]["name"]
            compared += 1
            if len(ours.options) == 1:  # the kubelet merges options in a Go map: their order is anybody's guess
                assert ours.resolv_conf() in files
    assert compared >= 30
