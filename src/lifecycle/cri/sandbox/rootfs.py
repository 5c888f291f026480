"""What a container sees of the file system: its image's layers, its own `/proc`, `/dev`
and `/sys`, and what is mounted in.

All of it is mounted inside the container's own mount namespace, so nothing has to be
unmounted afterwards: with the last process the namespace goes, and all its mounts with
it. The steps, in this order: keep mounts from spreading back to the machine, mount the
root, mount everything else below it, make device files, turn the root around with
`pivot_root`, and let the old one go.

Upstream: runc `libcontainer/rootfs_linux.go` (`prepareRootfs`, `mountToRootfs`,
`pivotRoot`, `maskPath`, `readonlyPath`). Left out: cgroup namespaces: a container sees
its own groups because nothing else is mounted.
"""

from __future__ import annotations

import os
import stat
from typing import Any

from lifecycle.cri.sandbox import syscalls as sys
from lifecycle.cri.sandbox.cgroups import Cgroup
from lifecycle.cri.sandbox.in_root import by_handle, opened, path_of

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
IN_PROC = frozenset(
    f"/proc/{name}"
    for name in (
        "cpuinfo",
        "diskstats",
        "loadavg",
        "meminfo",
        "net/dev",
        "slabinfo",
        "stat",
        "swaps",
        "sys/crypto/fips_enabled",
        "sys/kernel/ns_last_pid",
        "uptime",
    )
)
"""What others show in a way of their own (LXCFS). Upstream: `checkProcMount`."""
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


def mount_one(mount: Spec, rootfs: str) -> None:
    """One entry of the spec's `mounts`; those of type `cgroup` are
    `mount_cgroups`'s.
    """
    options = mount.get("options") or []
    flags, data, spread = 0, [], 0
    for option in options:
        if option in PROPAGATION:
            spread = PROPAGATION[option]
        elif option in FLAGS:
            flags |= FLAGS[option]
        else:
            data.append(option)
    source, target = mount["source"], mount["destination"]
    if mount["type"] == IMAGE and "tree" not in mount:
        source = put_together(mount)
    directory = mount.get("directory", os.path.isdir(source) or source[:1] != "/")
    with opened(rootfs, target, directory) as place:
        if mount["type"] not in ("bind", IMAGE):
            if data and mount["type"] == "devpts":
                data = [
                    item for item in data if item != "newinstance"
                ]  # always so, since Linux 4.7
            kind, alone = mount["type"], flags & ~sys.MS_BIND
            if kind in ("proc", "sysfs") and path_of(place) != rootfs + target:
                raise OSError(20, "must be mounted on ordinary directory", target)
            sys.mount(source, by_handle(place), kind, alone, ",".join(data))
            return
        _refuse_in_proc(path_of(place).removeprefix(rootfs), source)
        if "tree" in mount:  # see `id_mapped`
            sys.move_mount(mount["tree"], place)
        else:
            sys.mount(source, by_handle(place), flags=sys.MS_BIND | sys.MS_REC)
    kept = flags & ~sys.MS_REC
    with opened(rootfs, target, directory) as place:
        change_mount(place, kept, spread)


def _refuse_in_proc(target: str, source: str) -> None:
    """What is checked and hidden by its name in `/proc` has to be the kernel's.
    Upstream: `checkProcMount`.
    """
    if not f"{target}/".startswith("/proc/") or target in IN_PROC:
        return
    if target == "/proc" and os.stat(source).st_dev == os.stat("/proc").st_dev:
        return  # the machine's own: whoever may mount that needs no way around
    raise OSError(1, "cannot be mounted because it is inside /proc", target)


def change_mount(place: int, flags: int, spread: int = 0) -> None:
    """Of the mount that is on top at a place. Raises OSError if none is: the place is
    another one now.
    """
    name = by_handle(place)
    if flags & ~sys.MS_BIND:
        sys.mount("", name, flags=flags | sys.MS_REMOUNT | sys.MS_BIND | _locked(name))
    if spread:
        sys.mount("", name, flags=spread)


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
    options = mount.get("options") or []
    quiet = sys.MS_NOSUID | sys.MS_NODEV | sys.MS_NOEXEC
    ending = quiet | (0 if "rw" in options else sys.MS_RDONLY)
    with opened(rootfs, mount["destination"]) as bare:
        if cgroup.unified:
            source = cgroup.root() if "rw" in options else cgroup.directories()[""]
            sys.mount(source, by_handle(bare), flags=sys.MS_BIND)
        else:
            sys.mount("tmpfs", by_handle(bare), "tmpfs", quiet, "mode=755")
    with opened(rootfs, mount["destination"]) as top:
        if not cgroup.unified:
            _mount_trees(cgroup, by_handle(top), ending)
        change_mount(top, ending)


def _mount_trees(cgroup: Cgroup, target: str, flags: int) -> None:
    for controller, directory in cgroup.directories().items():
        place = f"{target}/{cgroup.tree_name(controller)}"
        if not os.path.isdir(place):
            os.mkdir(place)
            sys.mount(directory, place, flags=sys.MS_BIND)
            sys.mount("", place, flags=flags | sys.MS_REMOUNT | sys.MS_BIND)
        if cgroup.tree_name(controller) != controller:
            os.symlink(cgroup.tree_name(controller), f"{target}/{controller}")


def _locked(target: str) -> int:
    """Flags of the mount underneath that a second mount of it must keep."""
    flags = os.statvfs(target).f_flag
    return flags & (sys.MS_NOSUID | sys.MS_NODEV | sys.MS_NOEXEC)


def make_devices(rootfs: str, extra: list[Spec]) -> None:
    """The few devices that every program expects, and the links to its own streams."""
    old = os.umask(0)
    trees = [device for device in extra if "tree" in device]
    for device in trees:  # whoever is root of a user namespace makes none
        with opened(rootfs, device["container_path"], directory=False) as place:
            sys.move_mount(device["tree"], place)
    with opened(rootfs, "/dev") as dev:
        present = set(os.listdir(by_handle(dev)))
        for name, numbers in DEVICES.items():
            if name not in present:
                device_number = os.makedev(*numbers)
                os.mknod(name, 0o666 | stat.S_IFCHR, device_number, dir_fd=dev)
        for name, target in LINKS.items():
            if name not in present:
                os.symlink(target, name, dir_fd=dev)
    for device in extra if not trees else ():
        info = os.stat(device["host_path"])
        parent, name = os.path.split(device["container_path"])
        with opened(rootfs, parent) as place:
            os.mknod(name, info.st_mode, info.st_rdev, dir_fd=place)
    os.umask(old)


def make_directory(rootfs: str, path: str) -> None:
    """The one that the program is to begin in. Upstream: `prepareRootfs`."""
    with opened(rootfs, path):
        pass


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
