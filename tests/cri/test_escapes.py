"""Documented ways out of a container, and to its neighbours: each is tried in a pod of the `sandbox` runtime, and none leads anywhere.

The containers have the rights that the kubelet gives: those of a pod that says nothing (root, the usual capabilities, no filter), and
those of a *restricted* one (a user, no capabilities, no new privileges, RuntimeDefault), and those of one that has users of its own
(`hostUsers: false`). An attempt prints `OUT` if it has worked. To show
that the attempts are real ones, the harmless of them are tried in a privileged container of the same node as well, where they work.

What an attempt would write is what is there already, so that nothing is broken where one works.
"""

from __future__ import annotations

import asyncio
import fcntl
import os
import platform
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from lifecycle.cri.apis.errors import RuntimeServiceError
from lifecycle.cri.images.layers import unpack
from lifecycle.cri.images.oci_image import File, layer
from lifecycle.cri.images.store import ImageStore
from lifecycle.cri.sandbox import in_root
from lifecycle.cri.sandbox.credentials import refuse_own_program
from lifecycle.cri.sandbox.launch import read_json
from lifecycle.kubelet.kuberuntime.security_context import security_context
from tests.conftest import unavailable
from tests.cri.subjects import why_not
from tests.cri.test_conformance import Running

RESTRICTED = {"allowPrivilegeEscalation": False, "runAsUser": 1000, "capabilities": {"drop": ["ALL"]}}
PODS = {
    "ordinary": ({}, {}),
    "restricted": (RESTRICTED, {"seccompProfile": {"type": "RuntimeDefault"}}),
    "own users": ({}, {}),
    "privileged": ({"privileged": True}, {}),
}
OWN_USERS = {"mode": "POD", **dict.fromkeys(("uids", "gids"), ({"host_id": 9 * 65536, "length": 65536},))}
WITHOUT_OWN_USERS = ("ordinary", "restricted")


def same(path: str) -> str:
    """Write into a file what stands there."""
    return f'v=$(cat {path}); [ -e {path} ] && echo "$v" > {path} && echo OUT'


def opened(path: str) -> str:
    """Open a file for writing, and write nothing."""
    return f": >> {path} && echo OUT"


def shows(path: str) -> str:
    """Read what should be hidden."""
    return f"[ -n \"$(cat {path} | head -c 1 | tr '\\0' x)\" ] && echo OUT"


def device(kind: str, major: int, minor: int) -> str:
    """Make a device file and open it."""
    return f"rm -f /tmp/d; busybox mknod /tmp/d {kind} {major} {minor} && dd if=/tmp/d of=/dev/null bs=1 count=0 && echo OUT"


ATTEMPTS = {
    # procfs
    "core_pattern is given a program of the container's": same("/proc/sys/kernel/core_pattern"),
    "modprobe's path is changed": same("/proc/sys/kernel/modprobe"),
    "the machine's sysctls are changed": same("/proc/sys/kernel/panic"),
    "the magic key is pressed": opened("/proc/sysrq-trigger"),
    "an interrupt is moved to another CPU": same("/proc/irq/default_smp_affinity"),
    "the kernel's memory is read": shows("/proc/kcore"),
    "the machine's keys are listed": shows("/proc/keys"),
    "the machine's timers are listed": shows("/proc/timer_list"),
    "interrupts are watched": shows("/proc/interrupts"),
    "the machine's disks are listed by their driver": shows("/proc/scsi/scsi"),
    "process 1 is the machine's": "grep -q systemd /proc/1/comm && echo OUT",
    "the machine's processes are seen": "[ $(ls /proc | grep -c '^[0-9]') -gt 12 ] && echo OUT",
    "the root of process 1 is another one": "[ -e /proc/1/root/etc/debian_version ] && echo OUT",
    "the current directory of process 1 leads out": "[ -e /proc/1/cwd/../../../etc/debian_version ] && echo OUT",
    "the filter over /proc/sys is taken off": "umount /proc/sys && echo OUT",
    "the cover over /sys/firmware is taken off": "umount /sys/firmware && echo OUT",
    "/proc/sys is made writable again": "mount -o remount,rw /proc/sys && echo OUT",
    "another proc is mounted": "mkdir -p /tmp/p; mount -t proc proc /tmp/p && echo OUT",
    "its own score for the end of memory is lowered": "echo -900 > /proc/self/oom_score_adj && echo OUT",
    # sysfs
    "the machine's firmware is read": '[ -n "$(ls -A /sys/firmware)" ] && echo OUT',
    "the helper for new devices is changed": same("/sys/kernel/uevent_helper"),
    "a kernel setting in sysfs is changed": same("/sys/kernel/mm/transparent_hugepage/enabled"),
    "/sys is made writable": "mount -o remount,rw /sys && echo OUT",
    "the power meter is read": '[ -n "$(ls -A /sys/devices/virtual/powercap 2>/dev/null)" ] && echo OUT',
    # cgroups
    "a release agent is set": "for f in $(ls /sys/fs/cgroup/*/release_agent /sys/fs/cgroup/release_agent 2>/dev/null);"
    " do echo > $f && echo OUT; done",
    "a cgroup tree is mounted anew": "mkdir -p /tmp/g; mount -t cgroup -o memory cgroup /tmp/g && echo OUT",
    "a unified tree is mounted": "mkdir -p /tmp/u; mount -t cgroup2 none /tmp/u && echo OUT",
    "the list of devices is widened": "for f in /sys/fs/cgroup/devices/devices.allow; do echo a > $f && echo OUT; done",
    "the own limit is lifted": "for f in $(ls /sys/fs/cgroup/memory/memory.limit_in_bytes /sys/fs/cgroup/memory.max 2>/dev/null);"
    " do echo -1 > $f && echo OUT; done",
    "a group of one's own is made": "mkdir /sys/fs/cgroup/memory/x 2>/dev/null && echo OUT; mkdir /sys/fs/cgroup/x && echo OUT",
    "a neighbour's group is seen": "[ $(find /sys/fs/cgroup -type d | wc -l) -gt 20 ] && echo OUT",
    # devices
    "a disk is opened": device("b", 8, 0),
    "a virtual disk is opened": device("b", 254, 0),
    "the machine's memory is opened": device("c", 1, 1),
    "the kernel's log is opened": device("c", 1, 11),
    "FUSE is opened": device("c", 10, 229),
    "a device is there that nobody gave": "for d in /dev/*; do case $d in /dev/fd|/dev/full|/dev/mqueue|/dev/null|/dev/ptmx|/dev/pts|"
    "/dev/random|/dev/shm|/dev/std*|/dev/tty|/dev/urandom|/dev/zero|/dev/console|/dev/termination-log) ;; *) echo OUT;; esac; done",
    # namespaces and rights
    "something is mounted": "mkdir -p /tmp/t; mount -t tmpfs t /tmp/t && echo OUT",
    "a namespace is made": "busybox unshare -m true && echo OUT",
    "the root is turned around": "busybox pivot_root / /tmp && echo OUT",
    "the namespaces of process 1 are entered": "busybox nsenter -t 1 -n true && echo OUT",
    "a module is loaded": "busybox insmod /bin/busybox 2>&1 | grep -q 'invalid module' && echo OUT",
    "the kernel's messages are read": "[ -n \"$(busybox dmesg)\" ] && echo OUT",
    "the clock is set": "busybox date -s @$(busybox date +%s) 2>&1 | grep -q 'set date' || echo OUT",
    "the host is renamed": "hostname $(hostname) && echo OUT",
    "swapping is ended": "busybox swapoff /tmp 2>&1 | grep -q 'Invalid argument' && echo OUT",
    "an interface is made": "ip link add e0 type dummy && ip link del e0 && echo OUT",
    "an address is taken": "ip addr add 10.9.9.9/32 dev lo && ip addr del 10.9.9.9/32 dev lo && echo OUT",
    "more than one's share of the CPU is taken": "busybox renice -n -5 $$ && echo OUT",
    # descriptors and the runtime's own processes
    "a descriptor was inherited": "for f in $(ls /proc/self/fd /proc/1/fd); do case $f in /proc/*|0|1|2|3) ;; *) echo OUT;; esac; done",
    "a directory of the machine is open": "ls -l /proc/1/fd /proc/$$/fd | grep -E -- '-> /[^dp]' && echo OUT",
    "a secret is in the environment of process 1": "tr '\\0' '\\n' < /proc/1/environ | grep -q PYTHONPATH && echo OUT",
}  # fmt: skip

IN_A_PRIVILEGED_ONE = (
    "something is mounted",
    "another proc is mounted",
    "a namespace is made",
    "an address is taken",
    "the kernel's messages are read",
    "interrupts are watched",
    "the machine's timers are listed",
    "the host is renamed",
)


@dataclass
class Node:
    """A runtime with two pods. `containers`: ids by the pod's kind; `neighbour`: one more pod's."""

    running: Running
    containers: dict[str, str]
    neighbour: str

    def run(self, kind: str, script: str) -> str:
        """What a script printed, in the container of that kind."""
        words = ("sh", "-c", f"({script}) 2>&1")
        answer = self.running.run(self.running.subject.runtime.exec_sync(self.containers[kind], words, 10))
        return str(answer.stdout)


@pytest.fixture(scope="module")
def node(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Node]:
    if why_not():
        unavailable(why_not())
    running = Running("sandbox", tmp_path_factory.mktemp("escapes"))
    subject = running.subject

    async def pod(name: str, kind: str) -> str:
        own, whole = PODS[kind]
        container = {"name": name, "securityContext": own}
        manifest = {
            "metadata": {"name": name, "namespace": "escapes", "uid": name},
            "spec": {"containers": [container], "securityContext": whole},
        }
        userns = OWN_USERS if kind == "own users" else None
        context = security_context(manifest, container, userns=userns)
        config = subject.sandbox_config(name)
        options = {"security_context": {"namespace_options": context["namespace_options"]}}
        config = replace(config, linux={**config.linux, **options})
        sandbox_id = await subject.sandbox(config)
        linux = {"security_context": context}
        return await subject.container(
            sandbox_id, config, "cd /tmp; echo mine > /tmp/mine; exec sleep 1000", name, linux=linux
        )

    async def begin() -> Node:
        await subject.runtime.pull_image(subject.image)
        containers = {kind: await pod(kind, kind) for kind in PODS}
        return Node(running, containers, await pod("neighbour", "ordinary"))

    async def end() -> None:
        for sandbox_id in subject.sandboxes:
            await subject.runtime.stop_pod_sandbox(sandbox_id)
            await subject.runtime.remove_pod_sandbox(sandbox_id)
        subject.sandboxes.clear()

    try:
        yield running.run(begin())
    finally:
        try:
            running.run(end())
        finally:
            running.close()


@pytest.mark.parametrize("kind", [*WITHOUT_OWN_USERS, "own users"])
@pytest.mark.parametrize("name", ATTEMPTS)
def test_no_way_out(node: Node, name: str, kind: str) -> None:
    output = node.run(kind, ATTEMPTS[name])
    assert "OUT" not in output.split(), output
    assert "not found" not in output, f"the attempt was not made: {output}"


@pytest.mark.parametrize("name", IN_A_PRIVILEGED_ONE)
def test_the_attempts_are_real_where_somebody_may(node: Node, name: str) -> None:
    output = node.run("privileged", ATTEMPTS[name])
    assert "OUT" in output.split(), output


def test_a_restricted_pod_runs_behind_the_filter_and_an_ordinary_one_does_not(node: Node) -> None:
    status = "grep -E '^(NoNewPrivs|Seccomp|CapBnd):' /proc/1/status /proc/self/status"
    lines = [line.partition(":")[2].split() for line in node.run("restricted", status).splitlines()]
    assert lines == [["CapBnd:", "0000000000000000"], ["NoNewPrivs:", "1"], ["Seccomp:", "2"]] * 2
    lines = [line.partition(":")[2].split() for line in node.run("ordinary", status).splitlines()]
    assert lines == [["CapBnd:", "00000000a80425fb"], ["NoNewPrivs:", "0"], ["Seccomp:", "0"]] * 2


def test_the_filter_refuses_what_a_user_could_do_otherwise(node: Node) -> None:
    """A user namespace gives whoever makes it all capabilities inside, and with them the kernel's whole surface."""
    assert "uid=" in node.run("ordinary", "busybox unshare -U id")
    assert "unshare(0x10000000): Operation not permitted" in node.run("restricted", "busybox unshare -U id")


def test_a_neighbours_processes_files_and_names_are_not_there(node: Node) -> None:
    """Each pod has its own processes, files, shared memory and abstract sockets; the machine knows both."""
    runtime = node.running.subject.runtime
    marked = (
        "sh",
        "-c",
        "exec -a the-neighbour sleep 1000 & echo secret > /dev/shm/s; echo secret > /tmp/neighbour; sleep 0",
    )
    node.running.run(runtime.exec_sync(node.neighbour, marked, 10))
    for kind in ("ordinary", "restricted"):
        script = "ls /dev/shm /tmp; cat /proc/*/cmdline | tr '\\0' ' '; cat /proc/net/unix; ls /dev/mqueue"
        output = node.run(kind, script)
        assert "neighbour" not in output
        assert "/dev/shm:\n/tmp:" in output.replace("\n\n", "\n"), output


def test_signals_reach_no_neighbour_and_not_the_machine(node: Node) -> None:
    for kind in ("ordinary", "restricted"):
        node.run(kind, f"kill -CONT {os.getpid()} 1")
        assert "No such process" in node.run(kind, f"kill -0 {os.getpid()}")


def test_the_runtimes_own_program_cannot_be_a_containers(node: Node) -> None:
    """A link or a script that leads back to what enters the container would hand it a handle to the machine's own program."""
    setup = (
        "ln -sf /proc/self/exe /tmp/link; printf '#!/proc/self/exe\\n' > /tmp/script; printf '#!/tmp/script\\n' > /tmp/twice;"
        " chmod +x /tmp/script /tmp/twice"
    )
    node.run("ordinary", setup)
    runtime = node.running.subject.runtime
    for program in ("/proc/self/exe", "/tmp/link", "/tmp/script", "/tmp/twice"):
        with pytest.raises(Exception, match=r"permission denied: unknown$"):
            node.running.run(runtime.exec_sync(node.containers["ordinary"], (program, "-V"), 10))


def test_what_enters_a_container_is_a_copy_that_nobody_can_write_to(node: Node) -> None:
    """The check before can be outrun: what a container that does so holds is nothing of the machine's."""
    if platform.system() != "Linux":
        unavailable("sealed files in memory are Linux's")
    runtime = node.running.subject.runtime
    shim = read_json(f"{runtime.root}/containers/{node.containers['ordinary']}/pid.json")["shim"]

    async def entering() -> str:
        running = asyncio.ensure_future(runtime.exec_sync(node.containers["ordinary"], ("sleep", "2"), 10))
        found: list[str] = []
        while not found:
            found = await asyncio.to_thread(_entering)
        exe = os.readlink(f"/proc/{found[0]}/exe")
        await running
        return exe

    def _entering() -> list[str]:
        words = f"lifecycle.cri.sandbox.execute\0{runtime.root}".encode()
        found = []
        for path in Path("/proc").glob("[0-9]*/cmdline"):
            with suppress(OSError):
                if words in path.read_bytes():
                    found.append(path.parent.name)
        return found

    assert node.running.run(entering()) == "/memfd:python (deleted)"
    with open(f"/proc/{shim}/exe", "rb") as file:
        seals = fcntl.fcntl(file, fcntl.F_GET_SEALS)
    assert seals & fcntl.F_SEAL_WRITE
    assert seals & fcntl.F_SEAL_SEAL
    with pytest.raises(OSError, match=r"busy|not permitted"):
        os.open(f"/proc/{shim}/exe", os.O_WRONLY)


def test_the_check_for_ones_own_program_lets_others_pass(tmp_path: Path) -> None:
    refuse_own_program("/bin/sh")
    (tmp_path / "script").write_text("#!/bin/sh -e\n")
    refuse_own_program(str(tmp_path / "script"))
    (tmp_path / "script").write_text("#!/absent\n")
    refuse_own_program(str(tmp_path / "script"))
    with pytest.raises(PermissionError):
        refuse_own_program(sys.executable)


TRICKS = {
    "a name that climbs": {"../climbed": File(b"x")},
    "a name from the root": {"/rooted": File(b"x")},
    "a file through a link out": {"out": File(link="OUTSIDE", mode=0o777), "out/through": File(b"x")},
    "a file through a link that climbs": {
        "a/": File(mode=0o755),
        "a/up": File(link="../..", mode=0o777),
        "a/up/through": File(b"x"),
    },
    "a whiteout through a link": {"out": File(link="OUTSIDE", mode=0o777), "out/.wh.precious": File()},
    "an opaque directory through a link": {"out": File(link="OUTSIDE", mode=0o777), "out/.wh..wh..opq": File()},
}


@pytest.mark.parametrize("overlay", [False, True])
@pytest.mark.parametrize("name", TRICKS)
def test_no_layer_writes_or_deletes_outside_of_its_image(name: str, overlay: bool, tmp_path: Path) -> None:
    if overlay and (os.geteuid() != 0 or platform.system() != "Linux"):
        unavailable("whiteouts of an overlay are device files: root makes them")
    outside, root = tmp_path / "outside", tmp_path / "node" / "root"
    outside.mkdir()
    root.mkdir(parents=True)
    (outside / "precious").write_text("still here")
    files = {
        path: replace(file, link=file.link.replace("OUTSIDE", str(outside))) for path, file in TRICKS[name].items()
    }
    with suppress(OSError, ValueError):  # some are refused as a whole
        unpack(layer(files), root, overlay)
    everything = {str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*") if root not in path.parents}
    assert everything == {"outside", "outside/precious", "node", "node/root"}
    assert (outside / "precious").read_text() == "still here"
    assert not Path("/rooted").exists()


def test_a_mount_over_a_link_in_the_image_does_not_land_on_the_machine(tmp_path: Path) -> None:
    """Neither does one whose path climbs: a pod may say `mountPath: /../../x`."""
    if platform.system() != "Linux":
        unavailable("handles of files, by which places are named, are Linux's")
    root = tmp_path / "root"
    (root / "etc").mkdir(parents=True)
    (root / "data").symlink_to("/etc")
    (root / "up").symlink_to("../../../../etc")
    (root / "etc/self").symlink_to("../absent/later")
    for name, found in (
        ("/data", "etc"),
        ("/data/x", "etc/x"),
        ("/up/passwd", "etc/passwd"),
        ("/etc/self", "absent/later"),
        ("/data/../../x", "x"),
        ("/../../x", "x"),
        ("../x", "x"),
        ("//x", "x"),
        ("/", ""),
    ):
        with in_root.opened(str(root), name) as place:
            assert in_root.path_of(place) == str(root / found)
    (root / "round").symlink_to("round")
    with pytest.raises(OSError, match=r"symbolic links: '/round'$"), in_root.opened(str(root), "/round"):
        pass


def test_a_directory_that_a_neighbour_exchanges_for_a_link_leads_nowhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In a volume of both, at the worst moment: whenever a name is about to be opened, it is a link to the machine."""
    if platform.system() != "Linux":
        unavailable("handles of files, by which places are named, are Linux's")
    machine, volume = tmp_path / "machine", tmp_path / "root/volume"
    machine.mkdir()
    (volume / "a/b").mkdir(parents=True)
    really_open = os.open

    def open_(path: str, flags: int, mode: int = 0o777, *, dir_fd: int | None = None) -> int:
        if path == "b":
            (volume / "a").rename(volume / "away")
            (volume / "a").symlink_to(machine)
        return really_open(path, flags, mode, dir_fd=dir_fd)

    monkeypatch.setattr(os, "open", open_)
    with in_root.opened(str(tmp_path / "root"), "/volume/a/b/c") as place:
        assert in_root.path_of(place) == str(volume / "away/b/c")
    assert list(machine.iterdir()) == []


def test_nothing_is_mounted_over_what_tells_the_truth_in_proc(node: Node) -> None:
    """Fake files there, and the runtime would look at them instead of the kernel's."""
    runtime, subject = node.running.subject.runtime, node.running.subject

    async def attempt(target: str) -> str:
        config = subject.sandbox_config("proc")
        sandbox_id = await subject.sandbox(config)
        mounts = ({"container_path": target, "host_path": str(runtime.root)},)
        try:
            await subject.container(sandbox_id, config, "sleep 1000", "c", mounts=mounts)
        except RuntimeServiceError as error:
            return str(error)
        finally:
            await runtime.stop_pod_sandbox(sandbox_id)
        return "started"

    for target in ("/proc", "/proc/self", "/proc/sys/kernel"):
        assert "cannot be mounted because it is inside /proc" in node.running.run(attempt(target))
    assert node.running.run(attempt("/process")) == "started"


def test_a_pipe_where_a_file_is_looked_for_holds_nobody_up(node: Node) -> None:
    """In place of `/etc/passwd`, of a program, or of a script's interpreter: whoever opened it would wait for a writer, for ever."""
    runtime = node.running.subject.runtime
    script = (
        "rm -f /etc/passwd; for f in /etc/passwd /tmp/p; do busybox mkfifo $f; chmod 755 $f; done;"
        " printf '#!/tmp/p\\n' > /tmp/of; chmod +x /tmp/of"
    )
    node.running.run(runtime.exec_sync(node.neighbour, ("sh", "-c", script), 10))
    answer = node.running.run(runtime.exec_sync(node.neighbour, ("sh", "-c", "echo $HOME"), 10))
    assert answer.stdout == "/root\n"
    for program in ("/tmp/p", "/tmp/of"):
        with pytest.raises(Exception, match=r"permission denied: unknown$"):
            node.running.run(runtime.exec_sync(node.neighbour, (program,), 10))


def test_no_handle_of_the_runtimes_is_a_directory_to_begin_in(node: Node) -> None:
    runtime, subject = node.running.subject.runtime, node.running.subject

    async def where(directory: str) -> str:
        config = subject.sandbox_config("begin")
        sandbox_id = await subject.sandbox(config)
        try:
            container_id = await subject.container(sandbox_id, config, "sleep 1000", "c", working_dir=directory)
            answer = await runtime.exec_sync(container_id, ("sh", "-c", "ls -d ../../../../../etc/debian_version"), 10)
            return str(answer.stdout)
        except RuntimeServiceError:
            return ""
        finally:
            await runtime.stop_pod_sandbox(sandbox_id)

    for number in (3, 5, 7, 8, 9, 11):
        assert node.running.run(where(f"/proc/self/fd/{number}")) == ""


def test_a_program_does_not_begin_outside_of_its_root(tmp_path: Path) -> None:
    """In a process whose root is another directory, and which has one of the machine's open still."""
    if os.geteuid():
        unavailable("root, for another root")
    script = f"""
import os
from lifecycle.cri.sandbox.launch import enter_directory

left_open = os.open("/", os.O_RDONLY)
os.chroot({str(tmp_path)!r})
os.fchdir(left_open)
enter_directory(".")
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert "current working directory is outside of container" in done.stderr


def test_an_images_list_of_users_is_its_own_and_a_small_file(tmp_path: Path) -> None:
    """A directory that is a link leads to the machine's; a file of holes would fill the memory; a pipe is waited for."""
    store = ImageStore(tmp_path, overlay=False)
    names = ("linked", "vast", "pipe", "plain")
    for name in names:
        (store.layers / name).mkdir()
        store._images[name] = {"layers": [name]}
    (store.layers / "linked/etc").symlink_to("/etc")
    for name in names[1:]:
        (store.layers / name / "etc").mkdir()
    (store.layers / "plain/etc/passwd").write_text("me:x:1:1::/:/bin/sh\n")
    os.mkfifo(store.layers / "pipe/etc/passwd")
    with (store.layers / "vast/etc/passwd").open("wb") as file:
        file.truncate(1 << 40)
    assert store.read_file("linked", "/etc/passwd") == ""
    assert store.read_file("pipe", "/etc/passwd") == ""
    assert store.read_file("plain", "/etc/passwd").startswith("me:")
    with pytest.raises(ValueError, match=r"larger than 1048576 bytes$"):
        store.read_file("vast", "/etc/passwd")
