"""Pods that wait for news, held against a real scheduler: a node comes, grows, loses a
taint, gets a label; a pod goes, learns to tolerate, or has its gate opened.

A real API server and a real scheduler, without controllers and kubelets, were told so
step by step, and each pod was looked at after each. Ours are told the same, at the same
pace, on virtual time. Compared are whole answers: the pod's node, and what it is told
as long as it has none.
"""

from __future__ import annotations

from lifecycle.agreements.asked_again import MASTER, Tamper
from lifecycle.cluster.cluster import Cluster
from lifecycle.cluster.cluster_config import ClusterConfig
from lifecycle.cluster.rehearsal import on_virtual_time
from lifecycle.cluster.target import HandlerTarget
from lifecycle.compare import AgreementTable, compare_cluster
from lifecycle.inspector import Recording

WITHOUT = ("controllers", "kubelet", "proxy", "dns")
SCENARIO = "news"


def news_agreement(
    recording: Recording, tamper: Tamper | None = None
) -> AgreementTable:
    """A row for each request of the scenario *news*."""

    async def main() -> AgreementTable:
        config = ClusterConfig(nodes=1, https=False, seed=1, without=WITHOUT)
        cluster = Cluster(config)
        try:
            await cluster.start()
            if tamper is not None:
                tamper(cluster.server)
            return await compare_cluster(
                HandlerTarget(cluster.server, MASTER),
                recording,
                SCENARIO,
                name="lifecycle",
                like_recorded=False,
            )
        finally:
            await cluster.stop()

    table = on_virtual_time(main())
    table.title, table.opening = "News for pods that wait", _opening
    for row in table.rows:
        row.stage = row.stage.partition(": ")[2] or row.stage.rstrip(":")
    return table


def _opening(table: AgreementTable) -> str:
    looks = [row for row in table.computed if row.input.startswith("GET")]
    return (
        "Pods wait for a node, and then something changes in the cluster."
        f" {len(looks)} times somebody looked: has the pod a node now, and if not, what"
        " is it told? Asked of a real scheduler's cluster and of ours,"
        f" {table.outcome('answers')}."
    )
