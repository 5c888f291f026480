"""The real kubelet, in front of a container runtime of ours that keeps no containers
but notes whatever it is asked for.

The runtime is the hollow one, served over CRI on a socket; its answers are the scene's
to choose: which image there is, what a command in a container says, how full the disk
is. What the kubelet makes of them is the kubelet's. In a mount namespace of its own,
the machine may have as many CPUs as a scene likes.
"""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import subprocess
import tempfile
import threading
from collections.abc import Callable, Coroutine
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any, TypeVar

from generators.programs.connection import Connection
from generators.programs.control_plane import Server, free_port, until
from lifecycle.api.loop.clock import Clock
from lifecycle.cluster.witness_runtime import WitnessRuntime
from lifecycle.cri.server import CriServer
from lifecycle.kubelet.cm.cpumanager.topology import CPUTopology

NODE = "lifecycle-worker"
ADDRESS = "198.51.100.28"
"""A kubelet refuses a loopback address, and one that no interface has."""
OUTSIDE = (Path("/var/lib/kubelet"), Path("/var/log/containers"))
"""What a kubelet makes outside of its folder."""
WITHOUT_CGROUPS = {"cgroupsPerQOS": False, "enforceNodeAllocatable": []}
T = TypeVar("T")
Object = dict[str, Any]


def write_machine(topology: CPUTopology, folder: Path) -> None:
    """A machine as the kernel shows it in `/sys/devices/system`."""
    nodes = sorted(topology.ids("numa"))
    for name, last in (("cpu", len(topology.cpus) - 1), ("node", nodes[-1])):
        (folder / name).mkdir(parents=True)
        for which in ("online", "possible", "present"):
            (folder / name / which).write_text(f"0-{last}\n")
    for node in nodes:
        own = folder / f"node/node{node}"
        own.mkdir()
        (own / "meminfo").write_text(
            f"Node {node} MemTotal:       16777216 kB\n"
            f"Node {node} MemFree:        16777216 kB\n"
        )
        distances = ["10" if other == node else "21" for other in nodes]
        (own / "distance").write_text(f"{' '.join(distances)}\n")
    for cpu, info in topology.details.items():
        siblings = sorted(topology.within("core", info.core))
        for name, text in {
            "online": "1",
            "topology/core_id": str(info.core),
            "topology/physical_package_id": str(info.socket),
            "topology/book_id": "0",
            "topology/drawer_id": "0",
            "topology/thread_siblings_list": ",".join(map(str, siblings)),
            "cache/index3/level": "3",
            "cache/index3/type": "Unified",
            "cache/index3/size": "32768K",
            "cache/index3/id": str(info.socket),
            "cache/index3/shared_cpu_map": "ff",
            "cache/index3/shared_cpu_list": "0",
        }.items():
            file = folder / f"cpu/cpu{cpu}" / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(f"{text}\n")
        link = folder / f"node/node{info.numa}/cpu{cpu}"
        link.symlink_to(f"../../cpu/cpu{cpu}")


@dataclass(slots=True)
class RealNode:
    """`with RealNode(server, programs) as node:` runs a kubelet. `configuration`: more
    of its KubeletConfiguration; `furnish(runtime)` is awaited before it begins.
    """

    server: Server
    programs: Path
    configuration: Object = field(default_factory=dict)
    flags: tuple[str, ...] = ()
    topology: CPUTopology | None = None
    """None: the machine's own. A cgroup cannot be given CPUs that are not there, so
    with another one pods get no cgroups.
    """
    name: str = NODE
    disk: int = 64
    """Megabytes of the file system of images."""
    furnish: Callable[[WitnessRuntime], Coroutine[Any, Any, None]] | None = None
    folder: Path = Path()
    runtime: WitnessRuntime = field(init=False)
    _process: subprocess.Popen[bytes] | None = None
    _loop: asyncio.AbstractEventLoop = field(default_factory=asyncio.new_event_loop)
    _cri: CriServer = field(init=False)

    @property
    def admin(self) -> Connection:
        """Of the API server."""
        return self.server.admin

    @property
    def log(self) -> str:
        """What the kubelet has said."""
        return (self.folder / "kubelet.log").read_text()

    def do(self, work: Coroutine[Any, Any, T]) -> T:
        """Something with the runtime, on its own loop."""
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(60)

    def __enter__(self) -> RealNode:
        self.folder = Path(tempfile.mkdtemp(prefix="kubelet-"))
        threading.Thread(target=self._loop.run_forever, daemon=True).start()
        self._new = [path for path in OUTSIDE if not path.exists()]
        _ip("add")
        try:
            self.do(self._serve())
            self._groups = [Path(each, self.group) for each in _hierarchies()]
            for group in self._groups:
                group.mkdir(exist_ok=True)
            self.start()
        except BaseException:
            self.__exit__(None, None, None)
            raise
        return self

    _new: list[Path] = field(default_factory=list)
    _groups: list[Path] = field(default_factory=list)

    @property
    def group(self) -> str:
        """The cgroup that holds everything."""
        return f"asked-{os.getpid()}-{self.name}"

    async def _serve(self) -> None:
        self.runtime = WitnessRuntime(clock=Clock())
        await self.runtime.update_runtime_config("10.244.1.0/24")
        if self.topology is not None:
            write_machine(self.topology, self.folder / "machine")
        self.runtime.disk = self.folder / "images"
        self.runtime.disk.mkdir()
        size = f"size={self.disk}m"
        _run("mount", "-t", "tmpfs", "-o", size, "images", str(self.runtime.disk))
        if self.furnish is not None:
            await self.furnish(self.runtime)
        self._cri = CriServer(self.runtime, self.folder / "cri.sock")
        await self._cri.start()

    def start(self) -> None:
        """The kubelet; again after `stop`."""
        folder = self.folder
        user = f"system:node:{self.name}"
        kubeconfig = self.server.kubeconfig(user, "system:nodes")
        (folder / "ca.crt").write_bytes(self.server.plane.authority.ca_pem)
        (folder / "kubelet.json").write_text(json.dumps(self._configuration()))
        (folder / "resolv.conf").write_text("nameserver 192.0.2.1\n")
        kubelet = [
            str(self.programs / "kubelet"),
            f"--config={folder / 'kubelet.json'}",
            f"--kubeconfig={kubeconfig}",
            f"--root-dir={folder / 'kubelet'}",
            f"--cert-dir={folder / 'pki'}",
            f"--hostname-override={self.name}",
            f"--node-ip={ADDRESS}",
            *self.flags,
        ]
        binds = [
            f"mount --bind {folder}/machine/{each} /sys/devices/system/{each}"
            for each in ("cpu", "node")
        ]
        inside = " && ".join([*binds, 'exec "$@"'])
        alone = ["unshare", "--mount", "--propagation", "private", "sh", "-c", inside]
        aside = [] if self.topology is None else [*alone, "kubelet"]
        with (folder / "kubelet.log").open("ab") as log:
            self._process = subprocess.Popen(
                [*aside, *kubelet],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
            )
        until("the node to be ready", self._ready)

    def stop(self) -> None:
        """End the kubelet."""
        if self._process is not None:
            self._process.terminate()
            self._process.wait(30)
            self._process = None

    def _ready(self) -> bool:
        assert self._process is not None
        if self._process.poll() is not None:
            raise RuntimeError(f"the kubelet has ended: {self.log[-3000:]}")
        return any(
            each["type"] == "Ready" and each["status"] == "True"
            for each in self.node().get("status", {}).get("conditions", ())
        )

    def node(self) -> Object:
        """As the API server knows it."""
        reply = self.admin("GET", f"/api/v1/nodes/{self.name}")
        return dict(reply.body) if reply.status == 200 else {}

    def machine(self) -> Object:
        """What it has, and what of it pods may have."""
        status = self.node()["status"]
        return {key: status[key] for key in ("capacity", "allocatable")}

    def create(self, path: str, pod: Object) -> Object:
        """A pod, once its kubelet has decided: it runs, is over, or was refused. Raises
        ValueError if the API server does not take it.
        """
        made = self.admin("POST", f"{path}/pods", pod)
        if made.status != 201:
            raise ValueError(f"{pod['metadata']['name']}: {made.message}")
        where = f"{path}/pods/{pod['metadata']['name']}"

        def decided() -> Object:
            seen: Object = self.admin("GET", where).body
            return seen if seen["status"]["phase"] != "Pending" else {}

        seen: Object = until(where, decided)
        return seen

    def clear(self, path: str) -> None:
        """No pods in a namespace."""
        self.admin("DELETE", f"{path}/pods")
        until("no pods", lambda: not self.admin("GET", f"{path}/pods").body["items"])

    def _configuration(self) -> Object:
        folder = self.folder
        return {
            "apiVersion": "kubelet.config.k8s.io/v1beta1",
            "kind": "KubeletConfiguration",
            "address": "127.0.0.1",
            "port": free_port(),
            "healthzPort": 0,
            "authentication": {
                "anonymous": {"enabled": False},
                "webhook": {"enabled": False},
                "x509": {"clientCAFile": str(folder / "ca.crt")},
            },
            "authorization": {"mode": "AlwaysAllow"},
            "cgroupDriver": "cgroupfs",
            "cgroupRoot": f"/{self.group}",
            "failCgroupV1": False,
            "failSwapOn": False,
            "containerRuntimeEndpoint": f"unix://{folder / 'cri.sock'}",
            "resolvConf": str(folder / "resolv.conf"),
            "podLogsDir": str(folder / "log/pods"),
            "volumePluginDir": str(folder / "plugins"),
            "makeIPTablesUtilChains": False,
            "evictionHard": {"memory.available": "100Mi"},
            "nodeStatusUpdateFrequency": "1s",
            **({} if self.topology is None else WITHOUT_CGROUPS),
            **self.configuration,
        }

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.stop()
        with suppress(Exception):
            self.do(self._cri.close())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self.admin("DELETE", f"/api/v1/nodes/{self.name}")
        for group in self._groups:
            _remove(group)
        _ip("del")
        _unmount(self.folder)
        for path in self._new:
            shutil.rmtree(path, ignore_errors=True)
        shutil.rmtree(self.folder, ignore_errors=True)


def _ip(what: str) -> None:
    _run("ip", "address", what, f"{ADDRESS}/32", "dev", "lo")


def _run(*command: str) -> None:
    subprocess.run(command, check=False, capture_output=True)


def _unmount(folder: Path) -> None:
    """What is mounted below a folder: volumes outlive a kubelet."""
    lines = Path("/proc/self/mounts").read_text().splitlines()
    for where in reversed([line.split()[1] for line in lines]):
        if where.startswith(f"{folder}/"):
            _run("umount", "-l", where)


def _hierarchies() -> list[str]:
    lines = [line.split() for line in Path("/proc/self/mounts").read_text().split("\n")]
    return [each[1] for each in lines if len(each) > 2 and each[2].startswith("cgroup")]


def _remove(group: Path) -> None:
    for directory, _, _ in os.walk(group, topdown=False):
        with suppress(OSError):
            os.rmdir(directory)
