"""The three runtimes that the conformance suite is put to, each ready to use."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from lifecycle.cri.apis.pod_sandbox import PodSandboxConfig
from lifecycle.cri.client import CriClient
from lifecycle.cri.conformance import Subject
from lifecycle.cri.hollow.runtime import HollowRuntime
from lifecycle.cri.images.registry import Registry, Repository
from lifecycle.cri.images.small_images import find_busybox, shell_image
from lifecycle.cri.sandbox.clean import clean
from lifecycle.cri.sandbox.runtime import SandboxRuntime
from lifecycle.cri.server import CriServer
from tests.cri.bridge import Bridge
from tests.cri.private_containerd import CNI_PLUGINS, private_containerd, why_not

PASSWORD = "open sesame"


class PluginNetwork:
    """Connects pods with the machine's own CNI plugins, called as libcni calls them."""

    def __init__(self, where: Path) -> None:
        self._where = where
        self.bridge = Bridge(where)
        self.calls: list[str] = []

    async def ready(self) -> str:
        return ""

    async def _run(self, verb: str, sandbox_id: str, netns: str) -> dict[str, object]:
        config = {"cniVersion": "1.0.0", "name": "test", **self.bridge.plugin(f"{self._where}/ipam")}
        environment = {
            "CNI_COMMAND": verb,
            "CNI_CONTAINERID": sandbox_id,
            "CNI_NETNS": netns,
            "CNI_IFNAME": "eth0",
            "CNI_PATH": str(CNI_PLUGINS),
            "PATH": os.environ["PATH"],
        }
        self.calls.append(verb)
        done = await asyncio.to_thread(
            subprocess.run,
            [str(CNI_PLUGINS / "bridge")],
            input=json.dumps(config).encode(),
            env=environment,
            capture_output=True,
            timeout=30,
        )
        if done.returncode:
            raise RuntimeError(done.stdout.decode())
        return dict(json.loads(done.stdout or b"{}"))

    async def add(self, sandbox_id: str, netns: str, config: PodSandboxConfig) -> list[str]:
        result = await self._run("ADD", sandbox_id, netns)
        return [str(ip["address"]).partition("/")[0] for ip in result["ips"]]  # type: ignore[attr-defined]

    async def remove(self, sandbox_id: str, netns: str, config: PodSandboxConfig) -> None:
        await self._run("DEL", sandbox_id, netns)

    def clean(self) -> None:
        self.bridge.remove()


@asynccontextmanager
async def registry() -> AsyncIterator[Registry]:
    busybox = find_busybox()
    assert busybox is not None
    image = shell_image(busybox)
    repositories = {
        "library/shell": Repository({"1": image}),
        "private/shell": Repository({"1": image}, PASSWORD, "bearer"),
        "closed/shell": Repository({"1": image}, PASSWORD, "basic"),
    }
    async with Registry(repositories) as served:
        yield served


@asynccontextmanager
async def hollow(where: Path) -> AsyncIterator[Subject]:
    runtime = HollowRuntime()
    await runtime.update_runtime_config("10.221.0.0/24")
    yield Subject(runtime, "docker.io/library/busybox:1.36", "/var/log/pods", processes=False)


@asynccontextmanager
async def hollow_over_grpc(where: Path) -> AsyncIterator[Subject]:
    runtime = HollowRuntime()
    await runtime.update_runtime_config("10.221.0.0/24")
    async with CriServer(runtime, where / "hollow.sock"):
        client = CriClient(where / "hollow.sock")
        client.read_log = runtime.read_log  # type: ignore[method-assign] # its log files are in its memory
        yield Subject(client, "docker.io/library/busybox:1.36", "/var/log/pods", processes=False)
        await client.close()


@asynccontextmanager
async def sandbox_runtime(where: Path) -> AsyncIterator[tuple[SandboxRuntime, PluginNetwork]]:
    network = PluginNetwork(where)
    runtime = SandboxRuntime(where / "sandbox", network)
    try:
        await runtime.recover()
        yield runtime, network
    finally:
        try:
            for status in await runtime.list_pod_sandbox():
                await runtime.remove_pod_sandbox(status.id)
            await runtime.close()
        finally:  # however it went: the next scene is to find nothing of this one
            clean(where / "sandbox")
            network.clean()


def cgroup_parent() -> str:
    return f"/lifecycle-test-{os.getpid()}"


def remove_cgroup_parent() -> None:
    from lifecycle.cri.sandbox.cgroups import Cgroup

    Cgroup(cgroup_parent()).remove()


def _subject(runtime: object, served: Registry, where: Path) -> Subject:
    shell, private = served.name("library/shell:1"), served.name("private/shell:1")
    return Subject(runtime, shell, str(where / "logs"), cgroup_parent(), True, private, PASSWORD)  # type: ignore[arg-type]


@asynccontextmanager
async def sandbox(where: Path) -> AsyncIterator[Subject]:
    async with registry() as served, sandbox_runtime(where) as (runtime, _):
        (where / "logs").mkdir()
        yield _subject(runtime, served, where)
    remove_cgroup_parent()


@asynccontextmanager
async def sandbox_over_grpc(where: Path) -> AsyncIterator[Subject]:
    async with registry() as served, sandbox_runtime(where) as (runtime, _):
        (where / "logs").mkdir()
        async with CriServer(runtime, where / "sandbox.sock"):
            client = CriClient(where / "sandbox.sock")
            yield _subject(client, served, where)
            await client.close()
    remove_cgroup_parent()


@asynccontextmanager
async def containerd(where: Path) -> AsyncIterator[Subject]:
    async with registry() as served, private_containerd(where) as client:
        (where / "logs").mkdir()
        yield _subject(client, served, where)
    remove_cgroup_parent()


SUBJECTS = {
    "hollow": hollow,
    "hollow over gRPC": hollow_over_grpc,
    "sandbox": sandbox,
    "sandbox over gRPC": sandbox_over_grpc,
    "containerd": containerd,
}
"""By name. All but the hollow ones need root and programs: `why_not()` says what is missing."""

__all__ = ["SUBJECTS", "registry", "sandbox_runtime", "why_not"]
