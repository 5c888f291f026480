"""Pods on a real machine: their cgroups, directories, volumes and mounts, in one hand.

A `PodHost` that makes it all, below the directories it is given: as root in the
kernel's own trees, otherwise in ordinary ones, where everything but the mounting looks
the same.

Upstream: `pkg/kubelet/kubelet.go` (`NewMainKubelet`, `SyncPod`, `SyncTerminatedPod`),
`kubelet_pods.go` (`HandlePodCleanups`), v1.36.
"""

from __future__ import annotations

import logging
import random
from collections.abc import Callable, Collection, Iterable, Mapping

from lifecycle.api.http.wire import Object
from lifecycle.api.loop.clock import Clock
from lifecycle.client.rest import Client
from lifecycle.kubelet.cm.cgroup_manager import (
    CgroupError,
    CgroupManager,
    cgroup_version,
)
from lifecycle.kubelet.cm.cgroup_names import parse_cgroup_root
from lifecycle.kubelet.cm.pod_container_manager import PodContainerManager
from lifecycle.kubelet.cm.qos_container_manager import QOSContainerManager
from lifecycle.kubelet.cm.resource_config import ResourceConfig
from lifecycle.kubelet.config.directories import PodDirectories
from lifecycle.kubelet.container.runtime_helper import RuntimeHelper
from lifecycle.kubelet.kubelet_configuration import LocalNode
from lifecycle.kubelet.kubelet_pods.run_container_options import ContainerOptions
from lifecycle.kubelet.service_lister import ServiceLister
from lifecycle.kubelet.token.token_manager import TokenManager
from lifecycle.kubelet.userns.userns_manager import UsernsManager
from lifecycle.kubelet.volumemanager.references import ObjectReferences
from lifecycle.kubelet.volumemanager.volume_manager import MountResult, VolumeManager

log = logging.getLogger(__name__)


class LocalPodHost:
    """All that this machine keeps for its pods. `allocatable` and `capacity` are the
    node's: pods together may use what is kept free by evicting them, too.
    `volumes_attached` reads the node's status, `status` a pod's addresses;
    `supports_user_namespaces` knows the runtime's handlers. Raises UsernsError.
    """

    def __init__(
        self,
        node: LocalNode,
        client: Client,
        clock: Clock,
        references: ObjectReferences,
        tokens: TokenManager,
        allocatable: Mapping[str, str],
        *,
        capacity: Mapping[str, str],
        host_ip: str,
        volumes_attached: Callable[[], list[Object]],
        status: Callable[[Object], Object],
        supports_user_namespaces: Callable[[str], bool],
        rng: random.Random,
    ) -> None:
        self._capacity = capacity
        self._node_pids = node.node_pids
        self._services = ServiceLister(client)
        self.tokens = tokens
        self.directories = PodDirectories(node.root_dir)
        self.userns = UsernsManager(self.directories, supports_user_namespaces, rng)
        self.volumes = VolumeManager(
            self.directories,
            references.get,
            tokens.get_service_account_token,
            clock,
            mounter=node.mounter,
            allocatable=allocatable,
            volumes_attached=volumes_attached,
            status=status,
            rng=rng,
        )
        self.cgroups: PodContainerManager | None = None
        self.qos_cgroups: QOSContainerManager | None = None
        self.unified: Mapping[str, str] = {}
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
            if node.cgroups_per_qos:
                self.qos_cgroups = QOSContainerManager(tree, root)
            if (node.cgroup_version or cgroup_version(node.cgroup_tree)) == 2:
                self.unified = {"memory.oom.group": "1"}
        self.runtime_helper: RuntimeHelper = ContainerOptions(
            self.directories,
            self.volumes,
            self.cgroups,
            references.get,
            services=self._services.list,
            host_ip=host_ip,
            allocatable=allocatable,
            cluster_dns=node.cluster_dns,
            cluster_domain=node.cluster_domain,
            host_dns=node.host_dns,
            node_hosts=node.node_hosts,
            random_name=node.random_name,
            logs=node.pod_logs_dir,
        )

    def start(self) -> None:
        if self.qos_cgroups is not None:
            self.qos_cgroups.start(self._capacity, self._node_pids)

    async def wait_for_services(self) -> None:
        await self._services.wait_for_sync()

    async def stop(self) -> None:
        await self._services.stop()

    def ensure_cgroups(
        self, pod: Object, active_pods: Callable[[], Iterable[Object]]
    ) -> None:
        if (
            self.qos_cgroups is not None
            and self.cgroups is not None
            and not self.cgroups.exists(pod)
        ):
            try:
                self.qos_cgroups.update_cgroups(active_pods())
            except CgroupError as error:  # the pod can have its own all the same
                log.debug("failed to update QoS cgroups while syncing pod: %s", error)
            self.cgroups.ensure_exists(pod)

    def pod_cgroup_config(self, pod: Object) -> ResourceConfig | None:
        return None if self.cgroups is None else self.cgroups.pod_cgroup_config(pod)

    def grow_cgroup(self, pod: Object) -> None:
        if self.cgroups is not None:
            self.cgroups.grow(pod)

    def resize_cgroups(self, pod: Object, active_pods: Iterable[Object]) -> None:
        if self.cgroups is not None:
            self.cgroups.update(pod)
        if self.qos_cgroups is not None:
            self.qos_cgroups.update_cgroups(active_pods)

    def make_directories(self, pod: Object) -> None:
        self.directories.make_pod_data_dirs(pod["metadata"]["uid"])

    async def mount(self, pod: Object) -> MountResult:
        return await self.volumes.wait_for_attach_and_mount(pod)

    async def release(self, pod: Object, active_pods: Iterable[Object]) -> None:
        uid = pod["metadata"]["uid"]
        self.volumes.unmount_volumes(uid)
        self.tokens.delete_for_pod(uid)
        if self.cgroups is not None:
            self.cgroups.destroy(pod)
        self.userns.release(uid)
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
        for uid in [uid for uid in self.directories.list_pods() if uid not in known]:
            self.volumes.adopt(uid)
            self.volumes.unmount_volumes(uid)
        self.userns.clean_up_orphaned_pod_userns_allocations(known)
        removed, _ = self.directories.clean_up_orphaned(known)
        if self.cgroups is not None:
            self.cgroups.destroy_orphans(set(known))
        return removed
