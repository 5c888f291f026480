"""What a container with a user namespace of its own is given, made while one still has
the machine's rights.

Inside, user 0 is somebody else on the machine, and files of the real user 0 would be
nobody's. *Idmapped mounts* show them with the numbers of the namespace: the disk says
user 0, the container sees its own root, and what it creates is user 0's on the disk.
(The layer that it writes to lasts as long as it does, and has the machine's numbers.)
Only who has rights over the file system may make them, so this happens before the user
namespace is entered, in a mount namespace in between: each source is opened as a mount
that is attached nowhere, and the container attaches it where it belongs. By then it
could not even reach the source: a directory on the way may be closed to it.

Device files cannot be made inside. The machine's own are mounted in.

Upstream: runc `libcontainer/mount_linux.go` (`mountFd`), `rootfs_linux.go`
(`createDevices` with `bindMountDeviceNode`), `init_linux.go` (`fixStdioPermissions`).
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable
from typing import Any

from lifecycle.cri.id_mappings import IDMappings
from lifecycle.cri.sandbox import rootfs
from lifecycle.cri.sandbox import syscalls as sys

Spec = dict[str, Any]

STAGE = "/tmp"
"""Where the root is mounted in the meantime: a directory that everybody may enter. What
the machine has there is covered in this one mount namespace.
"""


def mapped_tree(path: str, userns: int, recursive: bool = False) -> int:
    """The mount at `path` with mapped owners, attached nowhere. Raises OSError."""
    tree = sys.open_tree(path, recursive)
    try:
        sys.map_ids(tree, userns, recursive)
    except OSError as error:
        raise OSError(
            error.errno,
            f"failed to set MOUNT_ATTR_IDMAP on {path}: {error.strerror} (maybe the"
            " filesystem used doesn't support idmap mounts on this kernel?)",
        ) from None
    return tree


def _map_in_place(path: str, userns: int) -> None:
    tree = mapped_tree(path, userns)
    sys.move_mount(tree, path)
    os.close(tree)


def prepare(spec: Spec, bundle: str, userns: int, mappings: IDMappings) -> str:
    """Everything that needs the machine's rights; where the root is then. In a mount
    namespace of one's own. Raises OSError.

    Afterwards each bind mount of the spec, and each of its devices, has a `tree` to
    attach and says whether it is a `directory`; the root's layers are put together.
    """
    sys.mount("", "/", flags=sys.MS_REC | sys.MS_SLAVE)
    root = spec["root"]
    mapped: set[str] = set()
    for mount in spec["mounts"]:
        if mount["type"] not in ("bind", rootfs.IMAGE):
            continue
        source, is_image = str(mount["source"]), mount["type"] == rootfs.IMAGE
        if is_image and mount.get("layers"):
            os.chdir(root["store"])
            _map_all(mount["layers"], userns, mapped)
            source = rootfs.put_together(mount)
            mount["tree"] = sys.open_tree(source)
        elif is_image:
            source = rootfs.put_together(mount)
            mount["tree"] = mapped_tree(source, userns)
        elif mount["destination"] == "/dev/shm":  # made for everybody
            mount["tree"] = sys.open_tree(source)
        else:
            mount["tree"] = mapped_tree(source, userns, recursive=True)
        mount["directory"] = os.path.isdir(source)
    own = [{"path": f"/dev/{name}", "at": f"/dev/{name}"} for name in rootfs.DEVICES]
    extra = [
        {"path": device["host_path"], "at": device["container_path"]}
        for device in spec.get("devices") or []
    ]
    spec["devices"] = [
        {"container_path": device["at"], "tree": sys.open_tree(device["path"])}
        for device in (*own, *extra)
    ]
    if root.get("layers"):
        # the kernel's own user 0 makes things in `work`, so this one cannot be mapped
        os.chown(root["upper"], mappings.uids.on_host(0), mappings.gids.on_host(0))
        os.chdir(root["store"])
        _map_all(root["layers"], userns, mapped)
        rootfs.mount_layers(root, STAGE)
        del root["layers"]
    else:
        tree = mapped_tree(os.path.join(bundle, root["path"]), userns)
        sys.move_mount(tree, STAGE)
        os.close(tree)
    return STAGE


def _map_all(layers: Iterable[str], userns: int, mapped: set[str]) -> None:
    """Those that are not yet: what is mapped cannot be mapped once more."""
    for layer in layers:
        if layer not in mapped:
            _map_in_place(layer, userns)
            mapped.add(layer)


def own_streams(streams: Iterable[int], mappings: IDMappings, user: Spec) -> None:
    """Give pipes and terminals to the user that reads and writes them: programs open
    `/dev/stdout` anew.
    """
    uid = mappings.uids.on_host(user["uid"])
    gid = mappings.gids.on_host(user["gid"])
    for fd in streams:
        if stat.S_ISFIFO(os.fstat(fd).st_mode) or os.isatty(fd):
            os.fchown(fd, uid, gid)


def become_root() -> None:
    """Of the user namespace that was entered just now, where one is nobody yet."""
    os.setgroups([])
    os.setresgid(0, 0, 0)
    os.setresuid(0, 0, 0)
