"""What Tab offers."""

from __future__ import annotations

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
        ((), "descr", ["describe"]),
        (("describe",), "deploy", ["deployments.apps"]),
        (("describe", "node"), "lifecycle-w", ["lifecycle-worker"]),
        (("describe",), "--show", ["--show-events"]),
        (("get", "-n", "kube-node-lease", "leases"), "lifecycle-w", ["lifecycle-worker"]),
        (("get", "-n"), "kube-n", ["kube-node-lease"]),
        (("get", "pods", "-o"), "yam", ["yaml"]),
        (("scale",), "--rep", ["--replicas"]),
        (("get",), "--watch", ["--watch", "--watch-only"]),
        (("rollout", "status"), "d", ["daemonset", "deployment"]),
        (("scale", "deployments", "nginx"), "", []),
        (("get", "unheard-of"), "", []),
        (("version",), "", []),
        (("logs",), "deploy", ["deployments/"]),
        (("logs",), "node/", []),
        (("exec",), "deploy", ["deployments/"]),
        (("exec",), "--st", ["--stdin"]),
        (("exec", "talks"), "", []),
        (("logs", "talks"), "", []),
        (("cordon",), "", ["lifecycle-control-plane", "lifecycle-worker"]),
        (("drain", "lifecycle-worker"), "", ["lifecycle-control-plane"]),
        (("taint",), "", ["node"]),
        (("taint", "node"), "lifecycle-w", ["lifecycle-worker"]),
        (("patch", "node"), "lifecycle-w", ["lifecycle-worker"]),
    ],
)
def test_the_last_word_is_completed(words: tuple[str, ...], last: str, found: list[str]) -> None:
    assert offered(*words, last=last) == found
