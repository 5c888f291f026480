"""Defaults of the workloads: replicas, strategies, history, deadlines.

Upstream: `pkg/apis/{apps,batch,autoscaling}/v1/defaults.go`,
`pkg/apis/autoscaling/v2/defaults.go`, v1.36.
"""

from __future__ import annotations

from lifecycle.api.defaults.pods import set_pod_template_defaults
from lifecycle.api.wire import Object
from lifecycle.apiserver.registry.apps.rolling_update import set_rolling_update_defaults
from lifecycle.apiserver.registry.rest.defaults import set_default
from lifecycle.apiserver.registry.unmigrated.defaults.core import (
    set_persistent_volume_claim_defaults,
)


def set_replica_set_defaults(replica_set: Object) -> None:
    """One replica."""
    spec = replica_set.setdefault("spec", {})
    set_pod_template_defaults(spec.setdefault("template", {}))
    set_default(spec, "replicas", 1)


def set_daemon_set_defaults(daemon_set: Object) -> None:
    """RollingUpdate, one node at a time, no surge."""
    spec = daemon_set.setdefault("spec", {})
    set_pod_template_defaults(spec.setdefault("template", {}))
    set_rolling_update_defaults(spec, "updateStrategy", 1, max_surge=0)
    set_default(spec, "revisionHistoryLimit", 10)


_CLAIM_TYPE = {"kind": "PersistentVolumeClaim", "apiVersion": "v1"}


def set_stateful_set_defaults(stateful_set: Object) -> None:
    """Ordered, RollingUpdate from partition 0, claims kept."""
    spec = stateful_set.setdefault("spec", {})
    set_pod_template_defaults(spec.setdefault("template", {}))
    claims = spec.get("volumeClaimTemplates") or []
    for index, claim in enumerate(claims):
        set_persistent_volume_claim_defaults(claim)
        claims[index] = {
            **_CLAIM_TYPE,
            **claim,
            **_CLAIM_TYPE,
        }  # whatever stood there; upstream: `pkg/apis/apps/v1/conversion.go`
    if not spec.get("podManagementPolicy"):
        spec["podManagementPolicy"] = "OrderedReady"
    strategy = spec.get("updateStrategy")
    if strategy is None:
        strategy = spec["updateStrategy"] = {}
    if not strategy.get("type"):
        strategy["type"] = "RollingUpdate"
        if strategy.get("rollingUpdate") is None:
            strategy["rollingUpdate"] = {}
    if (
        strategy["type"] == "RollingUpdate"
        and strategy.get("rollingUpdate") is not None
    ):
        set_default(strategy["rollingUpdate"], "partition", 0)
        set_default(strategy["rollingUpdate"], "maxUnavailable", 1)
    retention = spec.get("persistentVolumeClaimRetentionPolicy")
    if retention is None:
        retention = spec["persistentVolumeClaimRetentionPolicy"] = {}
    for key in ("whenDeleted", "whenScaled"):
        if not retention.get(key):
            retention[key] = "Retain"
    set_default(spec, "replicas", 1)
    set_default(spec, "revisionHistoryLimit", 10)
