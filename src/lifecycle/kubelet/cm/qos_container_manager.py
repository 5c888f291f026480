"""The groups that are there before any pod: `kubepods`, and in it one for each class
that can be outbid.

`kubepods` holds all pods together to what is allocatable: the node's capacity less what
is reserved for the system and for Kubernetes itself (less the eviction threshold for
the scheduler, but not here: eviction is to come first). Guaranteed pods sit directly in
it. Burstable pods share a group whose weight is the sum of their requests; pods that
asked for nothing share one with the least weight there is.

Upstream: `pkg/kubelet/cm/qos_container_manager_linux.go` (`Start`, `UpdateCgroups`,
`setCPUCgroupConfig`), `node_container_manager_linux.go`
(`createNodeAllocatableCgroups`, `getCgroupConfig`, `GetNodeAllocatableReservation`),
v1.36.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping

from lifecycle.api.http.wire import Object
from lifecycle.api.pods.qos import get_pod_qos
from lifecycle.api.quantity import parse_quantity
from lifecycle.kubelet.cm.cgroup_manager import CgroupError, CgroupManager
from lifecycle.kubelet.cm.cgroup_names import CgroupName, qos_parent
from lifecycle.kubelet.cm.resource_config import (
    MIN_SHARES,
    ResourceConfig,
    milli_cpu_to_shares,
    total_cpu_request,
)

KILL_ATTEMPTS = 50
Quantities = Mapping[str, str]


def node_cgroup_config(allocatable: Quantities, pids: int = 0) -> ResourceConfig:
    """The limits of `kubepods`. `pids`: how many processes the node can have, 0 if
    unknown. Upstream: `getCgroupConfig`.
    """
    cpu, memory = allocatable.get("cpu"), allocatable.get("memory")
    return ResourceConfig(
        cpu_shares=milli_cpu_to_shares(parse_quantity(str(cpu)).milli())
        if cpu is not None
        else None,
        memory=parse_quantity(str(memory)).value() if memory is not None else None,
        pids_limit=pids or None,
    )


class QOSContainerManager:
    """`kubepods` and its classes in one tree."""

    def __init__(self, manager: CgroupManager, root: CgroupName = ()) -> None:
        self._manager = manager
        self._root = root

    def start(self, allocatable: Quantities, pids: int = 0) -> None:
        """Make the groups. `allocatable`: capacity less what is reserved, without
        eviction thresholds. Raises CgroupError.
        """
        self._manager.create(
            qos_parent(self._root, "Guaranteed"), node_cgroup_config(allocatable, pids)
        )
        for qos in ("Burstable", "BestEffort"):
            self._manager.create(
                qos_parent(self._root, qos), ResourceConfig(cpu_shares=MIN_SHARES)
            )

    def stop(self) -> None:
        """Remove them all, with what is left below, and kill what still runs there.
        Raises CgroupError if it will not die.
        """
        root = qos_parent(self._root, "Guaranteed")
        for attempt in range(KILL_ATTEMPTS):
            self._manager.kill(root)
            try:
                self._manager.destroy(root)
                return
            except CgroupError:
                if attempt == KILL_ATTEMPTS - 1:
                    raise
                time.sleep(0.02)  # the kernel buries what was killed in its own time

    def update_cgroups(self, active_pods: Iterable[Object]) -> None:
        """Weigh the burstable pods anew. Called whenever a pod came or went. Raises
        CgroupError.
        """
        burstable = [pod for pod in active_pods if get_pod_qos(pod) == "Burstable"]
        shares = milli_cpu_to_shares(total_cpu_request(burstable))
        self._manager.update(
            qos_parent(self._root, "Burstable"), ResourceConfig(cpu_shares=shares)
        )
        self._manager.update(
            qos_parent(self._root, "BestEffort"), ResourceConfig(cpu_shares=MIN_SHARES)
        )
