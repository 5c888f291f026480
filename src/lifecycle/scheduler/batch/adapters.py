"""The adapters of the plugins that come with us.

Most only say what part of a pod the plugin looks at. Pods with claims are not to be
told apart by what is written in them: they are decided one by one. Who asks about pods
elsewhere has an adapter that counts them, in a module of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any

from lifecycle.api import fast_json
from lifecycle.api.pods.host_ports import host_ports
from lifecycle.scheduler.batch.inter_pod_affinity import InterPodAffinityAdapter
from lifecycle.scheduler.batch.interface import BatchAdapter, ClassScorer
from lifecycle.scheduler.batch.pod_topology_spread import PodTopologySpreadAdapter
from lifecycle.scheduler.framework.cycle_state import CycleState
from lifecycle.scheduler.framework.interface import Plugin, ScorePlugin
from lifecycle.scheduler.framework.listers import SharedLister
from lifecycle.scheduler.framework.node_info import NodeInfo, PodInfo
from lifecycle.scheduler.framework.plugins.dynamic_resources import DynamicResources
from lifecycle.scheduler.framework.plugins.image_locality import (
    ImageLocality,
    image_names,
    score_of,
    spreads,
)
from lifecycle.scheduler.framework.plugins.inter_pod_affinity import InterPodAffinity
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
from lifecycle.scheduler.framework.plugins.taint_toleration import TaintToleration
from lifecycle.scheduler.framework.plugins.volume_binding.volume_binding import (
    VolumeBinding,
)
from lifecycle.scheduler.framework.plugins.volume_restrictions import (
    DISKS,
    VolumeRestrictions,
)
from lifecycle.scheduler.framework.plugins.volume_zone import VolumeZone
from lifecycle.scheduler.framework.status import Status
from lifecycle.scheduler.framework.volumes import claim_names


class Signed(BatchAdapter):
    """For a plugin whose answers depend on a part of the pod."""

    def __init__(self, sign: Callable[[PodInfo], Hashable]) -> None:
        self._sign = sign

    def sign_pod(self, plugin: Any, info: PodInfo, snapshot: SharedLister) -> Hashable:
        return self._sign(info)


def _tolerations(info: PodInfo) -> Hashable:
    return fast_json.dumps(info.pod["spec"].get("tolerations"))


def _node_affinity(info: PodInfo) -> Hashable:
    spec = info.pod["spec"]
    affinity = (spec.get("affinity") or {}).get("nodeAffinity")
    return fast_json.dumps([spec.get("nodeSelector"), affinity])


def _all_requests(info: PodInfo) -> Hashable:
    return (tuple(info.requests.items()), tuple(info.non_zero.items()))


def _no_claims(info: PodInfo) -> Hashable:
    return () if next(claim_names(info.pod), None) is None else None


def _no_resource_claims(info: PodInfo) -> Hashable:
    return None if info.pod["spec"].get("resourceClaims") else ()


def _no_disks(info: PodInfo) -> Hashable:
    volumes = info.pod["spec"].get("volumes") or ()
    return None if any(kind in v for v in volumes for kind in DISKS) else ()


class ImageScorer(ClassScorer):
    """A node's class: the sizes of the pod's images there. How many other nodes have
    them may have changed since the last pod.
    """

    def __init__(self, plugin: ScorePlugin, state: CycleState, info: PodInfo) -> None:
        super().__init__(plugin, state)
        self._info = info
        self._images = image_names(info)
        self._snapshot: SharedLister = state.read("PreScore" + plugin.name)
        self._spreads: list[float] = []

    def node_class(self, info: PodInfo, node: NodeInfo) -> Hashable:
        return tuple([node.images.get(image) for image in self._images])

    def prepare(self, classes: Sequence[Any], feasible: int) -> None:
        self._spreads = spreads(self._info, self._snapshot)

    def score(self, node_class: Any) -> int:
        return score_of(node_class, self._spreads)


class ImageLocalityAdapter(BatchAdapter):
    """Depends on the pod's images."""

    def sign_pod(self, plugin: Any, info: PodInfo, snapshot: SharedLister) -> Hashable:
        return tuple(image_names(info))

    def pre_score(
        self, plugin: Any, state: CycleState, info: PodInfo, s: SharedLister
    ) -> Status | None:
        state.write("PreScore" + plugin.name, s)
        return None

    def class_scorer(
        self, plugin: ScorePlugin, state: CycleState, info: PodInfo
    ) -> ClassScorer:
        return ImageScorer(plugin, state, info)


_TOLERATIONS, _CLAIMS = Signed(_tolerations), Signed(_no_claims)

ADAPTERS: Mapping[type[Plugin], BatchAdapter] = {
    NodeUnschedulable: _TOLERATIONS,
    NodeName: Signed(lambda info: info.pod["spec"].get("nodeName") or ""),
    TaintToleration: _TOLERATIONS,
    NodeAffinity: Signed(_node_affinity),
    NodePorts: Signed(lambda info: tuple(host_ports(info.pod))),
    NodeResourcesFit: Signed(_all_requests),
    VolumeRestrictions: Signed(_no_disks),
    NodeVolumeLimits: _CLAIMS,
    VolumeBinding: _CLAIMS,
    VolumeZone: _CLAIMS,
    PodTopologySpread: PodTopologySpreadAdapter(),
    InterPodAffinity: InterPodAffinityAdapter(),
    DynamicResources: Signed(_no_resource_claims),
    NodeResourcesBalancedAllocation: Signed(lambda i: tuple(i.requests.items())),
    ImageLocality: ImageLocalityAdapter(),
}
"""By the very class: who derives from it may look at more. Plugins at PreFilter,
Filter, PreScore and Score; the other points are passed by every pod itself.
"""
