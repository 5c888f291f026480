"""The volumes of a node without a disk: where they would be, and what would be in them.

Nothing is written. The runtime is told where a pod's files can be asked for, and asks
when a program of the pod reads one: it is then what the API says at that moment, and
pods that read nothing cost nothing.

Ours; the contents are those of `volume/payloads.py`, the paths those of
`config/directories.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path

from lifecycle.api.http.wire import Object
from lifecycle.cri.apis.volume_files import VolumeContent, VolumeFile, VolumeFiles
from lifecycle.kubelet.config.directories import PodDirectories
from lifecycle.kubelet.container.runtime_helper import Mount
from lifecycle.kubelet.kubelet_pods.hosts_file import (
    ETC_HOSTS,
    host_name_and_domain,
    managed_hosts_file,
)
from lifecycle.kubelet.kubelet_pods.mounts import subpath_of
from lifecycle.kubelet.volume.atomic_writer import Payload
from lifecycle.kubelet.volume.empty_dir import PERMISSIONS
from lifecycle.kubelet.volume.local import LOCAL_PLUGIN
from lifecycle.kubelet.volume.ownership import ownership_mask
from lifecycle.kubelet.volume.payloads import (
    API_VOLUMES,
    GetObject,
    GetToken,
    VolumeError,
    volume_payload,
)
from lifecycle.kubelet.volumemanager.volume_manager import PLUGINS

ROOT_DIR = Path("/var/lib/kubelet")
"""Where a kubelet has its directories if nobody says otherwise."""

TMPFS_PERMISSIONS = 0o1777
"""Of a directory in memory."""

CLAIMED = LOCAL_PLUGIN
"""What stands for the plugin of every claim: a directory, empty at first."""


class PaperVolumes:
    """One node's. `files` is the runtime's side; `status` a pod's addresses."""

    def __init__(
        self,
        files: VolumeFiles,
        get: GetObject,
        get_token: GetToken,
        allocatable: Mapping[str, str],
        status: Callable[[Object], Object],
    ) -> None:
        self._files = files
        self._get = get
        self._get_token = get_token
        self._allocatable = allocatable
        self._status = status
        self._directories = PodDirectories(ROOT_DIR)

    def publish(self, pod: Object) -> None:
        """The pod's files can be read from now on, as this version of it says."""
        self._files.publish(pod["metadata"]["uid"], partial(self._contents, pod))

    async def withdraw(self, uid: str) -> None:
        """The pod is gone."""
        await self._files.withdraw(uid)

    async def _contents(self, pod: Object, name: str) -> VolumeContent:
        if name == "etc-hosts":
            return VolumeContent({name: VolumeFile(self._etc_hosts(pod).encode())})
        volumes = pod["spec"].get("volumes") or ()
        volume = next((each for each in volumes if each["name"] == name), None)
        if volume is None:
            raise LookupError(f"volume {name}")
        group = (pod["spec"].get("securityContext") or {}).get("fsGroup")
        if not any(kind in volume for kind in API_VOLUMES):
            medium = (volume.get("emptyDir") or {}).get("medium")
            return _content({}, medium == "Memory", group, read_only=False)
        try:
            payload = await volume_payload(
                volume,
                pod,
                self._status(pod),
                self._allocatable,
                self._get,
                self._get_token,
            )
        except VolumeError as error:
            raise LookupError(f"volume {name}: {error}") from None
        return _content(payload, "configMap" not in volume, group, read_only=True)

    def _etc_hosts(self, pod: Object) -> str:
        addresses = [each["ip"] for each in self._status(pod).get("podIPs") or ()]
        return managed_hosts_file(
            addresses,
            *host_name_and_domain(pod),
            pod["spec"].get("hostAliases") or (),
        )

    def mounts(
        self, pod: Object, container: Object, envs: Mapping[str, str]
    ) -> tuple[Mount, ...]:
        """What a container would have mounted. Raises MountError."""
        uid, spec = pod["metadata"]["uid"], pod["spec"]
        volumes = {volume["name"]: volume for volume in spec.get("volumes") or ()}
        mounts: list[Mount] = []
        targets = set()
        for volume_mount in container.get("volumeMounts") or ():
            below = subpath_of(volume_mount, envs)
            source = self._place(uid, volumes.get(volume_mount["name"]) or {})
            mount: Mount = {
                "container_path": volume_mount["mountPath"],
                "host_path": f"{source}/{below}" if below else source,
            }
            if volume_mount.get("readOnly"):
                mount["readonly"] = True
            mounts.append(mount)
            targets.add(volume_mount["mountPath"])
        if ETC_HOSTS not in targets and not spec.get("hostNetwork"):
            path = str(self._directories.etc_hosts(uid))
            mounts.append({"container_path": ETC_HOSTS, "host_path": path})
        return tuple(mounts)

    def _place(self, uid: str, volume: Object) -> str:
        if volume.get("hostPath"):
            return str(volume["hostPath"]["path"])
        kind = next((kind for kind in (*API_VOLUMES, "emptyDir") if kind in volume), "")
        plugin = PLUGINS.get(kind, CLAIMED)
        return str(self._directories.volume(uid, plugin, volume.get("name", "")))


def _content(
    payload: Payload, in_memory: bool, fs_group: int | None, *, read_only: bool
) -> VolumeContent:
    """A volume as its plugin makes it, given to a group if the pod has one."""
    file_bits = directory_bits = 0
    if fs_group is not None:
        file_bits = ownership_mask(False, read_only)
        directory_bits = ownership_mask(True, read_only)
    group = fs_group or 0
    files = {
        path: VolumeFile(file.data, file.mode | file_bits, file.uid or 0, group)
        for path, file in payload.items()
    }
    mode = TMPFS_PERMISSIONS if in_memory else PERMISSIONS
    return VolumeContent(files, mode | directory_bits, group, in_memory)
