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

from lifecycle.api.wire import Object
from lifecycle.cri.apis.runtime import VolumeFiles
from lifecycle.kubelet.config.directories import PodDirectories
from lifecycle.kubelet.container.runtime_helper import Mount
from lifecycle.kubelet.kubelet_pods.hosts_file import (
    ETC_HOSTS,
    host_name_and_domain,
    managed_hosts_file,
)
from lifecycle.kubelet.kubelet_pods.mounts import subpath_of
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

CLAIMED = "kubernetes.io/local-volume"
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

    async def _contents(self, pod: Object, name: str) -> Mapping[str, bytes]:
        if name == "etc-hosts":
            return {name: self._etc_hosts(pod).encode()}
        volumes = pod["spec"].get("volumes") or ()
        volume = next((each for each in volumes if each["name"] == name), None)
        if volume is None:
            raise LookupError(f"volume {name}")
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
        return {path: file.data for path, file in payload.items()}

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
