"""The handful of Linux calls that make a container, which Python 3.11 does not have:
straight from libc.

Each raises OSError with the call's name, as runc's messages do. Numbers are those of
`<sched.h>`, `<sys/mount.h>`, `<linux/prctl.h>` and `<linux/capability.h>`; `pivot_root`
and `capset` have no wrapper and go by number.
"""

from __future__ import annotations

import ctypes
import errno
import os

CLONE_NEWNS = 0x00020000
CLONE_NEWCGROUP = 0x02000000
CLONE_NEWUTS = 0x04000000
CLONE_NEWIPC = 0x08000000
CLONE_NEWUSER = 0x10000000
CLONE_NEWPID = 0x20000000
CLONE_NEWNET = 0x40000000

NAMESPACE_FLAGS = {
    "user": CLONE_NEWUSER,
    "mount": CLONE_NEWNS,
    "cgroup": CLONE_NEWCGROUP,
    "uts": CLONE_NEWUTS,
    "ipc": CLONE_NEWIPC,
    "pid": CLONE_NEWPID,
    "network": CLONE_NEWNET,
}
NAMESPACE_FILES = {
    "user": "user",
    "mount": "mnt",
    "cgroup": "cgroup",
    "uts": "uts",
    "ipc": "ipc",
    "pid": "pid",
    "network": "net",
}

MS_RDONLY, MS_NOSUID, MS_NODEV, MS_NOEXEC = 1, 2, 4, 8
MS_REMOUNT, MS_BIND, MS_REC = 32, 4096, 16384
MS_PRIVATE, MS_SLAVE, MS_SHARED = 1 << 18, 1 << 19, 1 << 20
MS_RELATIME, MS_STRICTATIME = 1 << 21, 1 << 24
MNT_DETACH = 2

PR_SET_DUMPABLE = 4
PR_SET_PDEATHSIG, PR_SET_KEEPCAPS, PR_CAPBSET_DROP = 1, 8, 24
PR_SET_CHILD_SUBREAPER, PR_SET_NO_NEW_PRIVS = 36, 38
PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL = 47, 4

OPEN_TREE_CLONE, MOVE_MOUNT_F_EMPTY_PATH, MOVE_MOUNT_T_EMPTY_PATH = 1, 4, 64
MOUNT_ATTR_IDMAP = 0x00100000
AT_FDCWD, AT_EMPTY_PATH, AT_RECURSIVE = -100, 0x1000, 0x8000

_OPEN_TREE, _MOVE_MOUNT, _MOUNT_SETATTR = 428, 429, 442
"""Calls this young have one number on every machine."""

_NUMBERS = {
    "x86_64": {"pivot_root": 155, "capset": 126},
    "aarch64": {"pivot_root": 41, "capset": 91},
}
_CAPABILITY_VERSION_3 = 0x20080522

_libc = ctypes.CDLL(None, use_errno=True)


def _check(name: str, result: int, path: str | None = None) -> None:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{name}: {os.strerror(number).lower()}", path)


def _number(name: str) -> int:
    try:
        return _NUMBERS[os.uname().machine][name]
    except KeyError:
        raise OSError(
            38, f"{name} has no known number on {os.uname().machine}"
        ) from None


def unshare(flags: int) -> None:
    """Leave the namespaces of these kinds for new ones of one's own. `CLONE_NEWPID`
    takes effect for children.
    """
    _check("unshare", _libc.unshare(flags))


def setns(fd: int, kind: int) -> None:
    """Join the namespace that `fd` (an opened `/proc/PID/ns/…`) stands for."""
    _check("setns", _libc.setns(fd, kind))


def mount(
    source: str, target: str, kind: str = "", flags: int = 0, data: str = ""
) -> None:
    """`mount(2)`."""
    arguments = [text.encode() if text else None for text in (source, target, kind)]
    _check(
        "mount",
        _libc.mount(*arguments, ctypes.c_ulong(flags), data.encode() if data else None),
        target,
    )


def umount(target: str, flags: int = MNT_DETACH) -> None:
    """`umount2(2)`; the default takes it out of sight at once, whoever still uses
    it.
    """
    _check("umount", _libc.umount2(target.encode(), flags), target)


def pivot_root(new: str, old: str) -> None:
    """Make `new` the root directory and hang the former one below it at `old`."""
    _check(
        "pivot_root",
        _libc.syscall(_number("pivot_root"), new.encode(), old.encode()),
        new,
    )


def open_tree(path: str, recursive: bool = False) -> int:
    """A copy of the mount at `path` that is attached nowhere, as a descriptor;
    `recursive`: with the mounts below.
    """
    flags = OPEN_TREE_CLONE | os.O_CLOEXEC | (AT_RECURSIVE if recursive else 0)
    fd = _libc.syscall(_OPEN_TREE, AT_FDCWD, path.encode(), flags)
    _check("open_tree", fd, path)
    return int(fd)


def move_mount(tree: int, target: str | int) -> None:
    """Attach what `open_tree` has copied, at a path or at what is open."""
    flags, place, path = MOVE_MOUNT_F_EMPTY_PATH, AT_FDCWD, target
    if isinstance(target, int):
        flags, place, path = flags | MOVE_MOUNT_T_EMPTY_PATH, target, ""
    moved = _libc.syscall(_MOVE_MOUNT, tree, b"", place, str(path).encode(), flags)
    _check("move_mount", moved, str(target))


def map_ids(tree: int, user_namespace: int, recursive: bool = False) -> None:
    """Show the owners of files below an unattached mount as the user namespace's maps
    say: what belongs to user 0 on the disk belongs to the namespace's user 0.
    """
    attributes = (ctypes.c_uint64 * 4)(MOUNT_ATTR_IDMAP, 0, 0, user_namespace)
    flags = AT_EMPTY_PATH | (AT_RECURSIVE if recursive else 0)
    size = ctypes.c_size_t(ctypes.sizeof(attributes))
    done = _libc.syscall(_MOUNT_SETATTR, tree, b"", flags, attributes, size)
    _check("mount_setattr", done)


def can_map_ids() -> bool:
    """Whether the kernel has `mount_setattr` (Linux 5.12) at all: asked with a size
    that it has to refuse.
    """
    _libc.syscall(_MOUNT_SETATTR, -1, b"", 0, None, ctypes.c_size_t(0))
    return ctypes.get_errno() != errno.ENOSYS


def sethostname(name: str) -> None:
    """In the UTS namespace one is in."""
    data = name.encode()
    _check("sethostname", _libc.sethostname(data, len(data)))


def prctl(option: int, value: int = 0, second: int = 0) -> None:
    """With one or two arguments."""
    arguments = (ctypes.c_ulong(value), ctypes.c_ulong(second))
    _check("prctl", _libc.prctl(option, *arguments, 0, 0))


def set_capabilities(effective: int, permitted: int, inheritable: int = 0) -> None:
    """`capset(2)` for this process; each a set of bits by capability number."""
    header = (ctypes.c_uint32 * 2)(_CAPABILITY_VERSION_3, 0)
    low, high = 0xFFFFFFFF, 32
    data = (ctypes.c_uint32 * 6)(
        effective & low,
        permitted & low,
        inheritable & low,
        effective >> high,
        permitted >> high,
        inheritable >> high,
    )
    _check("capset", _libc.syscall(_number("capset"), header, data))
