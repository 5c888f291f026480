"""Where a container's log is: `/var/log/pods/NAMESPACE_NAME_UID/CONTAINER/ATTEMPT.log`.

The kubelet chooses the path and tells the runtime, which writes. Two more names lead to
each file, for collectors that want to know the pod from a flat directory:
`/var/log/containers/NAME_NAMESPACE_CONTAINER-ID.log`.

Upstream: `pkg/kubelet/kuberuntime/helpers.go` (`BuildPodLogsDirectory`,
`buildContainerLogsPath`), `kuberuntime/legacy.go` (`logSymlink`), v1.36.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Protocol

from lifecycle.api.http.wire import Object
from lifecycle.cri.apis.pod_sandbox import PodSandboxMetadata
from lifecycle.kubelet.config.file_watch import IN_MODIFY, changed_or_later

POD_LOGS = "/var/log/pods"
CONTAINER_LOGS = "/var/log/containers"
MAX_FILE_NAME = 255
CHECK_PERIOD = 5.0
"""Seconds after which a real file that is followed is looked at, if the kernel has not
said anything before.
"""


def pod_logs_directory(pod: Object, root: str = POD_LOGS) -> str:
    """One directory per pod."""
    metadata = pod["metadata"]
    return f"{root}/{metadata['namespace']}_{metadata['name']}_{metadata['uid']}"


def container_log_path(container: str, attempt: int) -> str:
    """Below the pod's directory: one file per run of a container."""
    return f"{container}/{attempt}.log"


def log_symlink(
    pod: Object, container: str, container_id: str, root: str = CONTAINER_LOGS
) -> str:
    """The flat name; cut so that a file system takes it."""
    metadata = pod["metadata"]
    suffix = ".log"
    name = f"{metadata['name']}_{metadata['namespace']}_{container}-{container_id}"
    return f"{root}/{name[: MAX_FILE_NAME - len(suffix)]}{suffix}"


def link_log(target: str, link: str) -> None:
    """Make the flat name lead to the file. A link from an earlier life is replaced."""
    Path(link).parent.mkdir(parents=True, exist_ok=True)
    temporary = f"{link}.{os.getpid()}"
    os.symlink(target, temporary)
    os.replace(temporary, link)


def remove_dead_links(root: str = CONTAINER_LOGS) -> list[str]:
    """Links whose file is gone are removed; their names."""
    removed = []
    for link in sorted(Path(root).glob("*.log")):
        if link.is_symlink() and not link.exists():
            link.unlink()
            removed.append(link.name)
    return removed


class LogDirectories(Protocol):
    """Where a node's logs lie."""

    def make_directory(self, pod: Object, container: str = "") -> None:
        """The pod's, or one of its containers'. Raises OSError."""
        ...

    def link(
        self, pod: Object, container: str, container_id: str, log_path: str
    ) -> None:
        """Give a run's log its flat name. `log_path` is below the pod's directory."""
        ...

    def remove(self, pod: PodSandboxMetadata) -> None:
        """The pod is gone: its logs go, and links that lead nowhere now."""
        ...


class LogsOfTheRuntime:
    """No files of this machine: the runtime keeps them, and removes them itself."""

    def make_directory(self, pod: Object, container: str = "") -> None:
        pass

    def link(
        self, pod: Object, container: str, container_id: str, log_path: str
    ) -> None:
        pass

    def remove(self, pod: PodSandboxMetadata) -> None:
        pass


class ContainerLogs:
    """A node's own log directories: `pods` with one for each pod, `links` with the flat
    names (empty: no links).
    """

    def __init__(self, pods: str = POD_LOGS, links: str = CONTAINER_LOGS) -> None:
        self.pods = pods
        self.links = links

    def make_directory(self, pod: Object, container: str = "") -> None:
        Path(pod_logs_directory(pod, self.pods), container).mkdir(
            mode=0o755, parents=True, exist_ok=True
        )

    def link(
        self, pod: Object, container: str, container_id: str, log_path: str
    ) -> None:
        if self.links:
            target = f"{pod_logs_directory(pod, self.pods)}/{log_path}"
            link_log(target, log_symlink(pod, container, container_id, self.links))

    def remove(self, pod: PodSandboxMetadata) -> None:
        shutil.rmtree(
            f"{self.pods}/{pod.namespace}_{pod.name}_{pod.uid}", ignore_errors=True
        )
        if self.links:
            remove_dead_links(self.links)


class RealLogFile:
    """A file of the machine."""

    def __init__(self, path: str) -> None:
        self._path = Path(path)

    def read(self, offset: int = 0, size: int = -1) -> bytes:
        """Raises FileNotFoundError."""
        with self._path.open("rb") as stream:
            stream.seek(offset)
            return stream.read(size)

    def size(self) -> int:
        """Raises FileNotFoundError."""
        return self._path.stat().st_size

    async def grown(self, size: int) -> None:
        """Woken by the kernel."""
        while not self._changed(size):
            await changed_or_later(self._path, CHECK_PERIOD, IN_MODIFY)

    def _changed(self, size: int) -> bool:
        return not self._path.exists() or self._path.stat().st_size != size
