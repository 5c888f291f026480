"""Pods on a real machine: their cgroups, directories, volumes and mounts, in one hand.

A kubelet with a hollow runtime has none of this, which is why thousands fit in one
process. One that is given a `LocalNode` makes it all, below the directories it is
given: as root in the kernel's own trees, otherwise in ordinary ones, where everything
but the mounting looks the same.

Upstream: `pkg/kubelet/kubelet.go` (`NewMainKubelet`, `SyncPod`, `SyncTerminatedPod`),
`kubelet_pods.go` (`HandlePodCleanups`), v1.36.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from lifecycle.api.clock import Clock
from lifecycle.api.pod_dns import DNSConfig
from lifecycle.api.wire import Object
from lifecycle.client.rest import Client
from lifecycle.kubelet.cgroups.hierarchy import QOSContainerManager
from lifecycle.kubelet.cgroups.manager import CgroupManager, cgroup_version
from lifecycle.kubelet.cgroups.names import parse_cgroup_root
from lifecycle.kubelet.cgroups.pods import PodContainerManager
from lifecycle.kubelet.container_options import ContainerOptions
from lifecycle.kubelet.directories import PodDirectories
from lifecycle.kubelet.logs.files import CONTAINER_LOGS, POD_LOGS, ContainerLogs
from lifecycle.kubelet.token_manager import TokenManager
from lifecycle.kubelet.volumes.empty_dir import Mounter
from lifecycle.kubelet.volumes.manager import MountResult, VolumeManager
from lifecycle.kubelet.volumes.references import ObjectReferences


@dataclass(slots=True)
class LocalNode:
    """A kubelet's settings about its machine. `cgroup_tree` is what is mounted at
    `/sys/fs/cgroup`; None: no cgroups at all.

    `pod_logs_dir`, `container_logs_dir`: where logs go, and where links to them (empty:
    no links).
    """

    root_dir: Path
    cgroup_tree: Path | None = None
    cgroup_driver: str = "systemd"
    cgroup_root: str = "/"
    cgroup_version: int = 0
    cgroups_per_qos: bool = True
    pod_pids_limit: int = -1
    node_pids: int = 0
    mounter: Mounter | None = None
    cluster_dns: tuple[str, ...] = ()
    cluster_domain: str = "cluster.local"
    host_dns: DNSConfig = field(default_factory=DNSConfig)
    node_hosts: str | None = None
    random_name: Callable[[], str] | None = None
    pod_logs_dir: str = POD_LOGS
    container_logs_dir: str = CONTAINER_LOGS


class LocalPods:
    """All that this machine keeps for its pods. `allocatable` is the node's; `services`
    lists the cluster's services.
    """

    def __init__(
        self,
        node: LocalNode,
        client: Client,
        clock: Clock,
        allocatable: Mapping[str, str],
        *,
        host_ip: str = "",
        services: Callable[[], Iterable[Object]] = tuple,
        volumes_attached: Callable[[], list[Object]] = list,
        status: Callable[[Object], Object] = lambda pod: pod.get("status") or {},
        rng: random.Random | None = None,
    ) -> None:
        references = ObjectReferences(client)
        self._allocatable = allocatable
        self._node_pids = node.node_pids
        self.directories = PodDirectories(node.root_dir)
        self.tokens = TokenManager(client, clock)
        self.volumes = VolumeManager(
            self.directories,
            references.get,
            self.tokens.get_service_account_token,
            clock,
            mounter=node.mounter,
            allocatable=allocatable,
            volumes_attached=volumes_attached,
            status=status,
            rng=rng,
        )
        self.cgroups: PodContainerManager | None = None
        self.qos_cgroups: QOSContainerManager | None = None
        if node.cgroup_tree is not None:
            tree = CgroupManager(
                node.cgroup_tree, version=node.cgroup_version, driver=node.cgroup_driver
            )
            root = parse_cgroup_root(node.cgroup_root)
            self.cgroups = PodContainerManager(
                tree,
                root,
                cgroups_per_qos=node.cgroups_per_qos,
                pod_pids_limit=node.pod_pids_limit,
            )
            self.qos_cgroups = (
                QOSContainerManager(tree, root) if node.cgroups_per_qos else None
            )
        self.options = ContainerOptions(
            self.directories,
            self.volumes,
            self.cgroups,
            references.get,
            services=services,
            host_ip=host_ip,
            allocatable=allocatable,
            cluster_dns=node.cluster_dns,
            cluster_domain=node.cluster_domain,
            host_dns=node.host_dns,
            node_hosts=node.node_hosts,
            random_name=node.random_name,
            logs=node.pod_logs_dir,
        )
        self.logs = ContainerLogs(node.pod_logs_dir, node.container_logs_dir)
        self.cgroup_version = (
            0
            if node.cgroup_tree is None
            else (node.cgroup_version or cgroup_version(node.cgroup_tree))
        )

    def start(self) -> None:
        """Make the groups that all pods are in. Raises CgroupError."""
        if self.qos_cgroups is not None:
            self.qos_cgroups.start(self._allocatable, self._node_pids)

    def ensure_cgroups(self, pod: Object, active_pods: Iterable[Object]) -> None:
        """Weigh the classes anew and make the pod's own group. Raises CgroupError."""
        if (
            self.qos_cgroups is not None
            and self.cgroups is not None
            and not self.cgroups.exists(pod)
        ):
            self.qos_cgroups.update_cgroups(active_pods)
            self.cgroups.ensure_exists(pod)

    def make_directories(self, pod: Object) -> None:
        """Raises OSError."""
        self.directories.make_pod_data_dirs(pod["metadata"]["uid"])

    async def mount(self, pod: Object) -> MountResult:
        """Set its volumes up."""
        return await self.volumes.wait_for_attach_and_mount(pod)

    def release(self, pod: Object, active_pods: Iterable[Object]) -> None:
        """Nothing of it runs any more: take its volumes down and remove its group.
        Raises VolumeError, OSError.
        """
        uid = pod["metadata"]["uid"]
        self.volumes.unmount_volumes(uid)
        self.tokens.delete_for_pod(uid)
        if self.cgroups is not None:
            self.cgroups.destroy(pod)
        if self.qos_cgroups is not None:
            self.qos_cgroups.update_cgroups(active_pods)

    def tear_down(self) -> None:
        """The machine is given up, and nothing runs on it any more: unmount everything
        and remove all groups.

        No kubelet does this; whoever lends it a machine for a while does. Raises
        VolumeError, OSError.
        """
        for uid in self.directories.list_pods():
            self.volumes.adopt(uid)
            self.volumes.unmount_volumes(uid)
        if self.qos_cgroups is not None:
            self.qos_cgroups.stop()

    def clean_up(self, known: Collection[str]) -> list[str]:
        """Remove what is left of pods that nobody knows: groups, volumes, directories.
        The uids whose directories went.
        """
        for uid in [uid for uid in self.directories.list_pods() if uid not in known]:
            self.volumes.adopt(uid)
            self.volumes.unmount_volumes(uid)
        removed, _ = self.directories.clean_up_orphaned(known)
        if self.cgroups is not None:
            self.cgroups.destroy_orphans(set(known))
        return removed
