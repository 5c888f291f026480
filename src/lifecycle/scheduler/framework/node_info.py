"""A node and its pods, summed up.

Filters and scores must not walk over all pods of a node; the sums they need are kept
here and change with each pod that comes or goes. `generation` grows with every change,
over all nodes: a snapshot copies only nodes whose generation is newer than its own.

Upstream: `pkg/scheduler/framework/types.go` (`NodeInfo`, `PodInfo`, `HostPortInfo`,
`AffinityTerm`), v1.36.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import chain, count

from lifecycle.api.http.wire import Object
from lifecycle.api.labels import NOTHING, Selector, selector_from_label_selector
from lifecycle.api.pods.host_ports import HostPort, host_ports
from lifecycle.api.pods.taints import Tolerations
from lifecycle.scheduler.framework.kinds_of_pods import KindsOfPods
from lifecycle.scheduler.framework.resources import (
    Amounts,
    Resource,
    amounts,
    non_zero_requests,
    pod_requests,
)

_generations = count(1)


class AffinityTerm:
    """One (anti-)affinity term of a pod, its selectors parsed. `weight` is 0 for
    required terms.
    """

    __slots__ = (
        "namespace_selector",
        "namespaces",
        "selector",
        "topology_key",
        "weight",
    )

    def __init__(self, pod: Object, term: Object, weight: int = 0) -> None:
        namespaces = set(term.get("namespaces") or ())
        if not namespaces and term.get("namespaceSelector") is None:
            namespaces = {pod["metadata"]["namespace"]}
        self.namespaces = namespaces
        selector = term.get("namespaceSelector")
        self.namespace_selector = (
            NOTHING if selector is None else selector_from_label_selector(selector)
        )
        self.selector: Selector = selector_from_label_selector(
            term.get("labelSelector")
        )
        self.topology_key: str = term["topologyKey"]
        self.weight = weight

    def matches(
        self, pod: Object, namespace_labels: dict[str, str] | None = None
    ) -> bool:
        """Whether the term speaks of this pod."""
        metadata = pod["metadata"]
        if metadata["namespace"] in self.namespaces or (
            not self.namespace_selector.nothing
            and self.namespace_selector.matches(namespace_labels or {})
        ):
            return self.selector.matches(metadata.get("labels") or {})
        return False


_NO_TERMS: tuple[AffinityTerm, ...] = ()
FEW_TERMS = 8
"""So many are matched one by one before an index pays."""


class TermIndex:
    """Many terms, sorted by a label that they insist on: of two thousand, most speak of
    some other application.
    """

    __slots__ = ("_by_label", "_others")

    def __init__(self, terms: Iterable[AffinityTerm]) -> None:
        self._by_label: dict[tuple[str, str], list[AffinityTerm]] = {}
        self._others: list[AffinityTerm] = []
        for term in terms:
            label = term.selector.label
            if label is None:
                self._others.append(term)
            else:
                self._by_label.setdefault(label, []).append(term)

    def about(self, pod: Object) -> list[AffinityTerm]:
        """Those that may match the pod."""
        labels: dict[str, str] = pod["metadata"].get("labels") or {}
        found = [self._by_label.get(label, ()) for label in labels.items()]
        return [*self._others, *chain.from_iterable(found)]


class PodInfo:
    """A pod with what the scheduler derives from it, computed once. `before` is what is
    known of an older version of it: terms that are the same are not read again.
    """

    __slots__ = (
        "_required_anti_affinity_index",
        "_tolerations",
        "key",
        "non_zero",
        "pod",
        "preferred_affinity_terms",
        "preferred_anti_affinity_terms",
        "priority",
        "requests",
        "required_affinity_terms",
        "required_anti_affinity_terms",
        "uid",
    )

    def __init__(self, pod: Object, before: PodInfo | None = None) -> None:
        metadata = pod["metadata"]
        self.key = f"{metadata['namespace']}/{metadata['name']}"
        self.uid: str = metadata.get("uid", self.key)
        self.pod = pod
        spec = pod["spec"]
        self.priority = int(spec.get("priority") or 0)
        self.requests: Amounts = pod_requests(pod)
        self.non_zero: Amounts = non_zero_requests(pod, self.requests)
        self.required_affinity_terms = self.preferred_affinity_terms = _NO_TERMS
        self.required_anti_affinity_terms = self.preferred_anti_affinity_terms = (
            _NO_TERMS
        )
        self._required_anti_affinity_index: TermIndex | None = None
        self._tolerations: Tolerations | None = None
        affinity = spec.get("affinity")
        if before is not None and affinity == before.pod["spec"].get("affinity"):
            self.required_affinity_terms = before.required_affinity_terms
            self.preferred_affinity_terms = before.preferred_affinity_terms
            self.required_anti_affinity_terms = before.required_anti_affinity_terms
            self.preferred_anti_affinity_terms = before.preferred_anti_affinity_terms
            self._required_anti_affinity_index = before._required_anti_affinity_index
        elif affinity:
            self.required_affinity_terms, self.preferred_affinity_terms = _terms(
                pod, affinity.get("podAffinity")
            )
            anti = affinity.get("podAntiAffinity")
            self.required_anti_affinity_terms, self.preferred_anti_affinity_terms = (
                _terms(pod, anti)
            )

    @property
    def tolerations(self) -> Tolerations:
        """What the pod tolerates. Few pods wait, and only those are asked."""
        if self._tolerations is None:
            said = self.pod["spec"].get("tolerations") or ()
            self._tolerations = Tolerations(said)
        return self._tolerations

    def required_anti_affinity_about(self, pod: Object) -> Sequence[AffinityTerm]:
        """Of the required anti-affinity terms those that may match a pod."""
        if len(self.required_anti_affinity_terms) <= FEW_TERMS:
            return self.required_anti_affinity_terms
        if self._required_anti_affinity_index is None:
            index = TermIndex(self.required_anti_affinity_terms)
            self._required_anti_affinity_index = index
        return self._required_anti_affinity_index.about(pod)

    @property
    def has_affinity(self) -> bool:
        """Whether the pod has any inter-pod term."""
        return bool(
            self.required_affinity_terms
            or self.preferred_affinity_terms
            or self.required_anti_affinity_terms
            or self.preferred_anti_affinity_terms
        )


def had_a_place(pod: Object) -> bool:
    """Whether a pod that is gone took up room: on its node, or on one that was kept for
    it.
    """
    return bool(
        pod["spec"].get("nodeName")
        or (pod.get("status") or {}).get("nominatedNodeName")
    )


def _terms(
    pod: Object, affinity: Object | None
) -> tuple[tuple[AffinityTerm, ...], tuple[AffinityTerm, ...]]:
    if not affinity:
        return _NO_TERMS, _NO_TERMS
    required = affinity.get("requiredDuringSchedulingIgnoredDuringExecution") or ()
    preferred = affinity.get("preferredDuringSchedulingIgnoredDuringExecution") or ()
    return (
        tuple(AffinityTerm(pod, term) for term in required),
        tuple(
            AffinityTerm(pod, weighted["podAffinityTerm"], weighted["weight"])
            for weighted in preferred
        ),
    )


class NodeInfo:
    """A node, its pods and their sums. Upstream: `framework.NodeInfo`."""

    __slots__ = (
        "allocatable",
        "generation",
        "images",
        "kinds",
        "labels",
        "name",
        "node",
        "non_zero_cpu",
        "non_zero_memory",
        "pods",
        "pods_with_affinity",
        "pods_with_required_anti_affinity",
        "requested",
        "taints",
        "used_ports",
    )

    def __init__(self, node: Object | None = None, name: str = "") -> None:
        self.name = name
        self.node: Object | None = None
        self.labels: dict[str, str] = {}
        self.taints: tuple[Object, ...] = ()
        self.pods: dict[str, PodInfo] = {}
        self.kinds = KindsOfPods()
        self.pods_with_affinity: dict[str, PodInfo] = {}
        self.pods_with_required_anti_affinity: dict[str, PodInfo] = {}
        self.requested = Resource()
        self.non_zero_cpu = 0
        self.non_zero_memory = 0
        self.allocatable = Resource()
        self.used_ports: dict[HostPort, int] = {}
        self.images: dict[str, int] = {}
        self.generation = next(_generations)
        if node is not None:
            self.set_node(node)

    def set_node(self, node: Object) -> None:
        """The node object changed (or came)."""
        self.node = node
        self.name = node["metadata"]["name"]
        self.labels = node["metadata"].get("labels") or {}
        self.taints = tuple(node.get("spec", {}).get("taints") or ())
        status = node.get("status") or {}
        self.allocatable = Resource.of(amounts(status.get("allocatable")))
        self.images = {
            name: image.get("sizeBytes", 0)
            for image in status.get("images") or ()
            for name in image.get("names") or ()
        }
        self.generation = next(_generations)

    def remove_node(self) -> None:
        """The node object is gone; its pods may still be there."""
        self.node = None
        self.generation = next(_generations)

    def without_pods(self) -> NodeInfo:
        """The node alone, for whoever keeps it longer than its pods live."""
        bare = NodeInfo(name=self.name)
        bare.node, bare.labels, bare.taints = self.node, self.labels, self.taints
        bare.allocatable, bare.images = self.allocatable, self.images
        return bare

    def add_pod(self, info: PodInfo) -> None:
        """A pod runs here, or is assumed to."""
        self._count(info, 1)
        key = info.key
        self.pods[key] = info
        if info.has_affinity:
            self.pods_with_affinity[key] = info
            if info.required_anti_affinity_terms:
                self.pods_with_required_anti_affinity[key] = info

    def remove_pod(self, key: str) -> PodInfo | None:
        """The pod is gone; the info it had, or None."""
        info = self.pods.pop(key, None)
        if info is not None:
            self.pods_with_affinity.pop(key, None)
            self.pods_with_required_anti_affinity.pop(key, None)
            self._count(info, -1)
        return info

    def _count(self, info: PodInfo, sign: int) -> None:
        self.kinds.count(info.pod, sign)
        self.requested.add(info.requests, sign)
        self.non_zero_cpu += sign * info.non_zero.get("cpu", 0)
        self.non_zero_memory += sign * info.non_zero.get("memory", 0)
        for port in host_ports(info.pod):
            left = self.used_ports.get(port, 0) + sign
            if left > 0:
                self.used_ports[port] = left
            else:
                self.used_ports.pop(port, None)
        self.generation = next(_generations)

    def clone(self) -> NodeInfo:
        """A copy whose sums and pods change on their own; pods and the node object are
        shared.
        """
        copy = NodeInfo.__new__(NodeInfo)
        copy.name = self.name
        copy.node = self.node
        copy.labels = self.labels
        copy.taints = self.taints
        copy.allocatable = self.allocatable
        copy.images = self.images
        copy.pods = dict(self.pods)
        copy.kinds = self.kinds.copy()
        copy.pods_with_affinity = (
            dict(self.pods_with_affinity) if self.pods_with_affinity else {}
        )
        copy.pods_with_required_anti_affinity = (
            dict(self.pods_with_required_anti_affinity)
            if self.pods_with_required_anti_affinity
            else {}
        )
        copy.requested = self.requested.clone()
        copy.non_zero_cpu = self.non_zero_cpu
        copy.non_zero_memory = self.non_zero_memory
        copy.used_ports = dict(self.used_ports) if self.used_ports else {}
        copy.generation = self.generation
        return copy
