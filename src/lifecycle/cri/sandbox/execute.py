"""Runs one more command in a running container: `kubectl exec` and exec probes.

Run as `python -m lifecycle.cri.sandbox.execute BUNDLE PROCESS FD`: `PROCESS` is a file
with the OCI process, `FD` gets a line if the command cannot be run. Standard streams
are the caller's. It joins the cgroup and all the namespaces of the container's process
1, forks (for the PID namespace), and leaves with the command's exit code. Whoever kills
it kills the command too.

Upstream: runc `exec.go`, `libcontainer/process_linux.go` (`setnsProcess`).
"""

from __future__ import annotations

import fcntl
import os
import sys
import termios
from contextlib import suppress

from lifecycle.cri.id_mappings import read_oci_id_mappings
from lifecycle.cri.sandbox import id_mapped, seccomp, syscalls
from lifecycle.cri.sandbox.cgroups import Cgroup
from lifecycle.cri.sandbox.launch import (
    become_program,
    describe,
    exit_code,
    read_json,
    start_time,
)


def enter(pid: int) -> None:
    """All namespaces of a process: that of the users first, which gives rights over the
    others; the mount namespace last, for after it `/proc` is another one.
    """
    kinds = ("user", "cgroup", "ipc", "uts", "network", "pid", "mount")
    files = {}
    for kind in kinds:
        name = syscalls.NAMESPACE_FILES[kind]
        if (
            os.stat(f"/proc/{pid}/ns/{name}").st_ino
            != os.stat(f"/proc/self/ns/{name}").st_ino
        ):
            files[kind] = os.open(f"/proc/{pid}/ns/{name}", os.O_RDONLY)
    for kind, fd in files.items():
        syscalls.setns(fd, syscalls.NAMESPACE_FLAGS[kind])
        os.close(fd)
    if "user" in files:
        id_mapped.become_root()


def main(bundle: str, process_file: str, complaints: int) -> int:
    """The command's exit code."""
    process = read_json(process_file)
    os.unlink(process_file)
    started = read_json(f"{bundle}/pid.json")
    if start_time(started["pid"]) != started["started"]:
        os.write(complaints, b"container not running")
        return 1
    linux = read_json(f"{bundle}/config.json")["linux"]
    Cgroup(linux["cgroupsPath"]).join()
    syscalls.prctl(syscalls.PR_SET_DUMPABLE, 0)  # nobody in there looks at us
    filter_ = seccomp.compiled(linux.get("seccomp"))
    mappings = read_oci_id_mappings(linux)
    if mappings is not None:
        id_mapped.own_streams((0, 1, 2), mappings, process["user"])
    enter(started["pid"])
    child = os.fork()
    if child == 0:
        try:
            os.setsid()
            if process.get("terminal"):
                fcntl.ioctl(0, termios.TIOCSCTTY, 0)
            os.set_inheritable(complaints, False)
            become_program(process, filter_, die_with_parent=True)
        except BaseException as error:
            with suppress(OSError):
                os.write(complaints, describe(error).encode())
        os._exit(127)
    os.close(complaints)
    _, status = os.waitpid(child, 0)
    return exit_code(status)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2], int(sys.argv[3])))
