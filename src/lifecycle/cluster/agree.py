"""The embedded cluster held against a recorded one: started like it, asked the same,
compared field by field.

It plays on virtual time, so the half minute in which the recorded cluster created,
scaled, rolled out and deleted takes two or three seconds. Each scenario gets a fresh
cluster, as the recorded one was.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from lifecycle.cluster import like
from lifecycle.cluster.cluster import ADMIN
from lifecycle.cluster.cluster_config import ClusterConfig
from lifecycle.cluster.given import mark_given
from lifecycle.cluster.like import Likeness
from lifecycle.cluster.noted_creations import NotingCluster
from lifecycle.cluster.past_events import past_events
from lifecycle.cluster.rehearsal import on_virtual_time
from lifecycle.cluster.target import HandlerTarget
from lifecycle.compare import AgreementTable, compare_cluster
from lifecycle.compare.scenarios import BY_MOMENT
from lifecycle.cri.hollow.step_times import RECORDED, Latency
from lifecycle.inspector import Recording, open_recording
from lifecycle.inspector.scenario import Step

ROUND_TRIP = 0.001
"""Seconds a question is on its way, so that no two moments are the same."""


GIVEN = {
    "objects": "the recorded objects themselves were planted in our store",
    "discovery": "the package ships the published documents",
}
"""Scenarios whose answers our side did not work out, and where it had them from. As a
starting state that is right; as evidence it is none.
"""


class _Distant(HandlerTarget):
    """Asks like `HandlerTarget`, from a little way off. Writes are sent at once: one
    command sends its requests back to back.
    """

    async def request(
        self, method: str, path: str, headers: dict[str, str], body: bytes
    ) -> tuple[int, dict[str, str], bytes]:
        """See `HandlerTarget.request`."""
        if method == "GET":
            await asyncio.sleep(ROUND_TRIP)
        return await super().request(method, path, headers, body)


def agreement_with(
    recording: Recording | None = None,
    scenario: str = "journey",
    *,
    latency: Latency = RECORDED,
    seed: int = 1,
    on_step: Callable[[Step], None] | None = None,
) -> AgreementTable:
    """The agreement table of one scenario. Works in a notebook, too.

    Raises InspectorError for a scenario that was not recorded, ValueError for a
    recording that no cluster can start like.
    """
    theirs = recording or open_recording()

    async def main() -> AgreementTable:
        config = ClusterConfig(
            like=theirs.path, https=False, seed=seed, latency=latency
        )
        cluster = NotingCluster(config)
        try:
            await cluster.start()
            await like.plant(
                cluster.server.store,
                Likeness(objects=past_events(theirs.exchanges(scenario))),
            )
            target = (_Distant if scenario in BY_MOMENT else HandlerTarget)(
                cluster.server, (ADMIN, cluster.admin_groups)
            )
            table = await compare_cluster(
                target,
                theirs,
                scenario,
                on_step=on_step,
                audit=lambda: cluster.created,
            )
        finally:
            await cluster.stop()
        mark_given(table, theirs, theirs.exchanges(scenario))
        return table

    return on_virtual_time(main())
