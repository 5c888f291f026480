"""`hostPath`: a piece of the node itself. Nothing is mounted; what is there is only
looked at, or made.

Upstream: `pkg/volume/hostpath/host_path.go` (`checkType`, `checkTypeInternal`), v1.36.
"""

from __future__ import annotations

import os
import stat
from pathlib import Path

from lifecycle.kubelet.volume.payloads import VolumeError

_CHECKS = {
    "Socket": (stat.S_ISSOCK, "a socket file"),
    "CharDevice": (stat.S_ISCHR, "a character device"),
    "BlockDevice": (stat.S_ISBLK, "a block device"),
}


_USUAL = """
/ /bin /boot /dev /dev/shm /etc /etc/cni/net.d /etc/kubernetes
/etc/kubernetes/manifests /etc/kubernetes/pki /etc/ssl /etc/ssl/certs /home /lib
/lib/modules /media /mnt /opt /opt/cni/bin /proc /root /run /run/containerd /sbin /srv
/sys /sys/fs/cgroup /tmp /usr /usr/bin /usr/local /usr/share
/usr/share/ca-certificates /var /var/lib /var/lib/containerd /var/lib/kubelet
/var/lib/kubelet/pods /var/local /var/log /var/log/containers /var/log/pods /var/run
/var/tmp
"""
_DIRECTORIES = frozenset(_USUAL.split())
_FILES = frozenset(
    [
        "/etc/hostname",
        "/etc/hosts",
        "/etc/os-release",
        "/etc/passwd",
        "/etc/resolv.conf",
        "/etc/localtime",
    ]
)
_SOCKETS = frozenset(
    {"/run/containerd/containerd.sock", "/var/run/containerd/containerd.sock"}
)
_DEVICES = frozenset(
    {"/dev/null", "/dev/zero", "/dev/random", "/dev/urandom", "/dev/tty", "/dev/fuse"}
)


def check_type_on_paper(path: str, kind: str) -> None:
    """The same on a node that is not there: it has what any Linux node has. Raises
    VolumeError.
    """
    there = {
        "Directory": (_DIRECTORIES, "a directory"),
        "File": (_FILES, "a file"),
        "Socket": (_SOCKETS, _CHECKS["Socket"][1]),
        "CharDevice": (_DEVICES, _CHECKS["CharDevice"][1]),
        "BlockDevice": (frozenset(), _CHECKS["BlockDevice"][1]),
    }.get(kind)
    if there is not None and (path.rstrip("/") or "/") not in there[0]:
        raise VolumeError(f"hostPath type check failed: {path} is not {there[1]}")


def check_type(path: Path, kind: str) -> None:
    """Make sure that a path is what `hostPath.type` says, making it where that is
    allowed. Raises VolumeError.
    """
    if ".." in path.parts:
        raise VolumeError(f"invalid HostPath `{path}`: must not contain '..'")
    if not kind:
        return
    try:
        if kind == "DirectoryOrCreate" and not path.exists():
            path.mkdir(parents=True, mode=0o755)
            return
        if kind == "FileOrCreate" and not path.exists():
            os.close(os.open(path, os.O_CREAT | os.O_WRONLY, 0o644))
            return
    except OSError as error:
        raise VolumeError(
            f"{'mkdir' if 'Directory' in kind else 'open'} {path}:"
            f" {(error.strerror or '').lower()}"
        ) from None
    if kind in ("Directory", "DirectoryOrCreate"):
        right, what = path.is_dir(), "a directory"
    elif kind in ("File", "FileOrCreate"):
        right, what = path.is_file(), "a file"
    elif kind in _CHECKS:
        test, what = _CHECKS[kind]
        right = path.exists() and test(path.stat().st_mode)
    else:
        raise VolumeError(f"{kind} is an invalid volume type")
    if not right:
        raise VolumeError(f"hostPath type check failed: {path} is not {what}")
