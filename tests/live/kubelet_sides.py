"""Two nodes for the same pods: the real kubelet and ours, each over a containerd of its own and for an API server of its own.

Both have the same name, address, settings and images, and each a private folder; nothing of either is left afterwards.
"""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import signal
import subprocess
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager, suppress
from pathlib import Path
from typing import Any

from lifecycle.api.http.wire import UserInfo
from lifecycle.api.pods.dns import DNSConfig
from lifecycle.apiserver.audit.options import AuditOptions
from lifecycle.client.rest import Client
from lifecycle.cluster.cluster import Cluster
from lifecycle.cluster.cluster_config import ClusterConfig
from lifecycle.cluster.linux.machine_facts import machine_capacity
from lifecycle.cri.apis.runtime import Runtime
from lifecycle.kubelet.eviction.thresholds import parse_thresholds
from lifecycle.kubelet.kubelet import node_user
from lifecycle.kubelet.kubelet_configuration import KubeletConfiguration, LocalNode
from lifecycle.kubelet.local_pod_host import LocalPodHost
from lifecycle.kubelet.main_kubelet import Dependencies, new_main_kubelet
from lifecycle.kubelet.server.listener import Listen
from lifecycle.kubelet.volume.empty_dir import LinuxMounter
from tests.cri.private_containerd import private_containerd
from tests.live.real_programs import Program, identity, kube_bin
from tests.loopback import free_port

NODE = "lifecycle-worker"
ADDRESS = "198.51.100.27"
"""The node's: a kubelet refuses a loopback address, and one that no interface has."""
DNS = "10.96.0.10"
EVICTION_HARD = {"memory.available": "100Mi"}
POLICY = """
apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
rules:
- level: RequestResponse
  userGroups: [system:nodes]
  verbs: [create, update, patch, delete]
  resources:
  - resources: [pods, pods/status, nodes, nodes/status]
- level: Metadata
  userGroups: [system:nodes]
  verbs: [create, update, patch, delete]
"""
TUNABLES = (
    "vm/overcommit_memory",
    "vm/panic_on_oom",
    "kernel/panic",
    "kernel/panic_on_oops",
    "kernel/keys/root_maxkeys",
    "kernel/keys/root_maxbytes",
)
"""What a kubelet sets in the machine's kernel (`setupKernelTunables`)."""
OUTSIDE = (Path("/var/lib/kubelet"), Path("/var/log/containers"), Path("/usr/libexec/kubernetes"))
"""What the real kubelet makes outside of its folder."""


@contextmanager
def machine() -> Iterator[None]:
    """The machine with the nodes' address, and as it was before when the block ends."""
    values = {name: Path("/proc/sys", name).read_text() for name in TUNABLES if Path("/proc/sys", name).exists()}
    new = [path for path in OUTSIDE if not path.exists()]
    address = ["ip", "address", "{}", f"{ADDRESS}/32", "dev", "lo"]
    subprocess.run([word.format("add") for word in address], check=True, capture_output=True)
    try:
        yield
    finally:
        subprocess.run([word.format("del") for word in address], check=False, capture_output=True)
        for name, value in values.items():
            with suppress(OSError):
                Path("/proc/sys", name).write_text(value)
        for path in new:
            shutil.rmtree(path, ignore_errors=True)


class Side:
    """One node with its API server. `admin` is the administrator's client; `audit` the file that says what was written."""

    runtime: Runtime

    def __init__(self, folder: Path, cluster: Cluster, *, real: bool) -> None:
        self.folder = folder
        self.cluster = cluster
        self.audit = folder / "audit.log"
        self.manifests = folder / "manifests"
        self.port = free_port()
        self.admin = cluster.client("kubectl")
        self._cgroup = f"lifecycle-judge-{os.getpid()}-{'theirs' if real else 'ours'}"
        self._real = real

    @asynccontextmanager
    async def kubelet(self) -> AsyncIterator[None]:
        """It runs inside the block."""
        self.manifests.mkdir()
        (self.folder / "resolv.conf").write_text("nameserver 192.0.2.1\nsearch host.example\n")
        for group in cgroups(self._cgroup):  # the real one expects its root to be there
            group.mkdir()
        async with self._theirs() if self._real else self._ours():
            yield

    def clean(self) -> None:
        """Take away what pods leave that nobody has stopped."""
        for group in cgroups(self._cgroup):
            remove(group)
        unmount(self.folder)

    @asynccontextmanager
    async def _ours(self) -> AsyncIterator[None]:
        user, groups = node_user(NODE)
        local = LocalNode(
            self.folder / "kubelet",
            Path("/sys/fs/cgroup"),
            cgroup_driver="cgroupfs",
            cgroup_root=f"/{self._cgroup}",
            mounter=LinuxMounter(),
            cluster_dns=(DNS,),
            host_dns=DNSConfig(("192.0.2.1",), ("host.example",)),
            pod_logs_dir=str(self.folder / "log/pods"),
            container_logs_dir="",
        )
        config = KubeletConfiguration(
            NODE,
            ADDRESS,
            capacity=machine_capacity(self.folder),
            local=local,
            listen=Listen(self.cluster.server.certificates.server_context(), port=self.port),
            sync_frequency=60.0,
            static_pod_path=self.manifests,
            eviction_hard=parse_thresholds(EVICTION_HARD),
        )
        client: Client = self.cluster.client("kubelet", UserInfo(user, groups))
        kubelet = new_main_kubelet(config, Dependencies(client, self.runtime, self.cluster.clock))
        task = asyncio.create_task(kubelet.run())
        try:
            yield
        finally:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
            assert isinstance(kubelet.host, LocalPodHost)
            kubelet.host.tear_down()

    @asynccontextmanager
    async def _theirs(self) -> AsyncIterator[None]:
        folder, (user, (group, *_)) = self.folder, node_user(NODE)
        authority = self.cluster.server.certificates
        config = identity(authority, self.cluster.url, folder / "kubeconfig", user, group, context="node")
        (folder / "ca.crt").write_bytes(authority.ca_pem)
        (folder / "kubelet.json").write_text(json.dumps(self._configuration()))
        flags = [
            f"--config={folder / 'kubelet.json'}",
            f"--kubeconfig={config}",
            f"--root-dir={folder / 'kubelet'}",
            f"--cert-dir={folder / 'pki'}",
            f"--hostname-override={NODE}",
            f"--node-ip={ADDRESS}",
            "-v=2",
        ]
        with Program([kube_bin("kubelet") / "kubelet", *flags], folder / "kubelet.log") as program:
            yield
            program.check_alive()

    def _configuration(self) -> dict[str, Any]:
        folder = self.folder
        return {
            "apiVersion": "kubelet.config.k8s.io/v1beta1",
            "kind": "KubeletConfiguration",
            "address": "127.0.0.1",
            "port": self.port,
            "healthzPort": 0,
            "authentication": {
                "anonymous": {"enabled": False},
                "webhook": {"enabled": False},
                "x509": {"clientCAFile": str(folder / "ca.crt")},
            },
            "authorization": {"mode": "AlwaysAllow"},
            "cgroupDriver": "cgroupfs",
            "cgroupRoot": f"/{self._cgroup}",
            "failCgroupV1": False,
            "failSwapOn": False,
            "clusterDNS": [DNS],
            "clusterDomain": "cluster.local",
            "containerRuntimeEndpoint": f"unix://{folder / 'containerd/containerd.sock'}",
            "resolvConf": str(folder / "resolv.conf"),
            "staticPodPath": str(self.manifests),
            "podLogsDir": str(folder / "log/pods"),
            "volumePluginDir": str(folder / "plugins"),
            "makeIPTablesUtilChains": False,
            "evictionHard": EVICTION_HARD,
        }


@asynccontextmanager
async def side(folder: Path, *, real: bool) -> AsyncIterator[Side]:
    """A node whose kubelet runs."""
    os.mkdir(folder)
    (folder / "policy.yaml").write_text(POLICY)
    audit = AuditOptions(policy_file=folder / "policy.yaml", log_path=folder / "audit.log")
    without = ("controllers", "scheduler", "kubelet", "proxy", "dns")
    cluster = Cluster(ClusterConfig(without=without, audit=audit))
    async with AsyncExitStack() as left:  # each is done whatever becomes of the others, the last one first
        left.push_async_callback(cluster.stop)
        await cluster.start()
        node = Side(folder, cluster, real=real)
        left.callback(node.clean)
        node.runtime = await left.enter_async_context(private_containerd(folder / "containerd", netns_below_state=True))
        await left.enter_async_context(node.kubelet())
        yield node


def unmount(folder: Path) -> None:
    """What a kubelet has mounted below its folder: volumes outlive it."""
    lines = Path("/proc/self/mounts").read_text().splitlines()
    for mount in reversed([line.split()[1] for line in lines]):
        if mount.startswith(str(folder / "kubelet")):
            subprocess.run(["umount", "-l", mount], capture_output=True, check=False)


def cgroups(name: str) -> list[Path]:
    """A cgroup in every hierarchy of the machine."""
    lines = [line.split() for line in Path("/proc/self/mounts").read_text().splitlines()]
    return [Path(where, name) for _, where, kind, *_ in lines if kind in ("cgroup", "cgroup2")]


def remove(group: Path) -> None:
    """A cgroup with those below it, and with the processes of pods that are still in them."""
    for directory, _, _ in os.walk(group, topdown=False):
        with suppress(FileNotFoundError):
            for word in Path(directory, "cgroup.procs").read_text().split():
                with suppress(ProcessLookupError):
                    os.kill(int(word), signal.SIGKILL)
        for _ in range(100):  # a killed process is in its group until it has ended
            try:
                os.rmdir(directory)
            except FileNotFoundError:
                break
            except OSError:
                time.sleep(0.02)
            else:
                break
