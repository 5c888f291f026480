"""`hostPath`: a piece of the node itself. Nothing is mounted; what is there is only looked at, or made.

Upstream: `pkg/volume/hostpath/host_path.go` (`checkType`, `checkTypeInternal`), v1.36.
"""

from __future__ import annotations

import os
import stat
from pathlib import Path

from lifecycle.kubelet.volumes.payloads import VolumeError

_CHECKS = {
    "Socket": (stat.S_ISSOCK, "a socket file"),
    "CharDevice": (stat.S_ISCHR, "a character device"),
    "BlockDevice": (stat.S_ISBLK, "a block device"),
}


def check_type(path: Path, kind: str) -> None:
    """Make sure that a path is what `hostPath.type` says, making it where that is allowed. Raises VolumeError."""
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
            f"{'mkdir' if 'Directory' in kind else 'open'} {path}: {(error.strerror or '').lower()}"
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
