"""What a container gets to see of its pod's volumes: the mounts that the runtime is
asked for.

Each `volumeMount` becomes one, or a piece of one with `subPath`; then come the pod's
`/etc/hosts` and a file for the container's last words, unless it mounts something there
itself. A sub-path must not lead out of its volume, not even over a link that a
container made: every step is looked at, and what was found is bound to a place of the
kubelet's own. Only an image cannot be looked into before the runtime has it: that mount
names the image, and the runtime minds the path.

Upstream: `pkg/kubelet/kubelet_pods.go` (`makeMounts`),
`pkg/kubelet/kuberuntime/kuberuntime_container.go` (`makeMounts`), v1.36. Left out:
block devices, recursive read-only mounts beyond saying so.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from pathlib import Path

from lifecycle.api.http.wire import Object
from lifecycle.kubelet.config.directories import DIRECTORY_MODE, PodDirectories
from lifecycle.kubelet.container.expansion import ExpansionError, expand
from lifecycle.kubelet.container.runtime_helper import Mount
from lifecycle.kubelet.kubelet_pods.hosts_file import ETC_HOSTS
from lifecycle.kubelet.volume.empty_dir import Mounter
from lifecycle.kubelet.volume.subpath import SubpathError, prepare_safe_subpath
from lifecycle.kubelet.volumemanager.volume_manager import IMAGE, MountedVolume

PROPAGATION = {
    "None": "PROPAGATION_PRIVATE",
    "HostToContainer": "PROPAGATION_HOST_TO_CONTAINER",
    "Bidirectional": "PROPAGATION_BIDIRECTIONAL",
}
DEFAULT_TERMINATION_MESSAGE_PATH = "/dev/termination-log"


class MountError(Exception):
    """The container cannot be made; the text is what `CreateContainerConfigError`
    says.
    """


def make_mounts(
    pod: Object,
    container: Object,
    volumes: Mapping[str, MountedVolume],
    directories: PodDirectories,
    mounter: Mounter,
    envs: Mapping[str, str],
    *,
    etc_hosts: bool,
) -> list[Mount]:
    """The mounts of a container's volumes, and of `/etc/hosts` if `etc_hosts` (the pod
    has an address). Raises MountError.
    """
    mounts: list[Mount] = []
    for index, volume_mount in enumerate(container.get("volumeMounts") or ()):
        name, target = volume_mount["name"], volume_mount["mountPath"]
        etc_hosts = etc_hosts and target != ETC_HOSTS
        volume = volumes.get(name)
        if volume is None:
            raise MountError(
                f'cannot find volume "{name}" to mount into container'
                f' "{container["name"]}"'
            )
        source = volume.path
        subpath = subpath_of(volume_mount, envs)
        if volume.kind == IMAGE:
            mounts.append(image_mount(pod, volume_mount, subpath))
            continue
        if subpath:
            uid = pod["metadata"]["uid"]
            place = (
                directories.volume_subpaths(uid) / name / container["name"] / str(index)
            )
            source = safe_subpath(
                volume, subpath, place, mounter, volume_mount["name"], container["name"]
            )
        mount: Mount = {
            "container_path": target if target.startswith("/") else f"/{target}",
            "host_path": str(source),
        }
        if volume_mount.get("readOnly") or volume.read_only:
            mount["readonly"] = True
        propagation = PROPAGATION[volume_mount.get("mountPropagation") or "None"]
        if propagation != "PROPAGATION_PRIVATE":
            mount["propagation"] = propagation
        mounts.append(mount)
    if etc_hosts:
        mounts.append(
            {
                "container_path": ETC_HOSTS,
                "host_path": str(directories.etc_hosts(pod["metadata"]["uid"])),
            }
        )
    return mounts


def image_mount(pod: Object, volume_mount: Object, subpath: str) -> Mount:
    """A volume that is an image: the runtime mounts its root, or `subpath` of it."""
    [source] = [
        volume["image"]
        for volume in pod["spec"]["volumes"]
        if volume["name"] == volume_mount["name"]
    ]
    target = volume_mount["mountPath"]
    mount: Mount = {
        "container_path": target if target.startswith("/") else f"/{target}",
        "image": {
            "image": source["reference"],
            "user_specified_image": source["reference"],
        },
        "readonly": True,
    }
    return mount | ({"image_sub_path": subpath} if subpath else {})


def subpath_of(mount: Object, envs: Mapping[str, str]) -> str:
    """The sub-path, with variables put in. Raises MountError."""
    path = str(mount.get("subPath") or "")
    if mount.get("subPathExpr"):
        missing: list[str] = []

        def known(name: str) -> str:
            if name not in envs:
                missing.append(name)
            return envs.get(name, "")

        try:
            path = expand(mount["subPathExpr"], known)
        except ExpansionError as error:
            raise MountError(str(error)) from None
        if missing:
            raise MountError(f'missing value for "{missing[0]}"')
    if path.startswith("/"):
        raise MountError(f"error SubPath `{path}` must not be an absolute path")
    if ".." in path.split("/"):
        raise MountError(f"unable to provision SubPath `{path}`: must not contain '..'")
    return path


def safe_subpath(
    volume: MountedVolume,
    subpath: str,
    place: Path,
    mounter: Mounter,
    mount_name: str,
    container_name: str,
) -> Path:
    """A path that stays inside the volume, bound to `place`; what does not exist is
    made a directory. Raises MountError.
    """
    try:
        return prepare_safe_subpath(volume.path, subpath, place, mounter)
    except SubpathError:
        raise MountError(
            f'failed to prepare subPath for volumeMount "{mount_name}" of container'
            f' "{container_name}"'
        ) from None
    except OSError:
        raise MountError(
            f'failed to create subPath directory for volumeMount "{mount_name}" of'
            f' container "{container_name}"'
        ) from None


def termination_mount(
    uid: str,
    container: Object,
    directories: PodDirectories,
    random_name: Callable[[], str] | None = None,
) -> Mount:
    """The file for last words, fresh for each run: `containers/<name>/<eight hex
    digits>`. Raises OSError.
    """
    name = random_name() if random_name is not None else f"{random.getrandbits(32):08x}"
    directory = directories.container(uid, container["name"])
    directory.mkdir(mode=DIRECTORY_MODE, parents=True, exist_ok=True)
    path = directory / name
    path.touch()
    path.chmod(0o666)
    target = container.get("terminationMessagePath") or DEFAULT_TERMINATION_MESSAGE_PATH
    return {"container_path": target, "host_path": str(path)}
