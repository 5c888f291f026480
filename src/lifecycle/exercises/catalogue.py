"""All exercises, and finding one by the name a reader types."""

from __future__ import annotations

import difflib

from lifecycle.exercises import (
    atomic_volume,
    audit_policy,
    binding,
    claim_verdicts,
    container_actions,
    container_end,
    container_namespaces,
    cpu_assignment,
    create_deployment,
    dns_records,
    endpoint_conditions,
    etcd_keys,
    event_versions,
    feasible_nodes,
    field_owners,
    flow_schemas,
    front_proxy_headers,
    host_local,
    image_gc,
    informer_store,
    initializers,
    iptables_chains,
    journey_thread,
    kubeconfig_merge,
    leader_election,
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
    resource_words,
    rolling_arithmetic,
    scheduler_score,
    scheduling_queue,
    service_account_token,
    slow_start,
    three_way_merge,
    token_bucket,
    watch_events,
    webhook_rules,
)
from lifecycle.exercises.exercise import Exercise

EXERCISES: tuple[Exercise, ...] = (
    create_deployment.EXERCISE,
    resource_words.EXERCISE,
    three_way_merge.EXERCISE,
    kubeconfig_merge.EXERCISE,
    token_bucket.EXERCISE,
    request_info.EXERCISE,
    service_account_token.EXERCISE,
    audit_policy.EXERCISE,
    flow_schemas.EXERCISE,
    rbac.EXERCISE,
    front_proxy_headers.EXERCISE,
    webhook_rules.EXERCISE,
    merge_patch.EXERCISE,
    field_owners.EXERCISE,
    event_versions.EXERCISE,
    etcd_keys.EXERCISE,
    watch_events.EXERCISE,
    initializers.EXERCISE,
    informer_store.EXERCISE,
    leader_election.EXERCISE,
    rolling_arithmetic.EXERCISE,
    slow_start.EXERCISE,
    pods_to_delete.EXERCISE,
    scheduler_score.EXERCISE,
    scheduling_queue.EXERCISE,
    binding.EXERCISE,
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
    container_actions.EXERCISE,
    container_end.EXERCISE,
    cpu_assignment.EXERCISE,
    resize_counting.EXERCISE,
    image_gc.EXERCISE,
    endpoint_conditions.EXERCISE,
    iptables_chains.EXERCISE,
    dns_records.EXERCISE,
    journey_thread.EXERCISE,
    milestones.EXERCISE,
    claim_verdicts.EXERCISE,
    feasible_nodes.EXERCISE,
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
