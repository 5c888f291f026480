"""Completion indexes: which pieces of an Indexed Job are done, and which are to be
tried next.

Upstream: `pkg/controller/job/indexed_job_utils.go` (`firstPendingIndexes`,
`addCompletionIndexEnvVariable`), v1.36.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain, islice

from lifecycle.api.http.wire import Object
from lifecycle.controllers.job.ordered_intervals import OrderedIntervals
from lifecycle.controllers.replicaset.victim_ranking import get_pods_to_delete

COMPLETION_INDEX = "batch.kubernetes.io/job-completion-index"
ENV_NAME = "JOB_COMPLETION_INDEX"
MAX_GENERATED_NAME_LENGTH = 58
"""63 less the five random letters."""


def completion_index(pod: Object) -> int:
    """The pod's index from its annotation; -1 without a proper one."""
    try:
        return int((pod["metadata"].get("annotations") or {})[COMPLETION_INDEX])
    except (KeyError, ValueError):
        return -1


def first_pending_indexes(
    count: int, completions: int, active: Sequence[Object], done: OrderedIntervals
) -> list[int]:
    """The lowest `count` indexes that neither succeeded nor have an active pod."""
    running = (completion_index(pod) for pod in active)
    taken = done.with_indexes(index for index in running if 0 <= index < completions)
    return list(islice(chain.from_iterable(taken.gaps(completions)), count))


def superfluous(
    active: Sequence[Object], completions: int, now: float
) -> tuple[list[Object], list[Object]]:
    """Active pods that no index needs (a second one of it, a number beyond the end,
    none at all), and the others.

    Upstream: `appendDuplicatedIndexPodsForRemoval`.
    """
    by_index: dict[int, list[Object]] = {}
    for pod in active:
        by_index.setdefault(completion_index(pod), []).append(pod)
    useless: list[Object] = []
    left: list[Object] = []
    for index in sorted(by_index):
        pods = by_index[index]
        extra = len(pods) - 1 if 0 <= index < completions else len(pods)
        victims = get_pods_to_delete(pods, pods, extra, now)
        useless += victims
        left += [pod for pod in pods if pod not in victims]
    return useless, left


def with_index(pod: Object, job_name: str, index: int) -> Object:
    """The pod to be created for an index: told it by annotation, label, host name and
    environment.
    """
    meta, spec = pod["metadata"], pod["spec"]
    env = {
        "name": ENV_NAME,
        "valueFrom": {
            "fieldRef": {
                "apiVersion": "v1",
                "fieldPath": f"metadata.labels['{COMPLETION_INDEX}']",
            }
        },
    }

    def add_completion_index_env(containers: Sequence[Object]) -> list[Object]:
        return [
            (
                container
                if any(e["name"] == ENV_NAME for e in container.get("env") or ())
                else {**container, "env": [*(container.get("env") or ()), env]}
            )
            for container in containers
        ]

    spec = {**spec, "containers": add_completion_index_env(spec["containers"])}
    if spec.get("initContainers"):
        spec["initContainers"] = add_completion_index_env(spec["initContainers"])
    spec["hostname"] = f"{job_name}-{index}"
    return {
        **pod,
        "metadata": {
            **meta,
            "generateName": (
                f"{job_name[: MAX_GENERATED_NAME_LENGTH - len(str(index)) - 2]}"
                f"-{index}-"
            ),
            "labels": {**(meta.get("labels") or {}), COMPLETION_INDEX: str(index)},
            "annotations": {
                **(meta.get("annotations") or {}),
                COMPLETION_INDEX: str(index),
            },
        },
        "spec": spec,
    }
