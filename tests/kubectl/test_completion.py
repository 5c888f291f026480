"""What Tab offers, beside what the real kubectl offers."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from lifecycle.cluster.rehearsal import RehearsedCluster, rehearse
from lifecycle.kubectl.completion import complete


def offered(*words: str, last: str = "", namespace: str = "default") -> list[str]:
    async def scene(cluster: RehearsedCluster) -> list[str]:
        return await complete(words, last, cluster.client("kubectl"))

    return rehearse(scene, nodes=2)


@pytest.mark.parametrize(
    ("words", "last", "found"),
    [
        ((), "rol", ["rollout"]),
        (("rollout",), "re", ["restart", "resume"]),
        (("create",), "dep", ["deployment"]),
        (("get",), "deploy", ["deployments.apps"]),
        (("get", "nodes"), "", ["lifecycle-control-plane", "lifecycle-worker"]),
        (("get", "nodes", "lifecycle-worker"), "", ["lifecycle-control-plane"]),
        (("get",), "node/lifecycle-w", ["node/lifecycle-worker"]),
        (("get", "-n", "kube-system", "configmaps"), "kube-root", ["kube-root-ca.crt"]),
        (("get", "-n"), "kube-n", ["kube-node-lease"]),
        (("get", "pods", "-o"), "yam", ["yaml"]),
        (("scale",), "--rep", ["--replicas"]),
        (("get",), "--watch", ["--watch", "--watch-only"]),
        (("rollout", "status"), "d", ["daemonset", "deployment"]),
        (("scale", "deployments", "nginx"), "", []),
        (("get", "unheard-of"), "", []),
        (("version",), "", []),
    ],
)
def test_the_last_word_is_completed(words: tuple[str, ...], last: str, found: list[str]) -> None:
    assert offered(*words, last=last) == found


@pytest.mark.real
@pytest.mark.parametrize("words", [("rol",), ("rollout", "status", "d"), ("get", "--sort"), ("scale", "--replica")])
def test_the_real_kubectl_offers_the_same(words: tuple[str, ...], kubectl_binary: Path) -> None:
    """As far as it needs no server."""

    async def asked() -> str:
        process = await asyncio.create_subprocess_exec(
            kubectl_binary, "__complete", *words, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.DEVNULL
        )
        return (await process.communicate())[0].decode()

    theirs = [line.partition("\t")[0] for line in asyncio.run(asked()).splitlines() if not line.startswith(":")]
    assert offered(*words[:-1], last=words[-1]) == sorted(theirs)
