"""A pod's user namespace, and the network namespace that belongs to it.

Whoever makes a namespace decides to which user namespace it belongs, and only there a
capability counts for it. So both are made by one process, first the users', in it the
network's; each is mounted on a file and outlives the process. The numbers are written
from outside, by somebody who may use them.

Only a process with a single thread may enter a user namespace. Therefore it is made by
a program of its own: `python -m lifecycle.cri.sandbox.user_namespace USERNS NETNS UIDS
GIDS`, where `NETNS` may be empty and the last two are lines of `/proc/PID/uid_map`.

Upstream: containerd `pkg/sys/unshare_linux.go` (`UnshareAfterEnterUserns`),
`pkg/netns/netns_linux.go` (`NewNetNSFromPID`).
"""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from pathlib import Path

from lifecycle.cri.id_mappings import IDMappings
from lifecycle.cri.sandbox import syscalls
from lifecycle.cri.sandbox.network import bring_lo_up
from lifecycle.cri.sandbox.processes import command, environment

MOST = Path("/proc/sys/user/max_user_namespaces")


def why_no_user_namespaces() -> str:
    """Empty if this machine's kernel has what they need."""
    try:
        if int(MOST.read_text()) < 1:
            return f"{MOST} is 0"
    except (OSError, ValueError):
        return "the kernel has no user namespaces"
    return "" if syscalls.can_map_ids() else "the kernel has no idmapped mounts"


async def make_user_namespace(userns: str, netns: str, mappings: IDMappings) -> None:
    """Mount a new user namespace on the file `userns`; `netns`, if not empty: with a
    network namespace of its own, `lo` up, on that file. Raises OSError.
    """
    why = why_no_user_namespaces()
    if why:
        raise OSError(f"failed to create user namespace: {why}")
    words = (userns, netns, str(mappings.uids), str(mappings.gids))
    done = await asyncio.to_thread(
        subprocess.run,
        command("user_namespace", *words),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        cwd="/",
        env=environment(),
    )
    if done.returncode:
        raise OSError(done.stderr.decode().strip() or "the user namespace's maker died")


def _keep(pid: int, kind: str, path: str) -> None:
    os.close(os.open(path, os.O_CREAT | os.O_WRONLY, 0o444))
    syscalls.mount(f"/proc/{pid}/ns/{kind}", path, flags=syscalls.MS_BIND)


def main(userns: str, netns: str, uids: str, gids: str) -> int:
    """1 with a line on standard error if it cannot be made."""
    ready, say_ready = os.pipe()
    go, say_go = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.close(ready)
            os.close(say_go)
            syscalls.unshare(syscalls.CLONE_NEWUSER)
            os.write(say_ready, b"u")
            os.read(go, 1)
            if netns:
                syscalls.unshare(syscalls.CLONE_NEWNET)
                bring_lo_up()
            os.write(say_ready, b"n")
            os.read(go, 1)
        except OSError as error:
            os.write(2, f"failed to create user namespace: {error}".encode())
        os._exit(0)
    os.close(say_ready)
    os.close(go)
    try:
        if os.read(ready, 1) != b"u":
            return 1
        for name, line in (("uid_map", uids), ("gid_map", gids)):
            Path(f"/proc/{child}/{name}").write_text(line)
        _keep(child, "user", userns)
        os.write(say_go, b"1")
        if os.read(ready, 1) != b"n":
            return 1
        if netns:
            _keep(child, "net", netns)
    except OSError as error:
        sys.stderr.write(f"failed to create user namespace: {error}")
        return 1
    finally:
        os.close(say_go)
        os.waitpid(child, 0)
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:5]))
