"""A containerd of our own: root, state, socket and CNI configuration under one directory, gone afterwards."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import signal
import subprocess
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path

from lifecycle.cluster.linux.containerd_node import configuration
from lifecycle.cri.apis.errors import RuntimeServiceError
from lifecycle.cri.client import CriClient
from lifecycle.cri.images.oci_image import layout
from lifecycle.cri.images.small_images import find_busybox, pause_image
from tests.cri.bridge import Bridge
from tests.ends_with_us import ends_with_us

PAUSE = "pause.test/pause:1"
CNI_PLUGINS = Path("/usr/lib/cni")


def why_not() -> str:
    """Empty if a containerd can be run here."""
    if os.geteuid() != 0:
        return "this needs root"
    for program in ("containerd", "runc", "ctr", "iptables"):
        if shutil.which(program) is None:
            return f"{program} is not installed"
    if not (CNI_PLUGINS / "bridge").exists():
        return "the CNI plugins are not in /usr/lib/cni"
    if find_busybox() is None:
        return "busybox-static is not installed"
    return ""


def _write_network(where: Path, bridge: Bridge) -> None:
    (where / "cni").mkdir(parents=True)
    network = {"cniVersion": "0.4.0", "name": "test", "plugins": [bridge.plugin(f"{where}/ipam")]}
    (where / "cni" / "10-test.conflist").write_text(json.dumps(network))


@asynccontextmanager
async def private_containerd(where: Path, *, netns_below_state: bool = False) -> AsyncIterator[CriClient]:
    """Running, ready, with its sandbox image imported; at the end every process, mount and interface of it is gone.

    `netns_below_state`: network namespaces are in its own folder, where nobody's `ip netns` is in its way.
    """
    bridge = Bridge(where)
    _write_network(where, bridge)
    config = configuration(where, CNI_PLUGINS, where / "cni", sandbox_image=PAUSE, netns_below_state=netns_below_state)
    (where / "config.toml").write_text(config)
    log = (where / "containerd.log").open("wb")
    process = subprocess.Popen(  # noqa: ASYNC220 - a fork takes no time
        ends_with_us(["containerd", "--config", where / "config.toml", "--log-level", "warn"]),
        stdout=log,
        stderr=log,
        start_new_session=True,
        env={**os.environ, "TMPDIR": str(where)},
    )
    client = CriClient(where / "containerd.sock")
    try:
        await _until_ready(client, process, where)
        archive = where / "pause.tar"
        archive.write_bytes(layout({PAUSE: pause_image()}))
        await _ctr(where, "images", "import", str(archive))
        yield client
        for sandbox in await client.list_pod_sandbox():
            with suppress(RuntimeServiceError):
                await client.remove_pod_sandbox(sandbox.id)
    finally:
        try:
            await client.close()
            process.send_signal(signal.SIGTERM)
            await asyncio.to_thread(process.wait, 20)
        finally:  # however it went: the next scene is to find nothing of this one
            process.kill()
            process.wait()
            log.close()
            _clean(where)
            bridge.remove()


async def _ctr(where: Path, *words: str) -> None:
    command = ["ctr", "--address", str(where / "containerd.sock"), "--namespace", "k8s.io", *words]
    done = await asyncio.to_thread(subprocess.run, command, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr


async def _until_ready(client: CriClient, process: subprocess.Popen[bytes], where: Path) -> None:
    for _ in range(200):
        if process.poll() is not None:
            break
        try:
            status = await client.call("Status", timeout=2)
        except RuntimeServiceError:
            await asyncio.sleep(0.05)
            continue
        if all(condition.get("status") for condition in status["status"]["conditions"]):
            return
        await asyncio.sleep(0.05)
    raise AssertionError("containerd did not start: " + (where / "containerd.log").read_text()[-2000:])


def _clean(where: Path) -> None:
    """What a stopped containerd may leave: shims of sandboxes that were not removed, and mounts."""
    for directory in Path("/proc").iterdir():
        if directory.name.isdigit():
            with suppress(OSError):
                words = (directory / "cmdline").read_bytes().decode(errors="replace")
                if str(where) in words and "containerd-shim" in words:
                    os.kill(int(directory.name), signal.SIGKILL)
    mounts = [line.split()[1] for line in Path("/proc/self/mounts").read_text().splitlines()]
    for mount in reversed([m for m in mounts if m.startswith(str(where))]):
        subprocess.run(["umount", "-l", mount], capture_output=True, check=False)
