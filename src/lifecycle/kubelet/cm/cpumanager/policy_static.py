"""The *static* policy: a guaranteed container that asks for whole CPUs gets them for
itself.

All others share what is left. Some CPUs are reserved for the system and the kubelet:
they stay in the shared pool and are never given away. What an init container was given
is given to the containers after it, so a pod is not charged twice.

Upstream: `pkg/kubelet/cm/cpumanager/policy_static.go` (`staticPolicy`), v1.36. Left
out: topology hints, options other than `full-pcpus-only` and `strict-cpu-reservation`,
assignments to whole pods.
"""

from __future__ import annotations

from lifecycle.api.http.wire import Object
from lifecycle.api.pods.pod_util import is_restartable_init_container
from lifecycle.api.pods.qos import get_pod_qos
from lifecycle.api.pods.resources import is_pod_level_resources_set
from lifecycle.api.quantity import parse_quantity
from lifecycle.kubelet.cm.cpumanager.cpu_assignment import (
    NotEnoughCPUsError,
    SMTAlignmentError,
    take_by_topology,
)
from lifecycle.kubelet.cm.cpumanager.cpu_set import CPUSet, format_cpu_set
from lifecycle.kubelet.cm.cpumanager.state import CheckpointError, CPUState
from lifecycle.kubelet.cm.cpumanager.topology import CPUTopology

NOBODY: CPUSet = frozenset()


def guaranteed_cpus(pod: Object, container: Object) -> int:
    """How many CPUs of its own the container gets: 0 unless the pod is guaranteed and
    the request a whole number.
    """
    if get_pod_qos(pod) != "Guaranteed":
        return 0
    text = ((container.get("resources") or {}).get("requests") or {}).get("cpu")
    milli = parse_quantity(str(text)).milli() if text is not None else 0
    return milli // 1000 if milli % 1000 == 0 else 0


class StaticPolicy:
    """Gives away CPUs of `topology`. `reserved`: how many to keep for the system, at
    least one; or which.
    """

    name = "static"

    def __init__(
        self,
        topology: CPUTopology,
        reserved: int | CPUSet,
        *,
        full_pcpus_only: bool = False,
        strict_cpu_reservation: bool = False,
    ) -> None:
        self.topology = topology
        self.reserved = (
            take_by_topology(topology, topology.cpus, reserved)
            if isinstance(reserved, int)
            else reserved
        )
        if not self.reserved:
            raise ValueError(
                "the static policy requires systemreserved.cpu + kubereserved.cpu to be"
                " greater than zero"
            )
        self._full_pcpus_only = full_pcpus_only
        self._strict = strict_cpu_reservation
        self._reusable: dict[str, CPUSet] = {}

    def start(self, state: CPUState) -> None:
        """A fresh state gets the whole machine as its pool; one from a file must fit
        this machine. Raises CheckpointError.
        """
        everything = self.topology.cpus - (self.reserved if self._strict else NOBODY)
        if not state.default:
            if state.assignments:
                raise CheckpointError("default cpuset cannot be empty")
            state.set_default(everything)
            return
        if self._strict and (overlap := self.reserved & state.default):
            raise CheckpointError(
                f'some of strictly reserved cpus: "{format_cpu_set(overlap)}" are'
                f' present in defaultCpuSet: "{format_cpu_set(state.default)}"'
            )
        if not self._strict and not self.reserved <= state.default:
            raise CheckpointError(
                f'not all reserved cpus: "{format_cpu_set(self.reserved)}" are present'
                f' in defaultCpuSet: "{format_cpu_set(state.default)}"'
            )
        known = state.default
        for uid, containers in state.assignments.items():
            for name, cpus in containers.items():
                if cpus & state.default:
                    raise CheckpointError(
                        f"pod: {uid}, container: {name} cpuset:"
                        f' "{format_cpu_set(cpus)}" overlaps with default cpuset'
                        f' "{format_cpu_set(state.default)}"'
                    )
                known |= cpus
        if known != everything:
            raise CheckpointError(
                f'current set of available CPUs "{format_cpu_set(everything)}" doesn\'t'
                f' match with CPUs in state "{format_cpu_set(known)}"'
            )

    def available(self, state: CPUState) -> CPUSet:
        """What may still be given away."""
        return state.default - self.reserved

    def allocate(self, state: CPUState, pod: Object, container: Object) -> None:
        """When the pod is admitted. Containers of a pod that names resources for all of
        them together get none. Raises NotEnoughCPUsError: the pod is refused.
        """
        num_cpus = guaranteed_cpus(pod, container)
        uid, name = pod["metadata"]["uid"], container["name"]
        if not num_cpus or state.get(uid, name) is not None:
            return
        if is_pod_level_resources_set(pod["spec"]):
            return
        threads = self.topology.per("core")
        if self._full_pcpus_only and num_cpus % threads:
            raise SMTAlignmentError(
                f"SMT Alignment Error: requested {num_cpus} cpus not multiple cpus per"
                f" core = {threads}"
            )
        reusable = self._reusable.get(uid, NOBODY)
        free = self.available(state)
        if num_cpus > len(free | reusable):
            raise NotEnoughCPUsError(
                f"not enough cpus available to satisfy request: requested={num_cpus},"
                f" available={len(free | reusable)}"
            )
        cpus = take_by_topology(self.topology, reusable, min(num_cpus, len(reusable)))
        cpus |= take_by_topology(self.topology, free - reusable, num_cpus - len(cpus))
        state.set(uid, name, cpus, state.default - cpus)
        init = any(
            c["name"] == name and not is_restartable_init_container(c)
            for c in pod["spec"].get("initContainers") or ()
        )
        self._reusable[uid] = reusable | cpus if init else reusable - cpus

    def remove(self, state: CPUState, uid: str, container: str) -> None:
        """The container is gone: what nobody else of the pod has goes back to the
        pool.
        """
        cpus = state.get(uid, container)
        if cpus is None:
            return
        others = (
            of for name, of in state.assignments[uid].items() if name != container
        )
        still_used = NOBODY.union(*others)
        state.delete(uid, container, state.default | (cpus - still_used))
        if uid not in state.assignments:
            self._reusable.pop(uid, None)


class NonePolicy:
    """The default policy: nobody gets anything, the kernel decides."""

    name = "none"

    def start(self, state: CPUState) -> None:
        """Nothing to prepare."""
        state.store()

    def allocate(self, state: CPUState, pod: Object, container: Object) -> None:
        """Nothing."""

    def remove(self, state: CPUState, uid: str, container: str) -> None:
        """Nothing."""
