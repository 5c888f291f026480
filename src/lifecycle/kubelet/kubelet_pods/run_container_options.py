"""What the node adds to a container's configuration: its environment, its mounts, its
place among the cgroups, its DNS.

All of this is known only here: the pod's address, where its volumes were mounted, which
services there are.

Upstream: `pkg/kubelet/kubelet_pods.go` (`GenerateRunContainerOptions`), `kubelet.go`
(`GetPodDNS`, `GetPodCgroupParent`), v1.36.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from lifecycle.api.http.wire import Object
from lifecycle.api.pods.dns import DNSConfig, pod_dns
from lifecycle.kubelet.cm.pod_container_manager import PodContainerManager
from lifecycle.kubelet.config.directories import PodDirectories
from lifecycle.kubelet.container.runtime_helper import (
    ContainerEnvironmentError,
    GetObject,
    Mount,
)
from lifecycle.kubelet.kubelet_pods.environment import make_environment_variables
from lifecycle.kubelet.kubelet_pods.hosts_file import (
    ensure_hosts_file,
    host_name_and_domain,
)
from lifecycle.kubelet.kubelet_pods.mounts import (
    MountError,
    make_mounts,
    subpath_of,
    termination_mount,
)
from lifecycle.kubelet.logs.files import POD_LOGS
from lifecycle.kubelet.volumemanager.volume_manager import VolumeManager

Event = Callable[[str, str, str], None]


def subpaths_only(
    pod: Object, container: Object, envs: Mapping[str, str]
) -> tuple[Mount, ...]:
    """No mounts; but a path that cannot be made out is an error here, too. Raises
    MountError.
    """
    for mount in container.get("volumeMounts") or ():
        subpath_of(mount, envs)
    return ()


class PaperOptions:
    """What a node that is not there can still say: a container's own environment, with
    what is missing for it, and the mounts that `mounts` gives. `services()`: those that
    are known.
    """

    def __init__(
        self,
        get: GetObject,
        host_ip: str,
        allocatable: Mapping[str, str],
        mounts: Callable[
            [Object, Object, Mapping[str, str]], tuple[Mount, ...]
        ] = subpaths_only,
        cluster_dns: tuple[str, ...] = (),
        services: Callable[[], Iterable[Object]] = tuple,
    ) -> None:
        self._get = get
        self._services = services
        self._cluster_dns = cluster_dns
        self._mounts = mounts
        self._host_ip = host_ip
        self._allocatable = allocatable

    def sandbox(
        self, pod: Object, warn: Callable[[str], None] = lambda message: None
    ) -> dict[str, Any]:
        """`dns_config`, where there is a cluster DNS. `warn`: told of limits
        exceeded.
        """
        if not self._cluster_dns:
            return {}
        return {"dns_config": _dns_config(pod, DNSConfig(), self._cluster_dns, warn)}

    async def generate(
        self, pod: Object, container: Object, pod_ip: str, event: Event
    ) -> tuple[tuple[tuple[str, str], ...], tuple[Mount, ...]]:
        """Environment and mounts. Raises ContainerEnvironmentError."""
        envs = await make_environment_variables(
            pod,
            container,
            self._get,
            services=self._services(),
            status=addresses(pod, pod_ip, self._host_ip),
            allocatable=self._allocatable,
            event=event,
        )
        try:
            mounts = self._mounts(pod, container, envs)
        except MountError as error:
            raise ContainerEnvironmentError(str(error)) from None
        return tuple(envs.items()), mounts


def _dns_config(
    pod: Object,
    host: DNSConfig,
    cluster_dns: tuple[str, ...],
    warn: Callable[[str], None],
    cluster_domain: str = "cluster.local",
) -> dict[str, tuple[str, ...]]:
    """As CRI wants it."""
    dns = pod_dns(
        pod, host, cluster_dns=cluster_dns, cluster_domain=cluster_domain, warn=warn
    )
    return {
        "servers": dns.servers,
        "searches": dns.searches,
        "options": dns.options,
    }


def addresses(pod: Object, pod_ip: str, host_ip: str) -> Object:
    """The part of a pod's status that its environment may ask for."""
    status: Object = {"hostIP": host_ip, "hostIPs": [{"ip": host_ip}]}
    address = pod_ip or (host_ip if pod["spec"].get("hostNetwork") else "")
    if address:
        status |= {"podIP": address, "podIPs": [{"ip": address}]}
    return status


class ContainerOptions:
    """One per node. `services` lists the cluster's services, `host_dns` the node's own
    resolver configuration.
    """

    def __init__(
        self,
        directories: PodDirectories,
        volumes: VolumeManager,
        cgroups: PodContainerManager | None,
        get: GetObject,
        *,
        services: Callable[[], Iterable[Object]] = tuple,
        host_ip: str = "",
        allocatable: Mapping[str, str] | None = None,
        cluster_dns: tuple[str, ...] = (),
        cluster_domain: str = "cluster.local",
        host_dns: DNSConfig | None = None,
        node_hosts: str | None = None,
        random_name: Callable[[], str] | None = None,
        logs: str = POD_LOGS,
    ) -> None:
        self._directories = directories
        self._volumes = volumes
        self._cgroups = cgroups
        self._get = get
        self._services = services
        self._host_ip = host_ip
        self._allocatable = allocatable or {}
        self._cluster_dns = cluster_dns
        self._cluster_domain = cluster_domain
        self._host_dns = host_dns or DNSConfig()
        self._node_hosts = node_hosts
        self._random_name = random_name
        self._logs = logs

    def sandbox(
        self, pod: Object, warn: Callable[[str], None] = lambda message: None
    ) -> dict[str, Any]:
        """`hostname`, `dns_config`, `cgroup_parent` and `logs` of a pod's sandbox.
        `warn`: told of limits exceeded.
        """
        hostname, domain = host_name_and_domain(pod, self._cluster_domain)
        if pod["spec"].get("setHostnameAsFQDN") and domain:
            hostname = f"{hostname}.{domain}"
        return {
            "hostname": "" if pod["spec"].get("hostNetwork") else hostname,
            "dns_config": _dns_config(
                pod, self._host_dns, self._cluster_dns, warn, self._cluster_domain
            ),
            "cgroup_parent": self._cgroups.cgroup_parent(pod)
            if self._cgroups is not None
            else "",
            "logs": self._logs,
        }

    async def environment(
        self, pod: Object, container: Object, pod_ip: str, event: Event
    ) -> dict[str, str]:
        """The variables, in order. Raises ContainerEnvironmentError."""
        return await make_environment_variables(
            pod,
            container,
            self._get,
            services=self._services(),
            status=addresses(pod, pod_ip, self._host_ip),
            allocatable=self._allocatable,
            event=event,
        )

    def mounts(
        self, pod: Object, container: Object, pod_ip: str, envs: Mapping[str, str]
    ) -> list[Mount]:
        """The mounts, `/etc/hosts` written. Raises MountError, OSError."""
        uid = pod["metadata"]["uid"]
        address = pod_ip or (self._host_ip if pod["spec"].get("hostNetwork") else "")
        mounts = make_mounts(
            pod,
            container,
            self._volumes.volumes_for_pod(uid),
            self._directories,
            self._volumes.mounter,
            envs,
            etc_hosts=bool(address),
        )
        if address:
            ensure_hosts_file(
                self._directories.etc_hosts(uid),
                pod,
                [address],
                cluster_domain=self._cluster_domain,
                node_file=self._node_hosts,
            )
        return [
            *mounts,
            termination_mount(uid, container, self._directories, self._random_name),
        ]

    async def generate(
        self, pod: Object, container: Object, pod_ip: str, event: Event
    ) -> tuple[tuple[tuple[str, str], ...], tuple[Mount, ...]]:
        """Environment and mounts. Raises ContainerEnvironmentError, whose text is what
        `CreateContainerConfigError` says.
        """
        envs = await self.environment(pod, container, pod_ip, event)
        try:
            return tuple(envs.items()), tuple(self.mounts(pod, container, pod_ip, envs))
        except (MountError, OSError) as error:
            raise ContainerEnvironmentError(str(error)) from None
