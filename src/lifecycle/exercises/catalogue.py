"""All exercises, and finding one by the name a reader types."""

from __future__ import annotations

import difflib

from lifecycle.exercises import (
    atomic_volume,
    claim_cells,
    container_actions,
    container_end,
    container_namespaces,
    cpu_assignment,
    dns_records,
    endpoint_conditions,
    etcd_keys,
    host_local,
    image_gc,
    informer_store,
    iptables_chains,
    kubeconfig_merge,
    merge_patch,
    milestones,
    node_cidrs,
    pleg_relist,
    pod_cgroups,
    pod_news,
    pod_phase,
    pod_start_sli,
    pods_to_delete,
    probe_results,
    pull_credentials,
    rbac,
    renaming,
    request_info,
    resize_counting,
    rolling_arithmetic,
    scheduler_score,
    slow_start,
)
from lifecycle.exercises.exercise import Exercise

EXERCISES: tuple[Exercise, ...] = (
    kubeconfig_merge.EXERCISE,
    rbac.EXERCISE,
    request_info.EXERCISE,
    merge_patch.EXERCISE,
    etcd_keys.EXERCISE,
    informer_store.EXERCISE,
    rolling_arithmetic.EXERCISE,
    slow_start.EXERCISE,
    pods_to_delete.EXERCISE,
    scheduler_score.EXERCISE,
    pod_news.EXERCISE,
    pleg_relist.EXERCISE,
    probe_results.EXERCISE,
    pod_cgroups.EXERCISE,
    atomic_volume.EXERCISE,
    pull_credentials.EXERCISE,
    pod_phase.EXERCISE,
    container_namespaces.EXERCISE,
    host_local.EXERCISE,
    node_cidrs.EXERCISE,
    container_end.EXERCISE,
    container_actions.EXERCISE,
    cpu_assignment.EXERCISE,
    resize_counting.EXERCISE,
    image_gc.EXERCISE,
    endpoint_conditions.EXERCISE,
    iptables_chains.EXERCISE,
    dns_records.EXERCISE,
    milestones.EXERCISE,
    claim_cells.EXERCISE,
    pod_start_sli.EXERCISE,
    renaming.EXERCISE,
)


def find_exercise(name: str) -> Exercise:
    """The exercise of a stage. Raises KeyError, with what is there instead, for an
    unknown one.
    """
    stage = name.lower().replace("_", "-")
    for exercise in EXERCISES:
        if stage in (exercise.stage, *exercise.aliases):
            return exercise
    stages = [exercise.stage for exercise in EXERCISES]
    close = difflib.get_close_matches(stage, stages, n=1)
    hint = f"did you mean {close[0]}?" if close else f"there are: {', '.join(stages)}"
    raise KeyError(f"no exercise {name!r}; {hint}")
