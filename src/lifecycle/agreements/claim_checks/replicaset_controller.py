"""The claims about the ReplicaSet controller: put to its parts, to a rehearsed cluster,
and to the recorded journeys.
"""

from __future__ import annotations

import asyncio
from functools import cache
from typing import Any, cast

from lifecycle.agreements.claim_checks.deployment_life import journey, life
from lifecycle.agreements.claim_checks.played_deployments import a_deployment
from lifecycle.api.http.wire import Object
from lifecycle.api.loop.clock import Clock
from lifecycle.api.resources import resource
from lifecycle.api.status import failure
from lifecycle.cluster.rehearsal import RehearsedCluster, on_virtual_time, rehearse
from lifecycle.compare.claims import Partly, check, rebuilt
from lifecycle.controllers.expectations import ControllerExpectations
from lifecycle.controllers.pod_control import PodControl
from lifecycle.controllers.replicaset.manage_replicas import manage_replicas
from lifecycle.controllers.replicaset.slow_start_batch import (
    SLOW_START_INITIAL_BATCH_SIZE,
    slow_start_batch,
)
from lifecycle.inspector import Recording

SETS, PODS = resource("replicasets.apps"), resource("pods")


class _Counting:
    """Counts creates instead of making them; fails if told to."""

    def __init__(self, fails: bool = False) -> None:
        self.creates = 0
        self.fails = fails

    async def create_pod(self, encoded: bytes, namespace: str, parent: Object) -> None:
        """One more."""
        self.creates += 1
        if self.fails:
            raise failure(403, "Forbidden", "exceeded quota")


def asked_for(replicas: int, *, fails: bool = False) -> int:
    """How many pods one sync asks for if there is none."""
    template = a_deployment()["spec"]["template"]
    rs: Object = {
        "kind": "ReplicaSet",
        "apiVersion": "apps/v1",
        "metadata": {"name": "rs", "namespace": "default", "uid": "u"},
        "spec": {"replicas": replicas, "template": template},
    }
    control = _Counting(fails)

    async def main() -> None:
        expectations = ControllerExpectations(Clock())
        await manage_replicas(
            rs,
            [],
            pod_control=cast(PodControl, control),
            expectations=expectations,
            related_pods=lambda: [],
            now=0.0,
        )

    on_virtual_time(main())
    return control.creates


@cache
def _replaced() -> bool:
    async def scene(cluster: RehearsedCluster) -> bool:
        client = cluster.client("test")
        await client.create(resource("deployments.apps"), a_deployment(), "default")
        await asyncio.sleep(10)
        [lost, *_] = await cluster.items("pods")
        await client.delete(resource("pods"), lost["metadata"]["name"], "default")
        await asyncio.sleep(60)
        names = {p["metadata"]["name"] for p in await cluster.items("pods")}
        return len(names) == 3 and lost["metadata"]["name"] not in names

    return rehearse(scene)


@rebuilt("replicaset-controller-reacts-to-replicaset-and-pod-events")
def reacts() -> bool:
    """A ReplicaSet appears: pods. A pod disappears: another one."""
    return _replaced()


@check("replicaset-controller-replicaset-has-deployment-owner")
def owner(recording: Recording) -> bool:
    """Every recorded one, as its controller, and blocking."""
    references = [
        s["metadata"]["ownerReferences"]
        for s in journey(recording)[1]
        if s["metadata"].get("ownerReferences")
    ]
    return bool(references) and all(_whole(of_one[0]) for of_one in references)


@rebuilt("replicaset-controller-replicaset-has-deployment-owner")
def owner_here() -> bool:
    """Ours."""
    references = [
        r for rs in life().first for r in rs["metadata"].get("ownerReferences") or ()
    ]
    return len(references) == 1 and _whole(references[0])


def _whole(reference: Any) -> bool:
    return reference["kind"] == "Deployment" and bool(
        reference.get("controller") and reference.get("blockOwnerDeletion")
    )


@check("replicaset-controller-creates-missing-pods")
def missing(recording: Recording) -> bool:
    """Some recorded ReplicaSet got from none to what it wanted."""
    sets = journey(recording)[1]
    return any(
        (s.get("status") or {}).get("replicas") == s["spec"]["replicas"] > 0
        for s in sets
    )


@rebuilt("replicaset-controller-creates-missing-pods")
def missing_here() -> bool:
    """Seven wanted, none there, seven asked for."""
    return asked_for(7) == 7


@rebuilt("replicaset-controller-burst-count-always-matched")
def burst() -> Partly:
    """As a limit, yes: of 1200 it asks for 500. As a number that is always met, no: of
    seven it asks for seven.
    """
    return Partly(asked_for(1200) == 500, asked_for(7) == 7)


def _batches(count: int, fails: int = 0) -> tuple[list[int], int, Exception | None]:
    """How many creates go out together, each time, and what comes of it; the create of
    this number fails.
    """
    sizes: list[int] = []

    async def main() -> tuple[int, Exception | None]:
        together = number = 0

        async def create() -> None:
            nonlocal together, number
            together += 1
            number += 1
            mine = number
            await asyncio.sleep(1)
            if together:
                sizes.append(together)
                together = 0
            if mine == fails:
                raise failure(403, "Forbidden", "exceeded quota")

        return await slow_start_batch(count, SLOW_START_INITIAL_BATCH_SIZE, create)

    successes, error = on_virtual_time(main())
    return sizes, successes, error


@rebuilt("replicaset-controller-slow-start-batches")
def batches() -> bool:
    """Ten: one, two, four, and the rest; none: nothing. All have succeeded."""
    return _batches(10) == ([1, 2, 4, 3], 10, None) and _batches(0) == ([], 0, None)


@rebuilt("replicaset-controller-slow-start-limits-failing-creates")
def failing() -> bool:
    """Fifty are wanted and none is allowed: one request. If the fifth is refused, its
    batch is the last, and the six others of the seven have succeeded.
    """
    sizes, successes, error = _batches(50, fails=5)
    return (
        asked_for(50, fails=True) == 1
        and (sizes, successes) == ([1, 2, 4], 6)
        and error is not None
    )


@check("replicaset-controller-status-and-observed-generation")
def observed(recording: Recording) -> bool:
    """The generation of the newest recorded state that is not on its way out was
    observed.
    """
    last: dict[str, Object] = {
        s["metadata"]["name"]: s
        for s in journey(recording)[1]
        if not s["metadata"].get("deletionTimestamp")
    }
    return bool(last) and all(
        s["status"].get("observedGeneration") == s["metadata"]["generation"]
        for s in last.values()
    )


@rebuilt("replicaset-controller-status-and-observed-generation")
def observed_here() -> bool:
    """Ours."""
    [rs] = life().first
    status = rs.get("status") or {}
    return (status.get("observedGeneration"), status.get("readyReplicas")) == (
        rs["metadata"]["generation"],
        3,
    )
