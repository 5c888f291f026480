"""The plugins that come with the scheduler, by name.

Upstream: `pkg/scheduler/framework/plugins/registry.go` (`NewInTreeRegistry`), v1.36.
NodeDeclaredFeatures and gang scheduling are left out.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from lifecycle.scheduler.framework.handle import Handle
from lifecycle.scheduler.framework.interface import Plugin
from lifecycle.scheduler.framework.plugins.default_binder import DefaultBinder
from lifecycle.scheduler.framework.plugins.default_preemption import DefaultPreemption
from lifecycle.scheduler.framework.plugins.dynamic_resources import DynamicResources
from lifecycle.scheduler.framework.plugins.image_locality import ImageLocality
from lifecycle.scheduler.framework.plugins.inter_pod_affinity import (
    HARD_POD_AFFINITY_WEIGHT,
    InterPodAffinity,
)
from lifecycle.scheduler.framework.plugins.node_affinity import NodeAffinity
from lifecycle.scheduler.framework.plugins.node_name import NodeName
from lifecycle.scheduler.framework.plugins.node_ports import NodePorts
from lifecycle.scheduler.framework.plugins.node_resources_balanced_allocation import (
    NodeResourcesBalancedAllocation,
)
from lifecycle.scheduler.framework.plugins.node_resources_fit import NodeResourcesFit
from lifecycle.scheduler.framework.plugins.node_unschedulable import NodeUnschedulable
from lifecycle.scheduler.framework.plugins.node_volume_limits import NodeVolumeLimits
from lifecycle.scheduler.framework.plugins.pod_topology_spread.plugin import (
    PodTopologySpread,
)
from lifecycle.scheduler.framework.plugins.priority_sort import PrioritySort
from lifecycle.scheduler.framework.plugins.scheduling_gates import SchedulingGates
from lifecycle.scheduler.framework.plugins.taint_toleration import TaintToleration
from lifecycle.scheduler.framework.plugins.volume_binding.binder import VolumeBinder
from lifecycle.scheduler.framework.plugins.volume_binding.volume_binding import (
    VolumeBinding,
)
from lifecycle.scheduler.framework.plugins.volume_restrictions import (
    VolumeRestrictions,
)
from lifecycle.scheduler.framework.plugins.volume_zone import VolumeZone
from lifecycle.scheduler.framework.runtime.options import Registry


def _fit(args: Mapping[str, Any], handle: Handle) -> Plugin:
    strategy = args.get("scoringStrategy") or {}
    weights = {r["name"]: r.get("weight", 1) for r in strategy.get("resources") or ()}
    return NodeResourcesFit(
        strategy.get("type", "LeastAllocated"),
        weights or None,
        (strategy.get("requestedToCapacityRatio") or {}).get("shape") or (),
        args.get("ignoredResources") or (),
        args.get("ignoredResourceGroups") or (),
    )


def _spread(args: Mapping[str, Any], handle: Handle) -> Plugin:
    defaults = (
        args.get("defaultConstraints") or ()
        if args.get("defaultingType") == "List"
        else None
    )
    return PodTopologySpread(handle.listers.find_selector, defaults)


def _inter_pod_affinity(args: Mapping[str, Any], handle: Handle) -> Plugin:
    return InterPodAffinity(
        handle.listers.labels_of_namespace,
        args.get("hardPodAffinityWeight", HARD_POD_AFFINITY_WEIGHT),
        bool(args.get("ignorePreferredTermsOfExistingPods")),
    )


def _dynamic_resources(args: Mapping[str, Any], handle: Handle) -> Plugin:
    listers = handle.listers
    return DynamicResources(listers.get_resource_claim, listers.get_device_class)


def _balanced_allocation(args: Mapping[str, Any], handle: Handle) -> Plugin:
    names = [resource["name"] for resource in args.get("resources") or ()]
    return NodeResourcesBalancedAllocation(names)


def _volume_binding(args: Mapping[str, Any], handle: Handle) -> Plugin:
    timeout = float(args.get("bindTimeoutSeconds", 600))
    return VolumeBinding(VolumeBinder.of(handle, timeout))


IN_TREE_REGISTRY: Registry = {
    "SchedulingGates": lambda args, handle: SchedulingGates(),
    "PrioritySort": lambda args, handle: PrioritySort(),
    "NodeUnschedulable": lambda args, handle: NodeUnschedulable(),
    "NodeName": lambda args, handle: NodeName(),
    "TaintToleration": lambda args, handle: TaintToleration(),
    "NodeAffinity": lambda args, handle: NodeAffinity(args.get("addedAffinity")),
    "NodePorts": lambda args, handle: NodePorts(),
    "NodeResourcesFit": _fit,
    "VolumeRestrictions": lambda args, handle: VolumeRestrictions(handle.listers),
    "NodeVolumeLimits": lambda args, handle: NodeVolumeLimits(handle.listers),
    "VolumeBinding": _volume_binding,
    "VolumeZone": lambda args, handle: VolumeZone(handle.listers),
    "PodTopologySpread": _spread,
    "InterPodAffinity": _inter_pod_affinity,
    "DynamicResources": _dynamic_resources,
    "DefaultPreemption": lambda args, handle: DefaultPreemption(handle),
    "NodeResourcesBalancedAllocation": _balanced_allocation,
    "ImageLocality": lambda args, handle: ImageLocality(),
    "DefaultBinder": lambda args, handle: DefaultBinder(handle.client),
}
"""Each made from the profile's arguments for it and the framework it is for."""
