"""`--runtime containerd:SOCKET`: one node whose pods run in a containerd that was there
before.

Such a containerd has a network of its own, in the machine's own namespace; no rule and
no route of ours may go there. So this is a kubelet at a real runtime and no more: pods
run, their logs, commands and probes work, they reach each other by address; Services
stay on paper. Its images are those it has or can pull.

Each sandbox bears the run's id as a label, and the run's directory says which socket it
was. By these two a killed run is cleaned up.

Upstream: what `kubelet --container-runtime-endpoint=unix://…` is.
"""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from lifecycle.cluster.linux.clean import (
    SOCKET_FILE,
    clean,
    clean_abandoned,
    remove_sandboxes,
)
from lifecycle.cluster.linux.machine_facts import machine_capacity
from lifecycle.cluster.linux.requirements import check
from lifecycle.cluster.linux.run_state import RUN_LABEL, Run, new_run
from lifecycle.cluster.nodes import NodeShape
from lifecycle.cri.apis.errors import RuntimeServiceError
from lifecycle.cri.apis.pod_sandbox import PodSandboxConfig
from lifecycle.cri.client import CriClient
from lifecycle.kubelet.kubelet_configuration import LocalNode
from lifecycle.kubelet.volume.empty_dir import LinuxMounter


class LabelledClient(CriClient):
    """Writes the run's id onto what it makes, and sees nothing else."""

    def __init__(self, socket: str, run_id: str) -> None:
        super().__init__(socket)
        self._run_id = run_id

    async def run_pod_sandbox(self, config: PodSandboxConfig) -> str:
        """See `CriClient`."""
        return await super().run_pod_sandbox(
            replace(config, labels={**config.labels, RUN_LABEL: self._run_id})
        )

    async def list_pod_sandbox(self, pod_uid: str = "") -> list[Any]:
        """Others may use that containerd too: their pods are not ours to end."""
        sandboxes = await super().list_pod_sandbox(pod_uid)
        return [sandbox for sandbox in sandboxes if self.mine(sandbox.labels)]

    def mine(self, labels: Mapping[str, str]) -> bool:
        """See `CriClient`."""
        return labels.get(RUN_LABEL) == self._run_id


class GivenContainerd:
    """The one node of such a cluster. `socket`: a path."""

    def __init__(self, shapes: Sequence[NodeShape], socket: str) -> None:
        self.shapes = shapes
        self.socket = socket
        self.run: Run | None = None
        self._client: LabelledClient | None = None

    @property
    def where(self) -> str:
        """One line for whoever wants to look at the pods."""
        assert self.run is not None
        return (
            f"node: {self.run.directory} (try ctr --address {self.socket} --namespace"
            " k8s.io tasks list)"
        )

    async def start(self) -> None:
        """Raises ValueError, OSError: one line each."""
        check("sandbox")
        if not Path(self.socket).is_socket():  # noqa: ASYNC240 - a stat does not block
            raise ValueError(
                f"--runtime containerd:{self.socket}: there is no socket there"
            )
        await asyncio.to_thread(clean_abandoned)
        run = self.run = new_run()
        try:
            (run.directory / SOCKET_FILE).write_text(self.socket)
            self._client = LabelledClient(self.socket, run.id)
            try:
                await self._client.call("Version", timeout=5)
            except RuntimeServiceError as error:
                raise OSError(
                    f"--runtime containerd:{self.socket}: nobody speaks CRI there"
                    f" ({error})"
                ) from None
            for shape in self.shapes:
                shape.capacity = machine_capacity()
                shape.address = "127.0.0.1"
        except BaseException:
            await self.stop()
            raise

    def runtime(self, name: str) -> LabelledClient:
        """The client of that containerd."""
        assert self._client is not None
        return self._client

    def kubelet_options(
        self, name: str, server_context: Callable[[], ssl.SSLContext]
    ) -> dict[str, Any]:
        """The kubelet listens nowhere: its API is had in this process. Without a
        cluster DNS pods get the machine's.
        """
        assert self.run is not None
        directory = self.run.directory / name
        local = LocalNode(
            root_dir=directory / "kubelet",
            pod_logs_dir=str(directory / "log/pods"),
            container_logs_dir=str(directory / "log/containers"),
            cgroup_tree=Path("/sys/fs/cgroup"),
            cgroup_root=f"/{self.run.cgroup}/{name}",
            cgroup_driver="cgroupfs",
            mounter=LinuxMounter(),
        )
        return {"local": local, "sync_frequency": 60.0}

    async def stop(self) -> None:
        """Our sandboxes go, containerd stays. Raises OSError if something is left."""
        if self._client is not None and self.run is not None:
            with suppress(RuntimeServiceError):
                await remove_sandboxes(self._client, self.run.id)
            await self._client.close()
            self._client = None
        run, self.run = self.run, None
        if run is not None:
            await asyncio.to_thread(clean, run)
