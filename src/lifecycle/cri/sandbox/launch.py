"""Starts one container and stays with it: what runc and containerd's shim are to a real
runtime.

Run as `python -m lifecycle.cri.sandbox.launch BUNDLE`, in a session of its own, so that
the container outlives the runtime: whoever restarts the runtime finds the result on
disk. `BUNDLE/config.json` is the OCI spec, `BUNDLE/shim.json` where the log goes. The
first line on standard output is `{"pid": …}` or `{"error": …}`.

Two forks make the container. The first child enters the cgroup and the namespaces; a
PID namespace only takes in *children*, so it forks again, and the grandchild is process
1 there: it mounts, turns the root around, gives up privileges and becomes the program.
The middle one leaves, and as the shim declared itself a "subreaper" the grandchild
becomes its child, whose death it can wait for. So the pause process is nobody's parent:
siblings of it share its namespaces, and their parents are shims.

At the end `BUNDLE/exit.json` says how it ended. Without a PID namespace of its own, the
container's other processes would live on; the shim kills them.

Upstream: containerd `cmd/containerd-shim-runc-v2`, runc
`libcontainer/nsenter/nsexec.c`, `standard_init_linux.go`.
"""

from __future__ import annotations

import errno
import fcntl
import json
import os
import signal
import sys
import termios
import time
from contextlib import suppress
from typing import Any

from lifecycle.cri.id_mappings import read_oci_id_mappings
from lifecycle.cri.images.small_file import read_small
from lifecycle.cri.sandbox import credentials, id_mapped, rootfs, seccomp, syscalls
from lifecycle.cri.sandbox.cgroups import Cgroup

Spec = dict[str, Any]


def write_json(path: str, document: Any) -> None:
    """All of it or nothing: written beside and moved into place."""
    with open(path + ".new", "w") as file:
        json.dump(document, file)
        file.flush()
        os.fsync(file.fileno())
    os.rename(path + ".new", path)


def read_json(path: str) -> Any:
    """Raises FileNotFoundError."""
    with open(path) as file:
        return json.load(file)


def start_time(pid: int) -> int:
    """When a process began, in clock ticks since boot: with it a process id is unique.
    0 if there is none.
    """
    with suppress(OSError, IndexError, ValueError), open(f"/proc/{pid}/stat") as file:
        fields = file.read().rpartition(")")[2].split()
        return 0 if fields[0] in "ZX" else int(fields[19])
    return 0


def set_oom_score_adj(value: int) -> None:
    """As low as one may: without CAP_SYS_RESOURCE nobody can go below what they
    have.
    """
    try:
        with open("/proc/self/oom_score_adj", "w") as file:
            file.write(str(value))
    except PermissionError:
        pass


def _open_namespaces(spec: Spec) -> list[tuple[str, int]]:
    """Kind and descriptor of those that have a path."""
    return [
        (n["type"], os.open(n["path"], os.O_RDONLY))
        for n in spec["linux"]["namespaces"]
        if n.get("path")
    ]


def _enter_namespaces(spec: Spec, joined: list[tuple[str, int]]) -> None:
    """Join those with a path, make the others. The user namespace comes first, for the
    others are to belong to it; the mount namespace is made last: paths are the
    machine's until then.
    """
    for kind, fd in joined:
        syscalls.setns(fd, syscalls.NAMESPACE_FLAGS[kind])
        os.close(fd)
    created = [n["type"] for n in spec["linux"]["namespaces"] if not n.get("path")]
    syscalls.unshare(sum(syscalls.NAMESPACE_FLAGS[kind] for kind in created))


def _enter(spec: Spec, bundle: str, streams: tuple[int, int, int]) -> str:
    """Into the namespaces; where the container's root is to be mounted."""
    joined = _open_namespaces(spec)
    mappings = read_oci_id_mappings(spec["linux"])
    if mappings is None:
        _enter_namespaces(spec, joined)
        return os.path.join(bundle, spec["root"]["path"])
    id_mapped.own_streams(streams, mappings, spec["process"]["user"])
    syscalls.unshare(syscalls.CLONE_NEWNS)
    root = id_mapped.prepare(spec, bundle, dict(joined)["user"], mappings)
    _enter_namespaces(spec, joined)
    id_mapped.become_root()
    return root


def _set_up(spec: Spec, root: str, cgroup: Cgroup) -> None:
    rootfs.mount_root(spec, root)
    for mount in spec["mounts"]:
        if mount["type"] == "cgroup":
            rootfs.mount_cgroups(mount, root, cgroup)
        else:
            rootfs.mount_one(mount, root)
    rootfs.make_devices(root, spec.get("devices") or [])
    rootfs.make_directory(root, spec["process"]["cwd"])
    rootfs.enter(root)
    for name, value in (spec["linux"].get("sysctl") or {}).items():
        with open("/proc/sys/" + name.replace(".", "/"), "w") as file:
            file.write(value)
    if spec.get("hostname"):
        syscalls.sethostname(spec["hostname"])
    rootfs.hide(
        spec["linux"].get("maskedPaths") or [], spec["linux"].get("readonlyPaths") or []
    )
    if spec["root"].get("readonly"):
        rootfs.seal()


def become_program(
    process: Spec, filter_: bytes = b"", *, die_with_parent: bool = False
) -> None:
    """The last step: identity, directory, `exec`. Does not return. Raises OSError."""
    environment = dict(item.partition("=")[::2] for item in process["env"])
    credentials_home(environment, process["user"]["uid"])
    credentials.become(process, filter_)
    if die_with_parent:  # a change of identity takes this wish away, so it comes after
        syscalls.prctl(syscalls.PR_SET_PDEATHSIG, signal.SIGKILL)
    enter_directory(process["cwd"])
    program = credentials.find_program(process["args"][0], environment.get("PATH", ""))
    credentials.refuse_own_program(program)
    for number in range(1, signal.NSIG):
        with suppress(OSError, ValueError):
            signal.signal(number, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_SETMASK, [])
    os.umask(0o022)
    os.execve(program, process["args"], environment)


def enter_directory(path: str) -> None:
    """Raises OSError if it is none of the container's: a handle to one of the machine's
    would still be good, and its name in `/proc` may stand in an image (CVE-2024-21626).
    Upstream: runc `verifyCwd`.
    """
    os.chdir(path)
    try:
        os.getcwd()
    except FileNotFoundError:
        raise OSError(
            errno.ENOENT, "current working directory is outside of container", path
        ) from None


def credentials_home(environment: dict[str, str], uid: int) -> None:
    """`HOME` is what the container's `/etc/passwd` says, unless someone set it."""
    if "HOME" in environment:
        return
    environment["HOME"] = "/root" if uid == 0 else "/"
    with suppress(OSError, ValueError):
        for line in read_small("/etc/passwd").decode(errors="replace").split("\n"):
            fields = line.split(":")
            if len(fields) >= 6 and fields[2] == str(uid):
                environment["HOME"] = fields[5]
                return


def _use_streams(streams: tuple[int, int, int], terminal: bool) -> None:
    os.setsid()
    for number, fd in enumerate(streams):
        os.dup2(fd, number)
    if terminal:
        fcntl.ioctl(0, termios.TIOCSCTTY, 0)


def spawn(
    spec: Spec, bundle: str, cgroup: Cgroup, streams: tuple[int, int, int]
) -> int:
    """Start the container; the id of its process 1 in the machine's numbers. Raises
    OSError with what went wrong.
    """
    filter_ = seccomp.compiled(spec["linux"].get("seccomp"))
    report, reported = (
        os.pipe()
    )  # closed by a successful exec; whatever is written is a complaint
    number, numbered = os.pipe()
    middle = os.fork()
    if middle == 0:
        try:
            syscalls.prctl(syscalls.PR_SET_DUMPABLE, 0)  # nobody in there looks at us
            cgroup.join()
            set_oom_score_adj(spec["process"].get("oomScoreAdj", 0))
            root = _enter(spec, bundle, streams)
            child = os.fork()
            if child:
                os.write(numbered, str(child).encode())
                os._exit(0)
            os.close(number)
            os.close(numbered)
            _set_up(spec, root, cgroup)
            _use_streams(streams, spec["process"].get("terminal", False))
            become_program(spec["process"], filter_)
        except BaseException as error:
            with suppress(OSError):
                os.write(reported, describe(error).encode())
        os._exit(1)
    os.close(reported)
    os.close(numbered)
    os.waitpid(middle, 0)
    pid = int(os.read(number, 32) or b"0")
    complaint = b""
    while piece := os.read(report, 4096):
        complaint += piece
    os.close(report)
    os.close(number)
    if complaint or not pid:
        if pid:
            os.waitpid(pid, 0)
        raise OSError(complaint.decode() or "the container's process could not be made")
    return pid


def describe(error: BaseException) -> str:
    """One line."""
    if isinstance(error, OSError) and error.filename and error.strerror:
        return (
            f'{error.strerror}: "{error.filename}"'
            if ":" not in error.strerror
            else f"{error.strerror} {error.filename}"
        )
    return str(error) or type(error).__name__


def exit_code(status: int) -> int:
    """As shells count: 128 and the signal's number for those that were killed."""
    return (
        128 + os.WTERMSIG(status) if os.WIFSIGNALED(status) else os.WEXITSTATUS(status)
    )


def main(bundle: str) -> int:
    """The shim's life."""
    from lifecycle.cri.sandbox.stdio import Stdio

    os.chdir(bundle)
    spec, options = read_json("config.json"), read_json("shim.json")
    syscalls.prctl(syscalls.PR_SET_CHILD_SUBREAPER, 1)
    cgroup = Cgroup(spec["linux"]["cgroupsPath"])
    stdio = Stdio(options)
    try:
        cgroup.create(spec["linux"]["resources"])
        pid = spawn(spec, bundle, cgroup, stdio.child_ends)
    except (OSError, ValueError) as error:
        os.chdir(bundle)
        cgroup.remove()
        print(json.dumps({"error": describe(error)}), flush=True)
        return 1
    os.chdir(bundle)
    before = cgroup.oom_kills()
    write_json(
        "pid.json", {"pid": pid, "started": start_time(pid), "shim": os.getpid()}
    )
    print(json.dumps({"pid": pid}), flush=True)
    with open(os.devnull, "w") as nothing:
        os.dup2(nothing.fileno(), 1)  # the runtime need not listen any longer
    status = stdio.serve(pid)
    if not any(
        n["type"] == "pid" and not n.get("path") for n in spec["linux"]["namespaces"]
    ):
        cgroup.kill()
    stdio.finish()
    oom = cgroup.oom_kills() > before
    write_json(
        "exit.json",
        {"exit_code": exit_code(status), "finished_at": time.time_ns(), "oom": oom},
    )
    return 0


if __name__ == "__main__":
    sys.exit(main(os.path.abspath(sys.argv[1])))
