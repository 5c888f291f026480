"""A private containerd for a node: started in the node's network namespace, with
everything it keeps below the node's directory.

Each node has its own, because a CNI configuration and the place where plugins run
belong to the whole of a containerd. Registries are mirrored to the one of this cluster;
`hosts.toml` says so, for all hosts at once. Commands and attachments go to a server on
the node's loopback, which the client reaches by making its sockets in that namespace.

Upstream: containerd `docs/cri/config.md`, `docs/hosts.md`. Works with 1.6 and newer:
1.6 tells of no events, so the kubelet looks.
"""

from __future__ import annotations

import asyncio
import os
import subprocess
from contextlib import suppress
from pathlib import Path

from lifecycle.cluster.linux.local_images import PAUSE
from lifecycle.cluster.linux.sandbox_node import Connected
from lifecycle.cri.apis.errors import RuntimeServiceError
from lifecycle.cri.client import CriClient
from lifecycle.cri.sandbox.network import in_network

START_TIMEOUT = 20.0
"""Seconds."""

STOP_TIMEOUT = 5.0


def configuration(
    where: Path,
    plugins: Path,
    conf_dir: Path,
    *,
    sandbox_image: str = PAUSE,
    netns_below_state: bool = True,
) -> str:
    """`config.toml` (version 2, which every containerd since 1.3 reads); all it keeps
    is below `where`.
    """
    return f"""version = 2
root = "{where}/root"
state = "{where}/state"
disabled_plugins = [
  "io.containerd.snapshotter.v1.btrfs",
  "io.containerd.snapshotter.v1.zfs",
  "io.containerd.snapshotter.v1.aufs",
]
[grpc]
  address = "{where}/containerd.sock"
[ttrpc]
  address = "{where}/containerd.sock.ttrpc"
[plugins."io.containerd.internal.v1.opt"]
  path = "{where}/opt"
[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = "{sandbox_image}"
  stream_server_address = "127.0.0.1"
  stream_server_port = "0"
  restrict_oom_score_adj = true
  netns_mounts_under_state_dir = {str(netns_below_state).lower()}
  [plugins."io.containerd.grpc.v1.cri".containerd]
    snapshotter = "overlayfs"
    default_runtime_name = "runc"
    [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]
      runtime_type = "io.containerd.runc.v2"
  [plugins."io.containerd.grpc.v1.cri".cni]
    bin_dir = "{plugins}"
    conf_dir = "{conf_dir}"
"""


def mirrors(where: Path) -> str:
    """The part of `config.toml` that says where `hosts.toml` files lie."""
    return f"""  [plugins."io.containerd.grpc.v1.cri".registry]
    config_path = "{where}/certs.d"
"""


NAMED = (
    *("unshare", "--uts", "sh", "-c"),
    'echo "$0" > /proc/sys/kernel/hostname; exec "$@"',
)
"""Runs a program as if its machine had a name of its own, which comes first among the
arguments. Pods on the node's network see it.
"""


class ContainerdNode(CriClient):
    """A containerd of our own and the client of it. `start` it first."""

    def __init__(
        self,
        directory: Path,
        plugins: Path,
        conf_dir: Path,
        host_netns: str,
        connected: Connected,
        nodename: str,
    ) -> None:
        super().__init__(directory / "containerd.sock")
        self.directory = directory
        self.host_netns = host_netns
        self.nodename = nodename
        self._plugins = plugins
        self._conf_dir = conf_dir
        self._connected = connected
        self._process: subprocess.Popen[bytes] | None = None

    async def start(self, mirror: str) -> None:
        """`mirror`: `http://ADDRESS:PORT` of the registry. Raises OSError with
        containerd's own last words.
        """
        self.directory.mkdir(parents=True)
        config = self.directory / "config.toml"
        config.write_text(
            configuration(self.directory, self._plugins, self._conf_dir)
            + mirrors(self.directory)
        )
        hosts = self.directory / "certs.d/_default/hosts.toml"
        hosts.parent.mkdir(parents=True)
        hosts.write_text(
            f'server = "{mirror}"\n[host."{mirror}"]\n  capabilities = ["pull",'
            ' "resolve"]\n'
        )
        with (
            (self.directory / "containerd.log").open("wb") as log,
            in_network(self.host_netns),
        ):
            self._process = subprocess.Popen(  # noqa: ASYNC220 - a fork takes no time
                [
                    *NAMED,
                    self.nodename,
                    *("containerd", "--config", str(config), "--log-level", "warn"),
                ],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
                env={**os.environ, "TMPDIR": str(self.directory)},
            )
        try:
            async with asyncio.timeout(START_TIMEOUT):
                while self._process.poll() is None:
                    with suppress(RuntimeServiceError):
                        await self.call("Version", timeout=2)
                        await self.pull_image(PAUSE)
                        return
                    await asyncio.sleep(
                        0.05
                    )  # it announces its readiness to nobody but systemd
        except TimeoutError:
            pass
        words = (self.directory / "containerd.log").read_text().strip().splitlines()
        raise OSError(
            f"containerd did not start: {words[-1] if words else 'it said nothing'}"
        )

    async def update_runtime_config(self, pod_cidr: str) -> None:
        """The overlay's agent writes the configuration; containerd is told by the
        kernel that it is there, and says when it has read it.
        """
        await self._connected()
        try:
            async with asyncio.timeout(START_TIMEOUT):
                while not all(c["status"] for c in (await self.status())["conditions"]):  # noqa: ASYNC110 - nobody calls back
                    await asyncio.sleep(0.05)
        except TimeoutError:
            raise OSError(
                f"containerd does not see the network configuration in {self._conf_dir}"
            ) from None

    async def close(self) -> None:
        """End the connection and containerd. What it ran goes on, and is `clean`'s to
        end.
        """
        await super().close()
        if self._process is not None:
            self._process.terminate()
            try:
                await asyncio.to_thread(self._process.wait, STOP_TIMEOUT)
            except subprocess.TimeoutExpired:
                self._process.kill()
                await asyncio.to_thread(self._process.wait)
            self._process = None
