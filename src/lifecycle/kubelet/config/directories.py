"""A pod's place on the node's disk.

Below the kubelet's root (`/var/lib/kubelet`) each pod has `pods/<uid>` with `volumes`
(one sub-directory per volume plugin, slashes in its name turned into `~`), `plugins`
(what plugins note for themselves) and, once containers start, `containers/<name>`
(where their termination messages land) and `etc-hosts`. Logs are elsewhere:
`/var/log/pods`.

Upstream: `pkg/kubelet/kubelet_getters.go`, `kubelet_pods.go` (`makePodDataDirs`),
`kubelet_volumes.go` (`cleanupOrphanedPodDirs`, `removeOrphanedPodVolumeDirs`), v1.36.
"""

from __future__ import annotations

from collections.abc import Container, Iterator
from pathlib import Path

from lifecycle.api.go.format import go_path_error
from lifecycle.cri.removal import remove_tree

DEFAULT_ROOT_DIR = Path("/var/lib/kubelet")
DIRECTORY_MODE = 0o750
"""What upstream asks for everything it makes below its root."""


def escape_qualified_name(plugin: str) -> str:
    """`kubernetes.io/empty-dir` → `kubernetes.io~empty-dir`."""
    return plugin.replace("/", "~")


class PodDirectories:
    """The tree below one kubelet's root. `root` need not exist; it is made when the
    first pod comes.
    """

    def __init__(self, root: Path = DEFAULT_ROOT_DIR) -> None:
        self.root = root

    @property
    def pods(self) -> Path:
        """Where all pods are."""
        return self.root / "pods"

    def pod(self, uid: str) -> Path:
        """A pod's directory."""
        return self.pods / uid

    def volumes(self, uid: str) -> Path:
        """Its volumes."""
        return self.pod(uid) / "volumes"

    def plugins(self, uid: str) -> Path:
        """What volume plugins note about it."""
        return self.pod(uid) / "plugins"

    def volume(self, uid: str, plugin: str, name: str) -> Path:
        """One volume."""
        return self.volumes(uid) / escape_qualified_name(plugin) / name

    def plugin(self, uid: str, plugin: str, name: str) -> Path:
        """One plugin's notes about one volume."""
        return self.plugins(uid) / escape_qualified_name(plugin) / name

    def container(self, uid: str, name: str) -> Path:
        """One container's."""
        return self.pod(uid) / "containers" / name

    def volume_subpaths(self, uid: str) -> Path:
        """Where sub-paths of volumes are bound to, so that nobody can move them
        away.
        """
        return self.pod(uid) / "volume-subpaths"

    def etc_hosts(self, uid: str) -> Path:
        """What its containers see as `/etc/hosts`."""
        return self.pod(uid) / "etc-hosts"

    def make_pod_data_dirs(self, uid: str) -> None:
        """The pod's directory, `volumes` and `plugins`. Raises OSError; again does no
        harm.
        """
        for path in (self.pod(uid), self.volumes(uid), self.plugins(uid)):
            try:
                path.mkdir(mode=DIRECTORY_MODE, parents=True, exist_ok=True)
            except OSError as error:
                raise OSError(go_path_error("mkdir", error, path)) from None

    def list_pods(self) -> list[str]:
        """The uids that have a directory."""
        return (
            sorted(entry.name for entry in self.pods.iterdir())
            if self.pods.is_dir()
            else []
        )

    def volume_paths(self, uid: str) -> Iterator[Path]:
        """What is in `volumes`, by plugin and name."""
        if self.volumes(uid).is_dir():
            for plugin in sorted(self.volumes(uid).iterdir()):
                yield from sorted(plugin.iterdir())

    def clean_up_orphaned(self, known: Container[str]) -> tuple[list[str], list[str]]:
        """Remove the directories of pods that nobody knows. Returns the uids removed,
        and complaints.

        A directory whose volumes are still there is left alone, so that no volume's
        contents are ever deleted with the pod: what is mounted is taken down by the
        volume manager first.
        """
        removed, complaints = [], []
        for uid in self.list_pods():
            if uid in known:
                continue
            left = list(self.volume_paths(uid))
            if any(_has_content(path) for path in left):
                complaints.append(
                    f'orphaned pod "{uid}" found, but volume paths are still present on'
                    " disk: "
                    f"{', '.join(str(path) for path in left)}"
                )
                continue
            remove_tree(self.pod(uid))
            removed.append(uid)
        return removed, complaints


def _has_content(path: Path) -> bool:
    return path.is_mount() or not path.is_dir() or any(path.iterdir())
