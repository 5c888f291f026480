"""Readers' attempts at every exercise: right ones that are written otherwise than the book's, and the same with one slip.

Each attempt is made by a function that takes the slip, a short name of what somebody overlooked; "" is no slip at all.
"""

from __future__ import annotations

from tests.exercises.other_ways.before_etcd import kubeconfig_merge, rbac
from tests.exercises.other_ways.control_loops import informer_store, rolling_arithmetic, scheduler_score, slow_start
from tests.exercises.other_ways.node_and_wire import dns_records, host_local, iptables_chains, pod_phase

__all__ = [
    "SLIPS",
    "dns_records",
    "host_local",
    "informer_store",
    "iptables_chains",
    "kubeconfig_merge",
    "pod_phase",
    "rbac",
    "rolling_arithmetic",
    "scheduler_score",
    "slow_start",
]

SLIPS: dict[str, tuple[str, ...]] = {
    "kubeconfig-merge": (
        "every command",
        "token files",
        "paths as they are",
        "the last one wins",
        "entries are mixed",
        "the first file's context",
        "preferences as a whole",
    ),
    "rbac": (
        "no groups",
        "any account of that name",
        "no stars in paths",
        "any group",
        "subresources count as their resource",
        "names do not matter",
        "bindings count everywhere",
        "only roles in a namespace",
    ),
    "informer-store": (
        "names alone",
        "empty values stay",
        "the first one stays",
        "the old index stays",
        "copies",
        "an update changes what is there",
        "a stranger's deletion",
        "deleted but filed",
        "unfiled by its last state",
        "a list only adds",
        "no such key",
    ),
    "rolling-arithmetic": (
        "surge is rounded down",
        "unavailable is rounded up",
        "both may be nothing",
        "more may be missing than there are",
        "one old set",
        "the old do not count",
        "more than wanted",
        "no room shrinks",
    ),
    "slow-start": (
        "all at once",
        "whole batches",
        "the first failure ends it",
        "goes on after a failure",
        "raises",
        "counts nothing",
        "the last error",
        "always the same size",
        "one more each time",
    ),
    "scheduler-score": (
        "the first container",
        "limits",
        "no defaults",
        "a default for the pod",
        "capacity",
        "a missing resource counts",
        "the others do not count",
        "without itself",
        "below zero",
        "rounded at the end",
        "most allocated",
        "the smaller one",
    ),
    "pod-phase": (
        "no last state",
        "who is not there does not count",
        "no init containers",
        "a sidecar is an init container",
        "a failed init container",
        "a running init container",
        "the policy does not matter",
        "done is done",
    ),
    "host-local": (
        "one range",
        "the whole subnet",
        "the gateway too",
        "the broadcast address too",
        "the lowest free one",
        "without the prefix",
        "raises when full",
        "nothing is given back",
        "strangers are an error",
        "goes back to what was freed",
    ),
    "iptables-chains": (
        "always a colon",
        "no port",
        "capitals",
        "one for all endpoints",
        "no protocol",
        "the prefix too",
        "sha1",
        "hexadecimal",
        "fifteen letters",
    ),
    "dns-records": (
        "external names are addresses",
        "ready or not",
        "no host names",
        "headless has no name",
        "all is TCP",
        "each weighs everything",
        "no pods",
    ),
}
"""Everything that somebody overlooks, by exercise."""
