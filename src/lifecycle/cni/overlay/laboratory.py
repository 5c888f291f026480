"""Several hosts on one machine: each a network namespace, all plugged into one switch,
each with pods of its own.

Nothing touches the machine's own network: the switch is a bridge in a namespace, too.
Pods are attached by the real plugins, through libcni. Linux and root only; all of it
vanishes with `close`, or with the process.
"""

from __future__ import annotations

import contextlib
import ipaddress
import json
import os
import shutil
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from lifecycle.cni.launchers import write_launchers
from lifecycle.cni.namespaces import Namespace, with_net_ns_path
from lifecycle.cni.netlink.handle import Netlink
from lifecycle.cni.overlay.cable import EXT_IF, HOST_NETWORK, plug_in
from lifecycle.cni.overlay.host_gw import HostGwBackend
from lifecycle.cni.overlay.lease import lease_annotations
from lifecycle.cni.overlay.subnet_manager import NodeLeases, acquire_lease
from lifecycle.cni.overlay.vxlan import VxlanBackend
from lifecycle.cni.pod_network import PodNetwork, Sandbox

POD_NETWORK = ipaddress.IPv4Network("10.244.0.0/16")


class LabHost:
    """A host: a namespace with `eth0`, a Node, and a backend that carries packets to
    the other hosts.
    """

    def __init__(self, name: str, index: int, backend: str, directory: Path) -> None:
        self.name = name
        self.address = HOST_NETWORK.network_address + 2 + index
        self.namespace = Namespace.create(name)
        self.subnet = ipaddress.IPv4Network(f"10.244.{index}.0/24")
        self._directory = directory
        self._backend_type = backend
        self.pods: dict[str, tuple[Namespace, str]] = {}

    def plug_in(self, switch: Netlink, switch_fd: int, bridge: int) -> None:
        """A cable to the switch, and the forwarding a router needs."""
        self.netlink = Netlink(self.namespace.path)
        port = f"port-{self.name}"[:15]
        plug_in(self.netlink, self.address, switch, switch_fd, bridge=bridge, port=port)
        self.namespace.run(
            lambda: Path("/proc/sys/net/ipv4/ip_forward").write_text("1")
        )

    def start_backend(self) -> dict[str, Any]:
        """What flanneld does first; the Node it leaves behind."""
        self.backend: VxlanBackend | HostGwBackend
        node = {
            "metadata": {"name": self.name},
            "spec": {"podCIDR": str(self.subnet), "podCIDRs": [str(self.subnet)]},
        }
        if self._backend_type == "vxlan":
            self.backend = VxlanBackend(self.netlink, EXT_IF, self.address)
            self.backend.register(self.subnet)
            self.mtu = self.backend.mtu
        else:
            self.backend = HostGwBackend(self.netlink, EXT_IF, self.address)
            self.mtu = 1500
        acquire_lease(node, self.backend.attrs, POD_NETWORK)
        node["metadata"]["annotations"] = lease_annotations(self.backend.attrs)  # type: ignore[index]
        self.leases = NodeLeases(self.subnet)
        self._network = self._pod_network()
        return node

    def node_event(self, kind: str, node: Mapping[str, Any]) -> None:
        """What the watch of nodes brings."""
        self.backend.handle(self.leases.node_event(kind, node))

    async def run_pod(self, name: str) -> str:
        """A sandbox without containers; its address. Raises CNIError."""
        pod = Namespace.create(name)
        result = await self._network.set_up_pod(pod.path, self._sandbox(name))
        self.pods[name] = pod, result.ips[0]
        return result.ips[0]

    async def stop_pod(self, name: str) -> None:
        """The end of a sandbox. Raises CNIError."""
        pod, _ = self.pods.pop(name)
        await self._network.tear_down_pod(pod.path, self._sandbox(name))
        pod.close()

    def command(self, line: str, pod: str = "") -> str:
        """What a program prints, run on the host or in a pod."""
        where = self.pods[pod][0] if pod else self.namespace
        with with_net_ns_path(where.path):
            process = subprocess.Popen(
                line.split(),
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
            )
        return process.communicate()[0]

    def close(self) -> None:
        """Let go of everything."""
        with contextlib.suppress(AttributeError):
            self.netlink.close()
        for pod, _ in self.pods.values():
            pod.close()
        self.namespace.close()

    def _sandbox(self, name: str) -> Sandbox:
        return Sandbox(f"{self.name}-{name}", name, "default", f"uid-{name}")

    def _pod_network(self) -> PodNetwork:
        conf_dir = self._directory / self.name / "net.d"
        conf_dir.mkdir(parents=True)
        conf = {
            "cniVersion": "1.0.0",
            "name": "cbr0",
            "plugins": [
                {
                    "type": "bridge",
                    "bridge": "cni0",
                    "isDefaultGateway": True,
                    "hairpinMode": True,
                    "mtu": self.mtu,
                    "ipam": {
                        "type": "host-local",
                        "ranges": [[{"subnet": str(self.subnet)}]],
                        "routes": [{"dst": str(POD_NETWORK)}],
                        "dataDir": str(self._directory / self.name / "networks"),
                    },
                }
            ],
        }
        (conf_dir / "10-flannel.conflist").write_text(json.dumps(conf))
        bin_dir, cache = self._directory / "bin", self._directory / self.name / "cache"
        return PodNetwork(conf_dir, [bin_dir], cache, host_netns=self.namespace.path)


class Laboratory:
    """Hosts on a switch. Use it as a context manager. Raises PermissionError without
    root.
    """

    def __init__(
        self, hosts: Sequence[str] = ("worker", "worker2"), backend: str = "vxlan"
    ) -> None:
        self._stack = contextlib.ExitStack()
        try:
            directory = Path(tempfile.mkdtemp(prefix="lifecycle-overlay-"))
            self._stack.callback(shutil.rmtree, directory, ignore_errors=True)
            write_launchers(directory / "bin")
            self.switch = self._stack.enter_context(Namespace.create("switch"))
            switch = self._stack.enter_context(Netlink(self.switch.path))
            switch.bridge_add("br0")
            bridge = switch.link("br0").index
            switch.link_set(bridge, up=True)
            fd = os.open(self.switch.path, os.O_RDONLY)
            self._stack.callback(os.close, fd)
            self.hosts: dict[str, LabHost] = {}
            for index, name in enumerate(hosts, start=1):
                host = LabHost(name, index, backend, directory)
                self._stack.callback(host.close)
                host.plug_in(switch, fd, bridge)
                self.hosts[name] = host
            self.nodes = {
                name: host.start_backend() for name, host in self.hosts.items()
            }
            for node in self.nodes.values():
                self.announce("ADDED", node)
        except BaseException:
            self._stack.close()
            raise

    def announce(self, kind: str, node: Mapping[str, Any]) -> None:
        """Let every host's watch see an event of a Node."""
        for host in self.hosts.values():
            host.node_event(kind, node)

    def close(self) -> None:
        """Everything is gone."""
        self._stack.close()

    def __enter__(self) -> Laboratory:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()
