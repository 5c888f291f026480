"""A pod's own cgroup: made before anything of it runs, gone when nothing of it is left.

Upstream: `pkg/kubelet/cm/pod_container_manager_linux.go` (`EnsureExists`, `Destroy`,
`GetAllPodsFromCgroups`), v1.36.
"""

from __future__ import annotations

from lifecycle.api.http.wire import Object
from lifecycle.kubelet.cm.cgroup_manager import CgroupError, CgroupManager
from lifecycle.kubelet.cm.cgroup_names import (
    CgroupName,
    is_pod_cgroup,
    parse_systemd,
    pod_cgroup_name,
    qos_parent,
)
from lifecycle.kubelet.cm.resource_config import ResourceConfig, resource_config_for_pod


class PodContainerManager:
    """Pods' groups in one tree. `pod_pids_limit`, `enforce_cpu_limits`, `memory_qos`
    are the kubelet's settings.
    """

    def __init__(
        self,
        manager: CgroupManager,
        root: CgroupName = (),
        *,
        cgroups_per_qos: bool = True,
        pod_pids_limit: int = -1,
        enforce_cpu_limits: bool = True,
        memory_qos: bool = False,
    ) -> None:
        self._manager = manager
        self._root = root
        self._per_qos = cgroups_per_qos
        self._pids = pod_pids_limit
        self._enforce_cpu_limits = enforce_cpu_limits
        self._memory_qos = memory_qos

    def pod_container_name(self, pod: Object) -> CgroupName:
        """The pod's group; without `cgroups_per_qos` the root, which is everybody's."""
        return pod_cgroup_name(self._root, pod, cgroups_per_qos=self._per_qos)

    def cgroup_parent(self, pod: Object) -> str:
        """What the runtime is told to put the containers under."""
        return self._manager.name(self.pod_container_name(pod))

    def config(self, pod: Object) -> ResourceConfig:
        """The limits it is to have."""
        return resource_config_for_pod(
            pod,
            enforce_cpu_limits=self._enforce_cpu_limits,
            pod_pids_limit=self._pids,
            memory_qos=self._memory_qos,
        )

    def pod_cgroup_config(self, pod: Object) -> ResourceConfig | None:
        """The limits that its group has, as the kernel says; None if there is no such
        group. Of version 1 memory has a limit even if nobody has set one. Upstream:
        `GetPodCgroupConfig`.
        """
        name = self.pod_container_name(pod)
        if not self._per_qos or not self._manager.exists(name):
            return None
        try:
            return self._manager.config(name)
        except (CgroupError, FileNotFoundError):  # it goes away just now
            return None

    def exists(self, pod: Object) -> bool:
        """Whether it is there."""
        return self._manager.exists(self.pod_container_name(pod))

    def ensure_exists(self, pod: Object) -> None:
        """Make it if need be, with its limits. Raises CgroupError."""
        if self._per_qos and not self.exists(pod):
            self._manager.create(self.pod_container_name(pod), self.config(pod))

    def update(self, pod: Object) -> None:
        """Make its limits what the pod says now. Raises CgroupError. Upstream:
        `SetPodCgroupConfig`.
        """
        if self._per_qos and self.exists(pod):
            self._manager.update(self.pod_container_name(pod), self.config(pod))

    def grow(self, pod: Object) -> None:
        """The same, where that is more than it has now. Raises CgroupError."""
        now, then = self.pod_cgroup_config(pod), self.config(pod)
        if now is None:
            return
        more = ResourceConfig(
            cpu_quota=then.cpu_quota
            if _is_more(now.cpu_quota, then.cpu_quota)
            else None,
            memory=then.memory if _is_more(now.memory, then.memory) else None,
        )
        self._manager.update(self.pod_container_name(pod), more)

    def destroy(self, pod: Object) -> None:
        """Kill what is left in it and remove it. Raises CgroupError."""
        if self._per_qos:
            self._destroy(self.pod_container_name(pod))

    def _destroy(self, name: CgroupName) -> None:
        self._manager.kill(name)
        self._manager.destroy(name)

    def all_pods(self) -> dict[str, CgroupName]:
        """Groups of pods by uid, known or not: the kubelet's memory after a restart."""
        pods: dict[str, CgroupName] = {}
        for qos in ("Guaranteed", "Burstable", "BestEffort"):
            parent = qos_parent(self._root, qos)
            for child in self._manager.children(parent):
                name = (
                    parse_systemd(child)
                    if self._manager.driver == "systemd"
                    else (*parent, child)
                )
                uid = is_pod_cgroup(
                    tuple(part.replace("-", "_") for part in self._root), name
                ) or is_pod_cgroup(self._root, name)
                if uid:
                    pods[uid] = (*parent, f"pod{uid}")
        return pods

    def destroy_orphans(self, known: set[str]) -> list[str]:
        """Remove the groups of pods that nobody knows any more; their uids. Upstream:
        `cleanupOrphanedPodCgroups`.
        """
        gone = [
            (uid, name) for uid, name in self.all_pods().items() if uid not in known
        ]
        for _, name in gone:
            self._destroy(name)
        return sorted(uid for uid, _ in gone)


def _is_more(now: int | None, then: int | None) -> bool:
    """Whether a limit is raised; none, or a negative one, is the highest."""
    return then is not None and now is not None and 0 <= now < then
