"""What a pod was promised of this node, which is not always what it wishes for.

A pod is admitted with what its spec says, and that is set down. When somebody resizes
it, the spec says something else from then on; but the node goes by what it has set
down, until there is room for the new wish. A wish that is never granted here is
*infeasible*; one for which others would have to go first is *deferred*, and asked about
again whenever there may be more room. What is more than the whole node, the API server
has refused already.

Upstream: `pkg/kubelet/allocation/allocation_manager.go` (`manager`), v1.36. Left out:
the checkpoint file (a kubelet that starts again promises what the spec says then), the
memory manager.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from lifecycle.api.http.wire import Object
from lifecycle.api.pods.qos import get_pod_qos
from lifecycle.api.pods.resources import pod_requests
from lifecycle.api.quantity import Quantity, parse_quantity
from lifecycle.kubelet.allocation.resize_messages import (
    pod_resize_pending_message,
    pod_resize_started_message,
)
from lifecycle.kubelet.container.ref import PodEvent
from lifecycle.kubelet.lifecycle.interfaces import (
    AdmitHandler,
    PodAdmitAttributes,
    PodAdmitResult,
    can_admit_pod,
)
from lifecycle.kubelet.status.resize_conditions import (
    DEFERRED,
    INFEASIBLE,
    PodResizeConditions,
)

Allocation = dict[str, Object]
"""Resources by container; under the empty name those of the pod as a whole."""

_ZERO = parse_quantity("0")


def allocation_from_pod(pod: Object) -> Allocation:
    """What its spec asks for; empty if it asks for nothing."""
    return {name: resources for name, resources in _resources(pod["spec"]) if resources}


def _resources(spec: Object) -> Iterator[tuple[str, Object]]:
    yield "", spec.get("resources") or {}
    for key in ("initContainers", "containers"):
        for container in spec.get(key) or ():
            yield container["name"], container.get("resources") or {}


def update_pod_from_allocation(pod: Object, allocation: Allocation) -> Object:
    """The pod as it was promised; the very same object if it wishes for nothing
    else.
    """
    spec = pod["spec"]
    if all(
        allocation.get(name, {}) == resources for name, resources in _resources(spec)
    ):
        return pod
    promised = {**spec}
    if "" in allocation:
        promised["resources"] = allocation[""]
    else:
        promised.pop("resources", None)
    for key in ("initContainers", "containers"):
        if spec.get(key):
            promised[key] = [
                {**container, "resources": allocation.get(container["name"], {})}
                for container in spec[key]
            ]
    return {**pod, "spec": promised}


class AllocationManager:
    """One per node.

    `active_pods()`: those that count; `pod_by_uid`: one of them, as its source knows it
    now, None if it is gone. `node()`: the node as it is known. `conditions`: what pods'
    statuses say of their resizes. `static_cpus`: whether the CPU manager gives CPUs
    away for good.
    """

    def __init__(
        self,
        admit_handlers: Sequence[AdmitHandler],
        active_pods: Callable[[], Iterable[Object]],
        pod_by_uid: Callable[[str], Object | None],
        node: Callable[[], Object],
        allocatable: Mapping[str, str],
        conditions: PodResizeConditions,
        event: PodEvent,
        *,
        static_cpus: bool = False,
    ) -> None:
        self._admit_handlers = admit_handlers
        self._active_pods = active_pods
        self._pod_by_uid = pod_by_uid
        self._node = node
        self._allocatable = allocatable
        self._conditions = conditions
        self._event = event
        self._static_cpus = static_cpus
        self._allocated: dict[str, Allocation] = {}
        self._pending: list[str] = []

    # -- what was promised -------------------------------------------------------------

    def update_pod_from_allocation(self, pod: Object) -> Object:
        """See the function; a pod that nothing was set down for is as it is."""
        allocation = self._allocated.get(pod["metadata"]["uid"])
        return (
            pod if allocation is None else update_pod_from_allocation(pod, allocation)
        )

    def add_pod(self, pod: Object) -> PodAdmitResult:
        """Whether it may run here; then it is promised what it asks for."""
        uid = pod["metadata"]["uid"]
        promised = self.update_pod_from_allocation(pod)
        attributes = PodAdmitAttributes(
            promised, self._others(uid), self._node(), self._allocatable
        )
        result = can_admit_pod(self._admit_handlers, attributes)
        if result.admit:
            self._set(promised)
        return result

    def remove_pod(self, uid: str) -> None:
        """Forget it."""
        self._allocated.pop(uid, None)
        self._conditions.remove(uid)

    def _set(self, pod: Object) -> None:
        allocation = allocation_from_pod(pod)
        if allocation:  # one that asks for nothing has nothing that could change
            self._allocated[pod["metadata"]["uid"]] = allocation

    def _others(self, uid: str) -> list[Object]:
        promised = self._allocated
        return [
            update_pod_from_allocation(pod, promised[other])
            if other in promised
            else pod
            for pod in self._active_pods()
            if (other := pod["metadata"]["uid"]) != uid
        ]

    # -- what is wished for ------------------------------------------------------------

    def push_pending_resize(self, pod: Object) -> None:
        """A pod has changed: if it wishes for something else than it was promised, that
        is to be looked at.
        """
        uid = pod["metadata"]["uid"]
        if self.update_pod_from_allocation(pod) is pod:
            self._conditions.clear_pending(uid)
        elif uid not in self._pending:
            self._pending.append(uid)

    def has_pending_resizes(self) -> bool:
        """Whether a pod waits for room."""
        return bool(self._pending)

    def retry_pending_resizes(self) -> list[str]:
        """Grant what there is room for. The uids of pods of which there is something
        new to say or to do.
        """
        pods = [
            pod for uid in self._pending if (pod := self._pod_by_uid(uid)) is not None
        ]
        pods.sort(key=self._order)
        self._pending, changed = [], []
        for pod in pods:
            uid = pod["metadata"]["uid"]
            before = self._conditions.of(uid)
            granted = self._handle_pod_resources_resize(pod)
            if self._conditions.is_deferred(uid):
                self._pending.append(uid)
            if granted or self._conditions.of(uid) != before:
                changed.append(uid)
        return changed

    def _order(self, pod: Object) -> tuple[bool, int, bool, bool, str]:
        """First who wants no more than it has, then by priority and by quality of
        service, then who waits longest; who has not waited yet comes last. Upstream:
        `sortPendingResizes`.
        """
        promised = pod_requests(self.update_pod_from_allocation(pod))
        wished = pod_requests(pod)
        more = any(
            _amount(wished, name) > _amount(promised, name)
            for name in ("cpu", "memory")
        )
        priority = int(pod["spec"].get("priority") or 0)
        since = self._conditions.pending_since(pod)
        return more, -priority, get_pod_qos(pod) != "Guaranteed", not since, since

    def _handle_pod_resources_resize(self, pod: Object) -> bool:
        """Whether more or less was promised just now."""
        uid = pod["metadata"]["uid"]
        generation = int(pod["metadata"].get("generation") or 0)
        if self.update_pod_from_allocation(pod) is pod:
            self._conditions.clear_pending(uid)
            return False
        reason, why, message = self.can_resize_pod(pod)
        if not reason:
            self._set(pod)
            self._conditions.clear_pending(uid)
            self._conditions.set_in_progress(uid, generation)
            text = pod_resize_started_message(pod, generation)
            self._event(pod, "Normal", "ResizeStarted", text, "")
            return True
        if self._conditions.set_pending(uid, generation, reason, message):
            text = pod_resize_pending_message(pod, why, message, generation)
            self._event(pod, "Warning", f"Resize{reason}", text, "")
        return False

    def can_resize_pod(self, pod: Object) -> tuple[str, str, str]:
        """Reason of a no (`Infeasible` for ever, `Deferred` for now), what events call
        it, and the message. Three times nothing: yes.
        """
        if self._static_cpus and get_pod_qos(pod) == "Guaranteed":
            promised = self.update_pod_from_allocation(pod)
            if _cpus(pod) != _cpus(promised):
                return (
                    INFEASIBLE,
                    INFEASIBLE,
                    (
                        "Resize is infeasible for Guaranteed Pods alongside CPU Manager"
                        ' policy "static"'
                    ),
                )
        attributes = PodAdmitAttributes(
            pod,
            self._others(pod["metadata"]["uid"]),
            self._node(),
            self._allocatable,
        )
        result = can_admit_pod(self._admit_handlers, attributes)
        if result.admit:
            return "", "", ""
        return DEFERRED, result.reason, result.message


def _cpus(pod: Object) -> list[Quantity]:
    """What each container of a guaranteed pod asks for."""
    return [
        parse_quantity(str(resources.get("limits", {}).get("cpu", "0")))
        for _, resources in _resources(pod["spec"])
    ]


def _amount(requests: Mapping[str, Quantity], name: str) -> int:
    """In thousandths."""
    return requests.get(name, _ZERO).milli()
