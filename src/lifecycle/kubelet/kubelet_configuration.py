"""The settings of a kubelet, and of the machine it runs on.

Upstream: `pkg/kubelet/apis/config/types.go` (`KubeletConfiguration`),
`cmd/kubelet/app/options/options.go` (`KubeletFlags`), v1.36.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from lifecycle.api.http.wire import Object
from lifecycle.api.pods.dns import DNSConfig
from lifecycle.kubelet.cm.node_container_manager import node_allocatable
from lifecycle.kubelet.eviction.thresholds import (
    Threshold,
    hard_eviction_reservation,
    parse_thresholds,
)
from lifecycle.kubelet.images.image_gc_manager import ImageGCPolicy
from lifecycle.kubelet.logs.files import CONTAINER_LOGS, POD_LOGS
from lifecycle.kubelet.nodestatus.machine_info import PAPER_CAPACITY
from lifecycle.kubelet.server.listener import Listen
from lifecycle.kubelet.volume.empty_dir import Mounter


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

    @property
    def log_dir(self) -> Path:
        """The machine's `/var/log`, which the kubelet shows at `/logs`."""
        return Path(self.pod_logs_dir).parent


@dataclass(slots=True)
class KubeletConfiguration:
    """What is to be known of a node before its kubelet starts.

    `pod_cidr`: the node's range of pod addresses; empty: the one that the node object
    gets from the controllers. `local`: the machine whose disk and cgroups the pods get;
    without it nothing of them is there but what they say; then `cluster_dns` is where
    pods ask for names. `sync_frequency`: seconds
    after which an idle pod is looked at again (upstream: 60), 0 for never.
    `static_pod_path`, `static_pod_url`: where manifests are that need no API server.
    `cpu_manager_state_file`: what the CPU manager remembers. `listen`: the socket of
    its own API, which otherwise is only to be had in this process. `kube_reserved`: of
    the capacity, what pods do not get. `record_events=False` saves two thirds of the
    requests where thousands of pods are started for the numbers only.
    """

    node_name: str
    node_ip: str
    pod_cidr: str = ""
    labels: Mapping[str, str] = field(default_factory=dict)
    taints: Sequence[Object] = ()
    capacity: Mapping[str, str] = field(default_factory=lambda: PAPER_CAPACITY)
    provider_id: str = ""
    machine_info: Mapping[str, str] | None = None
    local: LocalNode | None = None
    cluster_dns: tuple[str, ...] = ()
    listen: Listen | None = None
    sync_frequency: float = 0.0
    static_pod_path: Path | None = None
    static_pod_url: str = ""
    allowed_unsafe_sysctls: Sequence[str] = ()
    cpu_manager_state_file: Path | None = None
    eviction_hard: Sequence[Threshold] = field(default_factory=parse_thresholds)
    image_gc: ImageGCPolicy = field(default_factory=ImageGCPolicy)
    kube_reserved: Mapping[str, str] = field(default_factory=dict)
    record_events: bool = True
    allocatable: Mapping[str, str] = field(init=False)
    """What pods may have of the capacity."""

    def __post_init__(self) -> None:
        kept = hard_eviction_reservation(self.eviction_hard, self.capacity)
        self.allocatable = node_allocatable(
            self.capacity, kube_reserved=self.kube_reserved, eviction_hard=kept
        )
