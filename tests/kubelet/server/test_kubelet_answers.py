"""What the real kubelet's server refuses, ours refuses in the same words. How its answers are recorded again:
`tests/live/test_real_kubelet_server.py`."""

from __future__ import annotations

import asyncio
import copy
import json
from pathlib import Path
from urllib.parse import parse_qs

from lifecycle.api.http.wire import Request
from lifecycle.api.loop.clock import run_virtual
from tests.kubelet.server.questions import PODS, QUESTIONS, Answer, masked, settled
from tests.kubelet.server.test_server import text
from tests.kubelet.small_cluster import SmallCluster, small_cluster
from tests.kubelet.test_kubelet import ONE_NODE

KEPT = json.loads((Path(__file__).parent / "kubelet_answers.json").read_text())


async def answers(cluster: SmallCluster) -> dict[str, Answer]:
    """By question, as the file has them."""
    (kubelet,) = cluster.kubelets.values()
    uid, found = (await cluster.pod("talk", "judge"))["metadata"]["uid"], {}
    for method, path, headers in QUESTIONS:
        where, _, query = path.format(uid=uid).partition("?")
        lower = {name.lower(): value for name, value in headers.items()}
        request = Request(method, where, parse_qs(query, keep_blank_values=True), lower)
        response = await kubelet.server(request)
        body = await text(response) if response.body or response.stream else ""
        found[f"{method} {path} {json.dumps(headers)}"] = masked(response.status, body)
    return found


def test_ours_refuses_what_the_real_one_refused_in_its_words() -> None:
    async def main() -> None:
        async with small_cluster(nodes=ONE_NODE) as cluster:
            await cluster.namespace("judge")
            for name, (containers, spec) in PODS.items():
                pod = {"metadata": {"name": name}, "spec": {"containers": copy.deepcopy([*containers]), **spec}}
                for container in pod["spec"]["containers"]:
                    container.setdefault("image", "busybox:1.36")
                await cluster.create_pod({"apiVersion": "v1", "kind": "Pod", **pod}, "judge")
            await asyncio.sleep(30)
            assert settled(await cluster.pods("judge")), await cluster.pods("judge")
            ours = await answers(cluster)
            unlike = {question: (own, KEPT[question]) for question, own in ours.items() if list(own) != KEPT[question]}
            assert not unlike, json.dumps(unlike, indent=1)
            assert ours.keys() == KEPT.keys()

    run_virtual(main())
