"""The volume manager: what pods want mounted, what is mounted, and the way from one to
the other.

`wait_for_attach_and_mount` is what syncPod calls before anything of the pod starts:
every volume that a container mounts is set up, or the pod waits. It is called at every
sync, and each time writes anew what has changed in ConfigMaps, Secrets and tokens. A
volume that failed is not tried again before its back-off is over (half a second,
doubled up to two minutes). Of one whose claim leads nowhere nobody can say what it is;
that is told at once. What is mounted already keeps nobody waiting, even if it can no
longer be written anew.

`unmount_volumes` is the other end: a pod that has terminated keeps nothing.

Upstream: `pkg/kubelet/volumemanager/volume_manager.go` (`WaitForAttachAndMount`,
`WaitForUnmount`), `reconciler/reconciler.go`, `cache/`,
`pkg/util/goroutinemap/exponentialbackoff`, v1.36. Upstream's desired and actual state
are brought together by a loop every 100 ms; here the pod's own sync does it. Left out:
attaching (see `attachable.py`), devices, resizing.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from weakref import WeakValueDictionary

from lifecycle.api.http.wire import Object
from lifecycle.api.loop.clock import Clock
from lifecycle.api.quantity import parse_quantity
from lifecycle.kubelet.config.directories import (
    PodDirectories,
    escape_qualified_name,
)
from lifecycle.kubelet.volume import empty_dir, host_path, local
from lifecycle.kubelet.volume.atomic_writer import AtomicWriter
from lifecycle.kubelet.volume.empty_dir import EMPTY_DIR_PLUGIN, Mounter, NotedMounter
from lifecycle.kubelet.volume.ownership import (
    set_large_volume_ownership,
    set_volume_ownership,
)
from lifecycle.kubelet.volume.payloads import (
    API_VOLUMES,
    GetObject,
    GetToken,
    VolumeError,
    volume_payload,
)
from lifecycle.kubelet.volume.subpath import clean_subpaths
from lifecycle.kubelet.volumemanager.attachable import (
    NotAttached,
    Unprocessable,
    claimed_volume,
    mount_device,
    verify_controller_attached_volume,
)
from lifecycle.kubelet.volumemanager.pending_operations import (
    Operation,
    PendingOperations,
    unprocessed,
)
from lifecycle.kubelet.volumemanager.references import mounted_volumes

PLUGINS = {
    "emptyDir": EMPTY_DIR_PLUGIN,
    "configMap": "kubernetes.io/configmap",
    "secret": "kubernetes.io/secret",
    "projected": "kubernetes.io/projected",
    "downwardAPI": "kubernetes.io/downward-api",
    "hostPath": "kubernetes.io/host-path",
}
READ_ONLY_PLUGINS = frozenset(API_VOLUMES)
IMAGE = "image"
"""The kind that has nothing on the node's disk: the runtime mounts the image itself,
once the kubelet has had it pulled. Upstream: `pkg/volume/image/image.go`.
"""


@dataclass(slots=True)
class MountedVolume:
    """One entry of the actual state. `path` is what containers get mounted; `meta` the
    wrapping `emptyDir`'s notes. `claimed_read_only`: the pod has claimed it so.
    """

    name: str
    kind: str
    path: Path
    meta: Path | None = None
    claimed_read_only: bool = False

    @property
    def read_only(self) -> bool:
        """Whether containers may only read it, whatever they ask for."""
        return (
            self.claimed_read_only
            or self.kind in READ_ONLY_PLUGINS
            or self.kind == IMAGE
        )


class PersistentVolumeError(VolumeError):
    """What is behind a claim cannot be mounted. It is called by its own name then."""

    def __init__(self, volume: str, message: str) -> None:
        super().__init__(message)
        self.volume = volume


@dataclass(slots=True)
class MountResult:
    """How it went. `failures`: volume (the PersistentVolume, if it is claimed) and
    reason, of tries made just now.
    `unprocessed`: what is said of claims that lead nowhere. `retry_after`: seconds,
    None if all is mounted.
    """

    failures: list[tuple[str, str]] = field(default_factory=list)
    unprocessed: str = ""
    retry_after: float | None = None


class VolumeManager:
    """One per node. `allocatable` is the node's, `volumes_attached` reads the node's
    status, `status` a pod's addresses.
    """

    def __init__(
        self,
        directories: PodDirectories,
        get: GetObject,
        get_token: GetToken,
        clock: Clock,
        *,
        mounter: Mounter | None = None,
        allocatable: Mapping[str, str] | None = None,
        volumes_attached: Callable[[], list[Object]] = list,
        status: Callable[[Object], Object] = lambda pod: pod.get("status") or {},
        rng: random.Random | None = None,
    ) -> None:
        self._directories = directories
        self._get = get
        self._get_token = get_token
        self._clock = clock
        self.mounter: Mounter = mounter or NotedMounter()
        self._allocatable = allocatable or {}
        self._volumes_attached = volumes_attached
        self._status = status
        self._rng = rng or random.Random()
        self.mounted: dict[str, dict[str, MountedVolume]] = {}
        """The actual state: by pod uid and volume name."""
        self._pending = PendingOperations()
        self._first: WeakValueDictionary[Path, asyncio.Lock] = WeakValueDictionary()
        """Held by a pod that is about to be given a local disk. Upstream:
        `volumeLocks`.
        """

    async def wait_for_attach_and_mount(self, pod: Object) -> MountResult:
        """Set up and refresh the pod's volumes, as far as possible now."""
        uid, now = pod["metadata"]["uid"], self._clock.now()
        result, told, names = MountResult(), False, []
        for volume in mounted_volumes(pod):
            name = volume["name"]
            names.append(name)
            if not self._pending.is_due(uid, name, now):
                continue
            try:
                await self._set_up(pod, volume)
                self._pending.succeeded(uid, name)
            except (VolumeError, OSError, ValueError) as error:
                of = error.volume if isinstance(error, PersistentVolumeError) else name
                result.failures.append((of, str(error)))
                self._pending.failed(uid, name, Operation.MOUNT, str(error), now)
            except NotAttached:
                self._pending.failed(uid, name, Operation.ATTACH, "", now)
            except Unprocessable as error:
                if name not in self.mounted.get(uid, {}):
                    why = str(error)
                    self._pending.failed(uid, name, Operation.PROCESS, why, now)
                    told = True
        mounted = self.mounted.get(uid, {})
        missing = (name for name in names if name not in mounted)
        unmounted = self._pending.failures(uid, missing)
        if told:
            result.unprocessed = unprocessed(unmounted)
        if unmounted:
            soonest = min(failure.again_at for failure in unmounted.values())
            result.retry_after = max(soonest - now, 0.1)
        return result

    def volumes_for_pod(self, uid: str) -> Mapping[str, MountedVolume]:
        """What is mounted for a pod, by volume name. Upstream:
        `GetMountedVolumesForPod`.
        """
        return self.mounted.get(uid, {})

    def adopt(self, uid: str) -> None:
        """Find on the disk what an earlier kubelet mounted for a pod. Upstream:
        `reconstruct.go`.
        """
        plugins = {
            escape_qualified_name(plugin): kind for kind, plugin in PLUGINS.items()
        }
        volumes = self.mounted.setdefault(uid, {})
        for path in self._directories.volume_paths(uid):
            kind = plugins.get(path.parent.name, "")
            name = path.name if kind == "emptyDir" else f"wrapped_{path.name}"
            if kind and path.name not in volumes:
                meta = self._directories.plugin(uid, EMPTY_DIR_PLUGIN, name)
                volumes[path.name] = MountedVolume(path.name, kind, path, meta)

    def unmount_volumes(self, uid: str) -> None:
        """Take everything of a pod down. Again does no harm. Raises VolumeError,
        OSError.
        """
        volumes = self.mounted.get(uid, {})
        clean_subpaths(self._directories.volume_subpaths(uid), self.mounter)
        local.tear_down(self._directories, uid)
        for name in list(volumes):
            volume = volumes[name]
            if volume.meta is not None:
                empty_dir.tear_down(volume.path, volume.meta, self.mounter)
            del volumes[name]
        self.mounted.pop(uid, None)
        self._pending.forget(uid)

    # -- one volume --------------------------------------------------------------------

    async def _set_up(self, pod: Object, volume: Object) -> None:
        kind = next((kind for kind in PLUGINS if kind in volume), "")
        if kind == "hostPath" and volume["hostPath"] is not None:
            self._host_path(pod, volume["name"], volume["hostPath"])
        elif kind == "emptyDir":
            self._empty_dir(pod, volume)
        elif kind:
            await self._written(pod, volume, kind)
        elif volume.get(IMAGE) is not None:
            self._note(pod, MountedVolume(volume["name"], IMAGE, Path()))
        elif "persistentVolumeClaim" in volume or "ephemeral" in volume:
            await self._claimed(pod, volume)
        else:
            raise VolumeError(f"no volume plugin matched for volume {volume['name']}")

    def _host_path(
        self, pod: Object, name: str, source: Object, *, read_only: bool = False
    ) -> None:
        path = Path(source["path"])
        host_path.check_type(path, source.get("type") or "")
        self._note(pod, MountedVolume(name, "hostPath", path, None, read_only))

    def _empty_dir(self, pod: Object, volume: Object) -> None:
        uid, name, source = (
            pod["metadata"]["uid"],
            volume["name"],
            volume["emptyDir"] or {},
        )
        if name in self.mounted.get(uid, {}):
            return
        path = self._directories.volume(uid, EMPTY_DIR_PLUGIN, name)
        meta = self._directories.plugin(uid, EMPTY_DIR_PLUGIN, name)
        size = empty_dir.memory_size(pod, source.get("sizeLimit"), self._node_memory())
        empty_dir.set_up(path, meta, source.get("medium") or "", size, self.mounter)
        self._own(pod, path, read_only=False)
        self._note(pod, MountedVolume(name, "emptyDir", path, meta))

    async def _written(self, pod: Object, volume: Object, kind: str) -> None:
        uid, name = pod["metadata"]["uid"], volume["name"]
        payload = await volume_payload(
            volume,
            pod,
            self._status(pod),
            self._allocatable,
            self._get,
            self._get_token,
        )
        path = self._directories.volume(uid, PLUGINS[kind], name)
        meta = self._directories.plugin(uid, EMPTY_DIR_PLUGIN, f"wrapped_{name}")
        medium = "" if kind == "configMap" else "Memory"
        empty_dir.set_up(
            path,
            meta,
            medium,
            empty_dir.memory_size(pod, None, self._node_memory()),
            self.mounter,
        )
        AtomicWriter(path, self._rng).write(
            payload, self._clock.now(), partial(self._own, pod, path, read_only=True)
        )
        self._note(pod, MountedVolume(name, kind, path, meta))

    async def _claimed(self, pod: Object, volume: Object) -> None:
        persistent_volume = await claimed_volume(volume, pod, self._get)
        try:
            await self._persistent(pod, volume, persistent_volume)
        except (VolumeError, OSError) as error:
            raise PersistentVolumeError(
                persistent_volume["metadata"]["name"], str(error)
            ) from error

    async def _persistent(
        self, pod: Object, volume: Object, persistent_volume: Object
    ) -> None:
        spec, name = persistent_volume["spec"], volume["name"]
        read_only = bool((volume.get("persistentVolumeClaim") or {}).get("readOnly"))
        if spec.get("hostPath"):
            self._host_path(pod, name, spec["hostPath"], read_only=read_only)
            return
        if spec.get("local"):
            await self._local(pod, name, persistent_volume, read_only=read_only)
            return
        verify_controller_attached_volume(persistent_volume, self._volumes_attached())
        mount_device(persistent_volume)

    async def _local(
        self, pod: Object, name: str, persistent_volume: Object, *, read_only: bool
    ) -> None:
        uid, meta = pod["metadata"]["uid"], persistent_volume["metadata"]
        if name in self.mounted.get(uid, {}):
            return
        wanted = Path(persistent_volume["spec"]["local"]["path"])

        async def own() -> None:
            context = pod["spec"].get("securityContext") or {}
            if not read_only:
                await set_large_volume_ownership(
                    wanted,
                    context.get("fsGroup"),
                    read_only=False,
                    policy=context.get("fsGroupChangePolicy") or "Always",
                )

        # who is first gives it away, and the second finds that done
        async with self._first.setdefault(wanted, asyncio.Lock()):
            path = await local.set_up(self._directories, uid, meta["name"], wanted, own)
        self._note(pod, MountedVolume(name, "local", path, None, read_only))

    def _own(self, pod: Object, path: Path, *, read_only: bool) -> None:
        group = (pod["spec"].get("securityContext") or {}).get("fsGroup")
        set_volume_ownership(path, group, read_only=read_only)

    def _node_memory(self) -> int:
        return parse_quantity(str(self._allocatable.get("memory", "0"))).value()

    def _note(self, pod: Object, volume: MountedVolume) -> None:
        self.mounted.setdefault(pod["metadata"]["uid"], {})[volume.name] = volume
