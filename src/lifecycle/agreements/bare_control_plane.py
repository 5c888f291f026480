"""Scenes for an API server and one program beside it: what a bare control plane was
asked, asked again of ours.

Beside some scenarios of the recording `bare-1.36.2` a real kube-scheduler ran, or a
real kube-controller-manager; there was no kubelet. Ours are asked the same, at the same
pace, on virtual time. Whole answers are compared, so whatever that program did between
two questions is in the next answer.
"""

from __future__ import annotations

from collections.abc import Callable

from lifecycle.agreements.asked_again import MASTER, Tamper
from lifecycle.cluster.cluster import Cluster
from lifecycle.cluster.cluster_config import ClusterConfig
from lifecycle.cluster.rehearsal import on_virtual_time
from lifecycle.cluster.target import HandlerTarget
from lifecycle.compare import AgreementTable, compare_cluster
from lifecycle.inspector import Recording

SCHEDULER, CONTROLLERS = "scheduler", "controllers"
PROGRAMS = (SCHEDULER, CONTROLLERS, "kubelet", "proxy", "dns")


def put_to_control_plane(
    recording: Recording,
    scenario: str,
    title: str,
    opening: Callable[[AgreementTable], str],
    tamper: Tamper | None = None,
    *,
    beside: str,
) -> AgreementTable:
    """A row for each recorded request of a scenario: whole answers. `beside`: which
    program runs beside the server.
    """
    without = tuple(program for program in PROGRAMS if program != beside)

    async def main() -> AgreementTable:
        config = ClusterConfig(nodes=1, https=False, seed=1, without=without)
        cluster = Cluster(config)
        try:
            await cluster.start()
            if tamper is not None:
                tamper(cluster.server)
            return await compare_cluster(
                HandlerTarget(cluster.server, MASTER),
                recording,
                scenario,
                name="lifecycle",
                like_recorded=False,
            )
        finally:
            await cluster.stop()

    table = on_virtual_time(main())
    table.title, table.opening = title, opening
    for row in table.rows:
        row.stage = row.stage.partition(": ")[2] or row.stage.rstrip(":")
    return table
