"""What a container sees of the file system: its image's layers, its own `/proc`, `/dev`
and `/sys`, and what is mounted in.

All of it is mounted inside the container's own mount namespace, so nothing has to be
unmounted afterwards: with the last process the namespace goes, and all its mounts with
it. The steps, in this order: keep mounts from spreading back to the machine, mount the
root, mount everything else below it, make device files, turn the root around with
`pivot_root`, and let the old one go.

Upstream: runc `libcontainer/rootfs_linux.go` (`prepareRootfs`, `mountToRootfs`,
`pivotRoot`, `maskPath`, `readonlyPath`). Left out: resolving links of an image that
lead outside of it is left to the kernel (`openat2` is not in Python), so a bind mount
onto a link in the image is refused; cgroup namespaces: a container sees its own groups
because nothing else is mounted.
"""

from __future__ import annotations

import os
import stat
from typing import Any

from lifecycle.cri.sandbox import syscalls as sys
from lifecycle.cri.sandbox.cgroups import Cgroup

Spec = dict[str, Any]

FLAGS = {
    "ro": sys.MS_RDONLY,
    "nosuid": sys.MS_NOSUID,
    "nodev": sys.MS_NODEV,
    "noexec": sys.MS_NOEXEC,
    "bind": sys.MS_BIND,
    "rbind": sys.MS_BIND | sys.MS_REC,
    "relatime": sys.MS_RELATIME,
    "strictatime": sys.MS_STRICTATIME,
    "rw": 0,
}
IMAGE = "image"
"""The type of a mount that is an image: see `image_volumes`."""
PROPAGATION = {
    "rprivate": sys.MS_PRIVATE | sys.MS_REC,
    "rslave": sys.MS_SLAVE | sys.MS_REC,
    "rshared": sys.MS_SHARED | sys.MS_REC,
}
DEVICES = {
    "null": (1, 3),
    "zero": (1, 5),
    "full": (1, 7),
    "random": (1, 8),
    "urandom": (1, 9),
    "tty": (5, 0),
}
LINKS = {
    "fd": "/proc/self/fd",
    "stdin": "/proc/self/fd/0",
    "stdout": "/proc/self/fd/1",
    "stderr": "/proc/self/fd/2",
    "ptmx": "pts/ptmx",
}


def mount_root(spec: Spec, rootfs: str) -> None:
    """`spec["root"]["layers"]` as one directory: `kind` `overlay` (lowest first) or
    `copy`, which is there already.
    """
    bidirectional = any(
        "rshared" in mount.get("options", ()) for mount in spec["mounts"]
    )
    sys.mount(
        "", "/", flags=sys.MS_REC | (sys.MS_SHARED if bidirectional else sys.MS_SLAVE)
    )
    root = spec["root"]
    if root.get("layers"):
        mount_layers(root, rootfs)
    else:
        sys.mount(rootfs, rootfs, flags=sys.MS_BIND | sys.MS_REC)
    sys.mount("", rootfs, flags=sys.MS_PRIVATE | sys.MS_REC)


def mount_layers(root: Spec, rootfs: str) -> None:
    """`root["layers"]` with one to write to on top."""
    # names relative to the store keep the option string short; the kernel takes one
    # page of it
    os.chdir(root["store"])
    lower = ":".join(reversed(root["layers"]))
    data = f"lowerdir={lower},upperdir={root['upper']},workdir={root['work']}"
    sys.mount("overlay", rootfs, "overlay", 0, data)


def _inside(rootfs: str, path: str) -> str:
    """`path` below the root, which `..` does not leave. Raises OSError if a link in the
    image leads elsewhere.
    """
    target = rootfs + os.path.normpath("/" + path.lstrip("/"))
    real = os.path.realpath(target)
    if real != target and not real.startswith(rootfs + "/"):
        raise OSError(
            40, "mount destination is a link that leads out of the container", path
        )
    return real


def _make_place(directory: bool, target: str) -> None:
    if directory:
        os.makedirs(target, exist_ok=True)
    elif not os.path.exists(target):
        os.makedirs(os.path.dirname(target), exist_ok=True)
        with open(target, "a"):
            pass


def mount_one(mount: Spec, rootfs: str) -> None:
    """One entry of the spec's `mounts`; those of type `cgroup` are
    `mount_cgroups`'s.
    """
    options = mount.get("options") or []
    target = _inside(rootfs, mount["destination"])
    flags, data, spread = 0, [], 0
    for option in options:
        if option in PROPAGATION:
            spread = PROPAGATION[option]
        elif option in FLAGS:
            flags |= FLAGS[option]
        else:
            data.append(option)
    source = mount["source"]
    if mount["type"] == IMAGE and "tree" not in mount:
        source = put_together(mount)
    directory = os.path.isdir(source) or not source.startswith("/")
    _make_place(mount.get("directory", directory), target)
    if mount["type"] not in ("bind", IMAGE):
        if data and mount["type"] == "devpts":
            data = [
                item for item in data if item != "newinstance"
            ]  # always so, since Linux 4.7
        sys.mount(source, target, mount["type"], flags & ~sys.MS_BIND, ",".join(data))
        return
    if "tree" in mount:  # see `id_mapped`
        sys.move_mount(mount["tree"], target)
    else:
        sys.mount(source, target, flags=sys.MS_BIND | sys.MS_REC)
    kept = flags & ~sys.MS_REC
    if kept & ~sys.MS_BIND:
        sys.mount(
            "", target, flags=kept | sys.MS_REMOUNT | sys.MS_BIND | _locked(target)
        )
    if spread:
        sys.mount("", target, flags=spread)


def put_together(mount: Spec) -> str:
    """In the container's mount namespace: the image as a directory of the machine; what
    of it is to be bound. Raises OSError for a link that leads out of it.
    """
    place = str(mount["source"])
    if mount.get("layers"):
        lower = ":".join(reversed(mount["layers"]))
        sys.mount("overlay", place, "overlay", sys.MS_RDONLY, f"lowerdir={lower}")
    source = os.path.realpath(os.path.join(place, mount["sub_path"]))
    if source != place and not source.startswith(place + "/"):
        raise OSError(40, "the path is a link that leads out of the image", source)
    return source


def mount_cgroups(mount: Spec, rootfs: str, cgroup: Cgroup) -> None:
    """The container's own groups and no others, so that it cannot leave them or make
    new ones.

    Version 1: a small file system with a directory per tree, and links for controllers
    that share one. Version 2: the group itself; a privileged container gets the whole
    tree. Writable only with the option `rw`.

    Upstream: runc `libcontainer/rootfs_linux.go` (`mountCgroupV1`, `mountCgroupV2`).
    """
    target = _inside(rootfs, mount["destination"])
    options = mount.get("options") or []
    quiet = sys.MS_NOSUID | sys.MS_NODEV | sys.MS_NOEXEC
    ending = quiet | (0 if "rw" in options else sys.MS_RDONLY)
    os.makedirs(target, exist_ok=True)
    if cgroup.unified:
        source = cgroup.root() if "rw" in options else cgroup.directories()[""]
        sys.mount(source, target, flags=sys.MS_BIND)
        sys.mount("", target, flags=ending | sys.MS_REMOUNT | sys.MS_BIND)
        return
    sys.mount("tmpfs", target, "tmpfs", quiet, "mode=755")
    for controller, directory in cgroup.directories().items():
        place = f"{target}/{cgroup.tree_name(controller)}"
        if not os.path.isdir(place):
            os.mkdir(place)
            sys.mount(directory, place, flags=sys.MS_BIND)
            sys.mount("", place, flags=ending | sys.MS_REMOUNT | sys.MS_BIND)
        if cgroup.tree_name(controller) != controller:
            os.symlink(cgroup.tree_name(controller), f"{target}/{controller}")
    sys.mount("", target, flags=ending | sys.MS_REMOUNT | sys.MS_BIND)


def _locked(target: str) -> int:
    """Flags of the mount underneath that a second mount of it must keep."""
    flags = os.statvfs(target).f_flag
    return flags & (sys.MS_NOSUID | sys.MS_NODEV | sys.MS_NOEXEC)


def make_devices(rootfs: str, extra: list[Spec]) -> None:
    """The few devices that every program expects, and the links to its own streams."""
    old = os.umask(0)
    trees = [device for device in extra if "tree" in device]
    for device in trees:  # whoever is root of a user namespace makes none
        path = _inside(rootfs, device["container_path"])
        _make_place(False, path)
        sys.move_mount(device["tree"], path)
    for name, (major, minor) in DEVICES.items():
        path = f"{rootfs}/dev/{name}"
        if not os.path.exists(path):
            os.mknod(path, 0o666 | stat.S_IFCHR, os.makedev(major, minor))
    for name, target in LINKS.items():
        if not os.path.lexists(f"{rootfs}/dev/{name}"):
            os.symlink(target, f"{rootfs}/dev/{name}")
    for device in extra if not trees else ():
        info = os.stat(device["host_path"])
        path = _inside(rootfs, device["container_path"])
        os.makedirs(os.path.dirname(path), exist_ok=True)
        os.mknod(path, info.st_mode, info.st_rdev)
    os.umask(old)


def enter(rootfs: str) -> None:
    """Turn the root around. The old root lies on top of the new one for a moment, then
    is gone: no directory needed.
    """
    os.chdir(rootfs)
    sys.pivot_root(".", ".")
    sys.mount(
        "", ".", flags=sys.MS_SLAVE | sys.MS_REC
    )  # letting go must not spread to the machine
    sys.umount(".")
    os.chdir("/")


def hide(masked: list[str], readonly: list[str]) -> None:
    """Cover what tells too much about the machine, and what would change it."""
    for path in readonly:
        if os.path.exists(path):
            sys.mount(path, path, flags=sys.MS_BIND | sys.MS_REC)
            sys.mount(
                "",
                path,
                flags=sys.MS_BIND | sys.MS_REMOUNT | sys.MS_RDONLY | _locked(path),
            )
    for path in masked:
        if os.path.isdir(path):
            sys.mount("tmpfs", path, "tmpfs", sys.MS_RDONLY)
        elif os.path.exists(path):
            sys.mount("/dev/null", path, flags=sys.MS_BIND)


def seal() -> None:
    """Make the root itself read-only."""
    sys.mount(
        "", "/", flags=sys.MS_BIND | sys.MS_REMOUNT | sys.MS_RDONLY | _locked("/")
    )
