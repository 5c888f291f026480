"""What the plugins about volumes share: which claims a pod uses, and which changes of
claims and volumes may help it.

Upstream: `component-helpers/storage/ephemeral/ephemeral.go` (`VolumeClaimName`),
`pkg/scheduler/framework/plugins/volumebinding/binder.go` (`isDelayBindingMode`), and
the hints of each plugin, v1.36.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from lifecycle.api.http.wire import Object
from lifecycle.api.persistent_volumes import storage_class_of
from lifecycle.scheduler.framework.listers import Listers
from lifecycle.scheduler.framework.node_info import PodInfo
from lifecycle.scheduler.framework.types import ClusterEvent, QueueingHintFn, always


def claim_names(pod: Object) -> Iterator[tuple[str, bool]]:
    """The claims a pod's volumes use, and whether one is for an ephemeral volume: that
    claim is named after pod and volume.
    """
    for volume in pod["spec"].get("volumes") or ():
        if "persistentVolumeClaim" in volume:
            yield volume["persistentVolumeClaim"]["claimName"], False
        elif "ephemeral" in volume:
            yield f"{pod['metadata']['name']}-{volume['name']}", True


def lasting_claims(
    pod: Object, listers: Listers
) -> Iterator[tuple[str, Object | None]]:
    """The claims that do not end with the pod, by name; None for one that is not
    there.
    """
    for name, ephemeral in claim_names(pod):
        if not ephemeral:
            yield name, listers.get_claim(f"{pod['metadata']['namespace']}/{name}")


def is_delay_binding_mode(claim: Object, listers: Listers) -> bool:
    """Whether the claim's class leaves the binding to the scheduler."""
    storage_class = listers.get_class(storage_class_of(claim)) or {}
    return storage_class.get("volumeBindingMode") == "WaitForFirstConsumer"


def uses_claim(info: PodInfo, _old: Object | None, new: Object | None) -> bool:
    """The hint for changes of claims: whether it is one of the pod's."""
    if new is None or new["metadata"]["namespace"] != info.pod["metadata"]["namespace"]:
        return False
    return any(name == new["metadata"]["name"] for name, _ in claim_names(info.pod))


CLAIM_EVENTS: Mapping[ClusterEvent, QueueingHintFn] = {
    ClusterEvent("PersistentVolumeClaim", "Add"): uses_claim,
    ClusterEvent("PersistentVolumeClaim", "Update"): uses_claim,
}

VOLUME_EVENTS: Mapping[ClusterEvent, QueueingHintFn] = {
    **CLAIM_EVENTS,
    ClusterEvent("PersistentVolume", "Add"): always,
    ClusterEvent("PersistentVolume", "Update"): always,
    ClusterEvent("StorageClass", "Add"): always,
    ClusterEvent("Node", "Add"): always,
    ClusterEvent("Node", "UpdateNodeLabel"): always,
}
