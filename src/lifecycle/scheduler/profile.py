"""The default profile: which plugins, in which order, with which weights.

Upstream: `pkg/scheduler/apis/config/v1/default_plugins.go` (`getDefaultPlugins`), v1.36. The volume plugins are one
here (see `VolumeBinding`); NodeVolumeLimits, NodeDeclaredFeatures and gang scheduling are left out.
"""

from __future__ import annotations

from collections.abc import Callable

from lifecycle.api.labels import Selector
from lifecycle.api.wire import Object
from lifecycle.scheduler.framework import Framework
from lifecycle.scheduler.node_info import PodInfo
from lifecycle.scheduler.plugins.default_binder import DefaultBinder
from lifecycle.scheduler.plugins.default_preemption import Candidate, DefaultPreemption
from lifecycle.scheduler.plugins.dynamic_resources import DynamicResources
from lifecycle.scheduler.plugins.image_locality import ImageLocality
from lifecycle.scheduler.plugins.inter_pod_affinity import InterPodAffinity
from lifecycle.scheduler.plugins.node_affinity import NodeAffinity
from lifecycle.scheduler.plugins.node_name import NodeName
from lifecycle.scheduler.plugins.node_ports import NodePorts
from lifecycle.scheduler.plugins.node_resources_balanced_allocation import NodeResourcesBalancedAllocation
from lifecycle.scheduler.plugins.node_resources_fit import NodeResourcesFit
from lifecycle.scheduler.plugins.node_unschedulable import NodeUnschedulable
from lifecycle.scheduler.plugins.pod_topology_spread import PodTopologySpread
from lifecycle.scheduler.plugins.priority_sort import PrioritySort
from lifecycle.scheduler.plugins.scheduling_gates import SchedulingGates
from lifecycle.scheduler.plugins.taint_toleration import TaintToleration
from lifecycle.scheduler.plugins.volume_binding import VolumeBinding

DEFAULT_SCHEDULER_NAME = "default-scheduler"


def default_framework(
    *,
    find_selector: Callable[[Object], Selector | None] | None = None,
    labels_of_namespace: Callable[[str], dict[str, str]] | None = None,
    get_claim: Callable[[str], Object | None] | None = None,
    budgets: Callable[[], list[Object]] | None = None,
    prepare_candidate: Callable[[PodInfo, Candidate], None] | None = None,
    profile_name: str = DEFAULT_SCHEDULER_NAME,
) -> Framework:
    """All default plugins. The functions give plugins their view of other objects; each may be left out."""
    preemption = DefaultPreemption(prepare_candidate, budgets)
    framework = Framework(
        [
            SchedulingGates(),
            PrioritySort(),
            NodeUnschedulable(),
            NodeName(),
            TaintToleration(),
            NodeAffinity(),
            NodePorts(),
            NodeResourcesFit(),
            VolumeBinding(get_claim),
            PodTopologySpread(find_selector),
            InterPodAffinity(labels_of_namespace),
            DynamicResources(),
            preemption,
            NodeResourcesBalancedAllocation(),
            ImageLocality(),
            DefaultBinder(),
        ],
        profile_name,
    )
    preemption.framework = framework
    return framework
