"""What the kubelet's own server refuses: the real one and ours are asked the same, each about the same pods on a node of its own.

What the real one answers is kept in `tests/kubelet/server/kubelet_answers.json`, to which ours is held also where no real one is.
To record it again: `KUBE_BIN=… RECORD_KUBELET=1 pytest tests/live/test_real_kubelet_server.py`.
"""

from __future__ import annotations

import asyncio
import json
import os
import ssl
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from tests.conftest import ROOT, unavailable
from tests.cri.private_containerd import why_not
from tests.cri.subjects import registry
from tests.kubelet.server.questions import PODS, QUESTIONS, Answer, masked, settled
from tests.live.kubelet_sides import Side, machine, side
from tests.live.kubelet_stage import NodeStage, true
from tests.live.real_programs import kube_bin
from tests.live.stage import Stage

KEPT = ROOT / "tests/kubelet/server/kubelet_answers.json"

pytestmark = [pytest.mark.alone, pytest.mark.timeout(600)]

LONGEST = 5.0
"""Seconds for an answer."""


def context(node: Side) -> ssl.SSLContext:
    """An administrator's, whom the node's API server vouches for."""
    certificate, key = node.cluster.server.certificates.client_certificate("admin", ["system:masters"])
    pair = node.folder / "admin.pem"
    pair.write_bytes(certificate + key)
    made = ssl.create_default_context()
    made.check_hostname, made.verify_mode = False, ssl.CERT_NONE  # the real one signs for itself
    made.load_cert_chain(pair)
    return made


async def asked(node: Side, image: str) -> list[Answer]:
    """What this kubelet answers to all questions."""
    stage = NodeStage(Stage(node.admin, "judge"), image, node.manifests)
    await stage.open()
    pods = {
        name: await stage.run(name, *json.loads(json.dumps(containers)), **spec)
        for name, (containers, spec) in PODS.items()
    }
    await stage.until("pods", settled)
    answers = []
    # each on a connection of its own: one that is kept may be closed while the next question is on its way
    connector = aiohttp.TCPConnector(ssl=context(node), force_close=True)
    async with aiohttp.ClientSession(f"https://127.0.0.1:{node.port}", connector=connector) as session:
        for method, path, headers in QUESTIONS:
            there = path.format(uid=pods["talk"]["metadata"]["uid"])
            try:
                async with asyncio.timeout(LONGEST), session.request(method, there, headers=headers) as answer:
                    answers.append(masked(answer.status, "" if answer.status == 101 else await answer.text()))
            except TimeoutError:
                answers.append((0, "still open"))
    return answers


async def both(folder: Path) -> list[list[Answer]]:
    async with registry() as served, AsyncExitStack() as stack:
        image = served.name("library/shell:1")
        sides = [
            await stack.enter_async_context(side(folder / name, real=name == "theirs")) for name in ("ours", "theirs")
        ]
        for node in sides:
            await Stage(node.admin, "").until("nodes", lambda nodes: any(map(true("Ready"), nodes.values())))
        return list(await asyncio.gather(*(asked(node, image) for node in sides)))


def test_both_refuse_the_same_in_the_same_words(tmp_path_factory: pytest.TempPathFactory) -> None:
    kube_bin("kubelet")
    if why_not():
        unavailable(why_not())
    with machine():
        ours, theirs = asyncio.run(both(tmp_path_factory.mktemp("server")))
    questions = [f"{method} {path} {json.dumps(headers)}" for method, path, headers in QUESTIONS]
    kept: dict[str, Any] = dict(zip(questions, theirs, strict=True))
    if os.environ.get("RECORD_KUBELET"):
        KEPT.write_text(json.dumps(kept, indent=1) + "\n")
    unlike = {question: (own, kept[question]) for question, own in zip(questions, ours) if own != kept[question]}
    assert not unlike, json.dumps(unlike, indent=1)
    assert json.loads(KEPT.read_text()) == {question: list(answer) for question, answer in kept.items()}
