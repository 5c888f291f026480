"""From a profile to its plugins: the registry of all of them, and the framework that
calls those a profile wants.

Upstream: `pkg/scheduler/apis/config/v1/default_plugins.go` (`getDefaultPlugins`),
v1.36. NodeDeclaredFeatures and gang scheduling are left out.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from lifecycle.api.labels import Selector
from lifecycle.api.wire import Object
from lifecycle.scheduler.config import (
    DEFAULT_SCHEDULER_NAME,
    ConfigurationError,
    Profile,
)
from lifecycle.scheduler.framework import (
    EXTENSION_POINTS,
    Framework,
    Plugin,
    ScorePlugin,
)
from lifecycle.scheduler.node_info import PodInfo
from lifecycle.scheduler.plugins.default_binder import DefaultBinder
from lifecycle.scheduler.plugins.default_preemption import Candidate, DefaultPreemption
from lifecycle.scheduler.plugins.dynamic_resources import DynamicResources
from lifecycle.scheduler.plugins.image_locality import ImageLocality
from lifecycle.scheduler.plugins.inter_pod_affinity import (
    HARD_POD_AFFINITY_WEIGHT,
    InterPodAffinity,
)
from lifecycle.scheduler.plugins.node_affinity import NodeAffinity
from lifecycle.scheduler.plugins.node_name import NodeName
from lifecycle.scheduler.plugins.node_ports import NodePorts
from lifecycle.scheduler.plugins.node_resources_balanced_allocation import (
    NodeResourcesBalancedAllocation,
)
from lifecycle.scheduler.plugins.node_resources_fit import NodeResourcesFit
from lifecycle.scheduler.plugins.node_unschedulable import NodeUnschedulable
from lifecycle.scheduler.plugins.node_volume_limits import NodeVolumeLimits
from lifecycle.scheduler.plugins.pod_topology_spread import PodTopologySpread
from lifecycle.scheduler.plugins.priority_sort import PrioritySort
from lifecycle.scheduler.plugins.scheduling_gates import SchedulingGates
from lifecycle.scheduler.plugins.taint_toleration import TaintToleration
from lifecycle.scheduler.plugins.volume_binding import VolumeBinding
from lifecycle.scheduler.plugins.volume_restrictions import VolumeRestrictions
from lifecycle.scheduler.plugins.volume_zone import VolumeZone
from lifecycle.scheduler.volume_binder import VolumeBinder

__all__ = ["DEFAULT_SCHEDULER_NAME", "Views", "default_framework", "new_framework"]


class Views:
    """What plugins may ask about other objects. Each function may be left out."""

    def __init__(
        self,
        *,
        find_selector: Callable[[Object], Selector | None] | None = None,
        labels_of_namespace: Callable[[str], dict[str, str]] | None = None,
        volume_binder: VolumeBinder | None = None,
        budgets: Callable[[], list[Object]] | None = None,
        prepare_candidate: Callable[[PodInfo, Candidate], None] | None = None,
        resource_claim: Callable[[str], Object | None] = lambda key: None,
        device_class: Callable[[str], Object | None] = lambda name: None,
    ) -> None:
        self.find_selector = find_selector
        self.labels_of_namespace = labels_of_namespace
        self.volume_binder = volume_binder or VolumeBinder()
        self.budgets = budgets
        self.prepare_candidate = prepare_candidate
        self.resource_claim, self.device_class = resource_claim, device_class


Factory = Callable[[Views, Mapping[str, Any]], Plugin]
"""Makes a plugin from the views and the profile's arguments for it."""


def _fit(views: Views, args: Mapping[str, Any]) -> Plugin:
    strategy = args.get("scoringStrategy") or {}
    weights = {r["name"]: r.get("weight", 1) for r in strategy.get("resources") or ()}
    return NodeResourcesFit(
        strategy.get("type", "LeastAllocated"),
        weights or None,
        (strategy.get("requestedToCapacityRatio") or {}).get("shape") or (),
        args.get("ignoredResources") or (),
        args.get("ignoredResourceGroups") or (),
    )


def _spread(views: Views, args: Mapping[str, Any]) -> Plugin:
    defaults = (
        args.get("defaultConstraints") or ()
        if args.get("defaultingType") == "List"
        else None
    )
    return PodTopologySpread(views.find_selector, defaults)


def _inter_pod_affinity(views: Views, args: Mapping[str, Any]) -> Plugin:
    weight = args.get("hardPodAffinityWeight", HARD_POD_AFFINITY_WEIGHT)
    return InterPodAffinity(
        views.labels_of_namespace,
        weight,
        bool(args.get("ignorePreferredTermsOfExistingPods")),
    )


REGISTRY: Mapping[str, Factory] = {
    "SchedulingGates": lambda views, args: SchedulingGates(),
    "PrioritySort": lambda views, args: PrioritySort(),
    "NodeUnschedulable": lambda views, args: NodeUnschedulable(),
    "NodeName": lambda views, args: NodeName(),
    "TaintToleration": lambda views, args: TaintToleration(),
    "NodeAffinity": lambda views, args: NodeAffinity(args.get("addedAffinity")),
    "NodePorts": lambda views, args: NodePorts(),
    "NodeResourcesFit": _fit,
    "VolumeRestrictions": lambda views, args: VolumeRestrictions(views.volume_binder),
    "NodeVolumeLimits": lambda views, args: NodeVolumeLimits(views.volume_binder),
    "VolumeBinding": lambda views, args: VolumeBinding(views.volume_binder),
    "VolumeZone": lambda views, args: VolumeZone(views.volume_binder),
    "PodTopologySpread": _spread,
    "InterPodAffinity": _inter_pod_affinity,
    "DynamicResources": lambda views, args: DynamicResources(
        views.resource_claim, views.device_class
    ),
    "DefaultPreemption": lambda views, args: DefaultPreemption(
        views.prepare_candidate, views.budgets
    ),
    "NodeResourcesBalancedAllocation": lambda views, args: (
        NodeResourcesBalancedAllocation(
            [r["name"] for r in args.get("resources") or ()]
        )
    ),
    "ImageLocality": lambda views, args: ImageLocality(),
    "DefaultBinder": lambda views, args: DefaultBinder(),
}
"""The in-tree plugins. Upstream: `framework/plugins/registry.go`
(`NewInTreeRegistry`).
"""


def new_framework(
    profile: Profile,
    views: Views | None = None,
    out_of_tree: Mapping[str, Factory] | None = None,
) -> Framework:
    """The plugins of a profile. `out_of_tree` adds plugins of one's own. Raises
    ConfigurationError for an unknown name, a score plugin without a weight, or a name
    registered twice.
    """
    registry = dict(REGISTRY)
    for name, factory in (out_of_tree or {}).items():
        if name in registry:
            raise ConfigurationError(f"a plugin named {name} already exists")
        registry[name] = factory
    made: dict[str, Plugin] = {}

    def plugin(name: str, weight: int, where: str) -> Plugin:
        if name not in registry:
            which = f"initializing profiles: creating profile for scheduler name {profile.scheduler_name}"
            raise ConfigurationError(f'{which}: {where} "{name}" does not exist')
        if name not in made:
            made[name] = registry[name](views or Views(), profile.args.get(name, {}))
            if weight:
                made[name].weight = weight
        return made[name]

    everywhere = [
        plugin(name, weight, "plugin") for name, weight in profile.multi_point
    ]
    points = {}
    for point, wanted in profile.points.items():
        points[point] = [
            plugin(name, weight, point.title() + "Plugin") for name, weight in wanted
        ]
        for (name, weight), found in zip(wanted, points[point], strict=True):
            if weight and point == "score":
                found.weight = weight
            if (
                not isinstance(found, EXTENSION_POINTS[point])
                and (name, weight) not in profile.multi_point
            ):
                raise ConfigurationError(
                    f"plugin {name} does not extend {point.title()} plugin"
                )
    for found in made.values():
        if isinstance(found, ScorePlugin) and found.weight <= 0:
            raise ConfigurationError(
                f'score plugin "{found.name}" is not configured with weight'
            )
    for point in EXTENSION_POINTS:
        points.setdefault(point, everywhere)
    framework = Framework(list(made.values()), profile.scheduler_name, points)
    for found in framework.plugins:
        if isinstance(found, DefaultPreemption):
            found.framework = framework
    return framework


def default_framework(
    *, profile_name: str = DEFAULT_SCHEDULER_NAME, **views: Any
) -> Framework:
    """All default plugins; further arguments are those of `Views`."""
    return new_framework(Profile(profile_name), Views(**views))
