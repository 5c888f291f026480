"""The sandbox runtime's network: libcni, called as containerd calls it, with plugins
that run inside the node's own namespace.

The runtime knows no CNI and the CNI room no runtime; they meet here.

Upstream: containerd 2, `internal/cri/server/sandbox_run.go` (`setupPodNetwork`),
`sandbox_stop.go` (`teardownPodNetwork`).
"""

from __future__ import annotations

from pathlib import Path

from lifecycle.cni.errors import CNIError
from lifecycle.cni.pod_network import PodNetwork, Sandbox
from lifecycle.cri.apis.pod_sandbox import PodSandboxConfig


def described(sandbox_id: str, config: PodSandboxConfig) -> Sandbox:
    """A sandbox in the words of CNI."""
    dns = config.dns_config
    return Sandbox(
        sandbox_id,
        config.metadata.name,
        config.metadata.namespace,
        config.metadata.uid,
        port_mappings=[
            {
                "hostPort": mapping["host_port"],
                "containerPort": mapping["container_port"],
                "protocol": mapping.get("protocol", "TCP"),
                "hostIP": mapping.get("host_ip", ""),
            }
            for mapping in config.port_mappings
        ],
        dns={
            key: list(dns[name])
            for key, name in (
                ("Servers", "servers"),
                ("Searches", "searches"),
                ("Options", "options"),
            )
            if dns.get(name)
        },
        annotations=config.annotations,
        cgroup_path=str((config.linux or {}).get("cgroup_parent", "")),
    )


class NodePodNetwork:
    """Implements `PodNetworkSetup`. `plugins`: where the executables are; `directory`:
    the node's.
    """

    def __init__(self, directory: Path, plugins: Path, host_netns: str) -> None:
        self._network = PodNetwork(
            directory / "net.d",
            [plugins],
            directory / "cni-cache",
            host_netns=host_netns,
        )

    async def ready(self) -> str:
        """Until the overlay's agent has written a configuration there is none."""
        try:
            await self._network.status()
        except CNIError as error:
            return str(error)
        return ""

    async def add(
        self, sandbox_id: str, netns: str, config: PodSandboxConfig
    ) -> list[str]:
        """ADD. Raises RuntimeError."""
        try:
            return list(
                (
                    await self._network.set_up_pod(netns, described(sandbox_id, config))
                ).ips
            )
        except CNIError as error:
            # the runtime says that itself
            prefix = f'failed to setup network for sandbox "{sandbox_id}": '
            raise RuntimeError(str(error).removeprefix(prefix)) from None

    async def remove(
        self, sandbox_id: str, netns: str, config: PodSandboxConfig
    ) -> None:
        """DEL. Raises RuntimeError."""
        try:
            await self._network.tear_down_pod(netns, described(sandbox_id, config))
        except CNIError as error:
            raise RuntimeError(str(error)) from None
