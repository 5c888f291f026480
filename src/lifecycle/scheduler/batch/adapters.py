"""The adapters of the plugins that come with us.

Most only say what part of a pod the plugin looks at. Pods with affinity to others, with
spreading of their own or with claims are not to be told apart by what is written in
them: they are decided one by one. The default spreading counts pods per zone over the
whole cluster; its adapter keeps that as a running sum.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from math import floor
from typing import Any

from lifecycle.api import fast_json
from lifecycle.api.host_ports import host_ports
from lifecycle.api.node_selector import required_node_affinity
from lifecycle.scheduler.batch.interface import BatchAdapter, ClassScorer
from lifecycle.scheduler.framework.cycle_state import CycleState
from lifecycle.scheduler.framework.interface import Plugin, PreScorePlugin, ScorePlugin
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
from lifecycle.scheduler.framework.plugins.pod_topology_spread.constraints import (
    HOSTNAME,
    count_pods_match_selector,
)
from lifecycle.scheduler.framework.plugins.pod_topology_spread.plugin import (
    IGNORED,
    PodTopologySpread,
    SoftState,
    has_all_keys,
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
from lifecycle.scheduler.framework.status import SKIP, Status
from lifecycle.scheduler.framework.volumes import claim_names


class Signed(BatchAdapter):
    """For a plugin whose answers depend on a part of the pod."""

    def __init__(self, sign: Callable[[PodInfo], Hashable]) -> None:
        self._sign = sign

    def sign_pod(self, plugin: Any, info: PodInfo) -> Hashable:
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


class InterPodAffinityAdapter(BatchAdapter):
    """Terms look at other pods. Where nobody has terms, nobody has a say."""

    def sign_pod(self, plugin: Any, info: PodInfo) -> Hashable:
        return None if info.has_affinity else ()

    def applies(self, snapshot: SharedLister) -> bool:
        # somebody may have a word about this pod's labels, which are not in the
        # signature
        return not snapshot.have_pods_with_affinity

    def pre_score(
        self, plugin: PreScorePlugin, state: CycleState, info: PodInfo, s: SharedLister
    ) -> Status | None:
        return SKIP


class SpreadScorer(ClassScorer):
    """The default spreading. A node's class: per constraint the number of matching pods
    on the host, or the name of the domain (None for a missing label); and the names of
    the domains, which matter for their number even where the host has no name.
    """

    counts_cluster = True

    def __init__(
        self, plugin: ScorePlugin, state: CycleState, info: PodInfo, soft: SoftState
    ) -> None:
        super().__init__(plugin, state)
        self._soft = soft
        spec = info.pod["spec"]
        self._required = required_node_affinity(spec)
        self._tolerations: list[Any] = spec.get("tolerations") or []
        self._zonal = [
            i for i, c in enumerate(soft.constraints) if c.topology_key != HOSTNAME
        ]
        self._shares: dict[int, list[tuple[int, str, int]]] = {}
        self._domain_counts: dict[int, dict[str, int]] = {i: {} for i in self._zonal}

    def node_class(self, info: PodInfo, node: NodeInfo) -> Hashable:
        soft, labels = self._soft, node.labels
        domains = tuple(
            [labels.get(soft.constraints[i].topology_key, "") for i in self._zonal]
        )
        if soft.require_all and not has_all_keys(node, soft.constraints):
            return None, domains
        values = tuple(
            [
                (
                    count_pods_match_selector(node.pods, c.selector, soft.namespace)
                    if c.topology_key == HOSTNAME and HOSTNAME in labels
                    else labels.get(c.topology_key)
                )
                for c in soft.constraints
            ]
        )
        return values, domains

    def observe(self, position: int, node: NodeInfo) -> None:
        self._count(self._shares.get(position, ()), -1)
        shares = self._shares[position] = self._shares_of(node)
        self._count(shares, 1)

    def _shares_of(self, node: NodeInfo) -> list[tuple[int, str, int]]:
        """Constraint, domain, and how many of the node's pods count for it."""
        soft = self._soft
        shares = []
        for i in self._zonal:
            constraint = soft.constraints[i]
            if constraint.counts_node(node, self._required, self._tolerations):
                number = count_pods_match_selector(
                    node.pods, constraint.selector, soft.namespace
                )
                if number:
                    domain = node.labels.get(constraint.topology_key, "")
                    shares.append((i, domain, number))
        return shares

    def _count(self, shares: Sequence[tuple[int, str, int]], sign: int) -> None:
        for i, domain, number in shares:
            counts = self._domain_counts[i]
            counts[domain] = counts.get(domain, 0) + sign * number

    def prepare(self, classes: Sequence[Any], feasible: int) -> None:
        soft = self._soft
        sizes = [feasible] * len(soft.constraints)
        for at, i in enumerate(self._zonal):
            domains = {of_class[at] for _, of_class in classes}
            counts = self._domain_counts[i]
            soft.domain_counts[i] = {
                domain: counts.get(domain, 0) for domain in domains
            }
            sizes[i] = len(domains)
        soft.weigh(sizes)

    def score(self, node_class: Any) -> int:
        values, _ = node_class
        if values is None:
            return IGNORED
        soft = self._soft
        total = 0.0
        for i, value in enumerate(values):
            if value is not None:
                count = value
                if not isinstance(value, int):
                    count = soft.domain_counts[i].get(value, 0)
                total += soft.score_for_count(i, count)
        return floor(total + 0.5)


class PodTopologySpreadAdapter(BatchAdapter):
    """Constraints of the pod's or the profile's own look at every node's pods. The
    system's defaults depend on what the pod's owners select.
    """

    def sign_pod(self, plugin: PodTopologySpread, info: PodInfo) -> Hashable:
        pod = info.pod
        if plugin.defaults or pod["spec"].get("topologySpreadConstraints"):
            return None
        selector = plugin.find_selector(pod)
        return () if selector is None else (pod["metadata"]["namespace"], selector)

    def pre_score(
        self, plugin: Any, state: CycleState, info: PodInfo, s: SharedLister
    ) -> Status | None:
        soft = plugin.soft_state(info.pod)
        if soft is None:
            return SKIP
        state.write("PreScore" + plugin.name, soft)
        return None

    def class_scorer(
        self, plugin: ScorePlugin, state: CycleState, info: PodInfo
    ) -> ClassScorer:
        return SpreadScorer(plugin, state, info, state.read("PreScore" + plugin.name))


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

    def sign_pod(self, plugin: Any, info: PodInfo) -> Hashable:
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
