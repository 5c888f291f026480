"""Pods with a user namespace of their own, in the `sandbox` runtime: root inside is somebody without rights outside.

What is asked inside is what a container can find out (`/proc/self/uid_map`, owners of files, what it may do to its network); what is
asked outside is what the machine sees (owners on the disk, the number of the process's user).
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from lifecycle.cri.apis.errors import RuntimeServiceError
from lifecycle.cri.id_mappings import IDMapping, id_mappings
from lifecycle.cri.sandbox import user_namespace
from tests.conftest import unavailable
from tests.cri.subjects import why_not
from tests.cri.test_conformance import Running

LENGTH = 65536
FIRST = 7 * LENGTH
EVERYTHING: dict[str, Any] = {"capabilities": {"add_capabilities": ["ALL"]}}


def mapped(first: int = FIRST, **more: Any) -> dict[str, Any]:
    """A security context whose users begin at that number of the machine."""
    ids = [{"container_id": 0, "host_id": first, "length": LENGTH}]
    options = {"pid": "CONTAINER", "userns_options": {"mode": "POD", "uids": ids, "gids": ids}}
    return {"security_context": {"namespace_options": options, **more}}


@dataclass
class Node:
    """A runtime, and in it a container of a pod of its own users that has every capability. `volume`: the machine's directory behind
    its `/data`.
    """

    running: Running
    container: str
    volume: Path

    def run(self, script: str, container: str = "") -> str:
        words = ("sh", "-c", f"({script}) 2>&1")
        answer = self.running.run(self.running.subject.runtime.exec_sync(container or self.container, words, 10))
        return str(answer.stdout)

    def start(self, name: str, script: str, linux: dict[str, Any], **options: Any) -> str:
        return str(self.running.run(self._start(name, script, linux, options)))

    async def _start(self, name: str, script: str, linux: dict[str, Any], options: dict[str, Any]) -> str:
        subject = self.running.subject
        config = subject.sandbox_config(name)
        cgroup = {key: config.linux[key] for key in ("cgroup_parent",) if key in config.linux}
        own = {"namespace_options": linux["security_context"]["namespace_options"]}
        config = replace(config, linux={**cgroup, "security_context": own})
        sandbox_id = await subject.sandbox(config)
        return await subject.container(sandbox_id, config, script, name, linux=linux, **options)


@contextmanager
def running_node(where: Path) -> Iterator[Node]:
    """A runtime that has the image. Nothing of it is left afterwards."""
    running = Running("sandbox", where)
    subject = running.subject

    async def end() -> None:
        for sandbox_id in subject.sandboxes:
            await subject.runtime.stop_pod_sandbox(sandbox_id)
            await subject.runtime.remove_pod_sandbox(sandbox_id)
        subject.sandboxes.clear()

    try:
        running.run(subject.runtime.pull_image(subject.image))
        yield Node(running, "", where)
    finally:
        try:
            running.run(end())
        finally:
            running.close()


@pytest.fixture(scope="module")
def node(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Node]:
    if why_not():
        unavailable(why_not())
    if user_namespace.why_no_user_namespaces():
        unavailable(user_namespace.why_no_user_namespaces())
    volume = tmp_path_factory.mktemp("volume")
    (volume / "theirs").write_text("the machine's root wrote this\n")
    (volume / "theirs").chmod(0o600)
    with running_node(tmp_path_factory.mktemp("userns")) as made:
        made.volume = volume
        mounts = ({"container_path": "/data", "host_path": str(volume)},)
        made.container = made.start("mapped", "exec sleep 1000", mapped(**EVERYTHING), mounts=mounts)
        yield made


def pid_of(node: Node) -> int:
    return int(node.running.subject.runtime._containers[node.container].pid)  # type: ignore[attr-defined]


def test_the_maps_are_those_that_were_asked_for(node: Node) -> None:
    for name in ("uid_map", "gid_map"):
        assert node.run(f"cat /proc/self/{name}").split() == ["0", str(FIRST), str(LENGTH)]
        assert node.run(f"cat /proc/1/{name}").split() == ["0", str(FIRST), str(LENGTH)]


def test_root_inside_is_not_root_outside(node: Node) -> None:
    assert node.run("id -u; id -g").split() == ["0", "0"]
    assert os.stat(f"/proc/{pid_of(node)}").st_uid == FIRST
    status = Path(f"/proc/{pid_of(node)}/status").read_text()
    assert f"Uid:\t{FIRST}\t{FIRST}\t{FIRST}\t{FIRST}" in status


def test_the_image_and_a_volume_belong_to_those_inside(node: Node) -> None:
    """Idmapped mounts: the disk says user 0, and that is the pod's own root."""
    assert node.run("stat -c %u:%g / /bin/busybox /data /data/theirs").split() == ["0:0"] * 4
    assert "the machine's root" in node.run("cat /data/theirs")
    node.run("echo mine > /data/mine; echo x > /data/other; chown 1000:2000 /data/other; echo y > /written")
    assert (node.volume / "mine").stat().st_uid == 0
    assert ((node.volume / "other").stat().st_uid, (node.volume / "other").stat().st_gid) == (1000, 2000)


def test_what_is_not_mapped_into_it_belongs_to_nobody_and_stays_as_it_is(node: Node) -> None:
    """What root may do everywhere it may do here to its own: the machine's files in `/proc` and `/sys` are nobody's."""
    assert node.run("stat -c %u /proc/sys/kernel/core_pattern /sys/kernel").split() == ["65534", "65534"]


@pytest.mark.parametrize(
    "script",
    [
        "echo x > /proc/sys/kernel/core_pattern",
        "umount /proc/sys; echo x > /proc/sys/kernel/core_pattern",
        "mount -o remount,rw /proc/sys; echo 1 > /proc/sys/kernel/panic",
        "echo c > /proc/sysrq-trigger",
        "mkdir -p /tmp/p; mount -t proc proc /tmp/p && echo 0 > /tmp/p/sys/kernel/panic",
        "mount -o remount,rw /sys; echo > /sys/kernel/uevent_helper",
        "rm -f /tmp/d; busybox mknod /tmp/d b 254 0 && dd if=/tmp/d of=/dev/null bs=1 count=1",
        "busybox dmesg -c",
        "busybox insmod /bin/busybox",
        "! busybox date -s @$(busybox date +%s) 2>&1 | grep -q 'set date'",
        "busybox swapoff -a /tmp",
        "busybox renice -n -5 1",
        "echo -900 > /proc/self/oom_score_adj",
        "mkdir -p /tmp/g; mount -t cgroup -o memory cgroup /tmp/g",
        "mkdir -p /tmp/k; mount -t debugfs none /tmp/k",
        "busybox chroot /proc/1/root/../.. true && busybox mknod /dev/kmsg2 c 1 11",
    ],
)
def test_every_capability_reaches_nothing_outside(node: Node, script: str) -> None:
    """The container holds all of them, in its own namespaces."""
    assert int(node.run("grep CapEff /proc/self/status").split()[1], 16).bit_count() > 30
    output = node.run(f"({script}) && echo OUT")
    assert "OUT" not in output.split(), output
    assert "not found" not in output, f"the attempt was not made: {output}"


def test_every_capability_counts_in_its_own_network_and_mounts(node: Node) -> None:
    """The same that a container without a user namespace would need a capability over the machine for."""
    script = (
        "ip addr add 10.9.9.9/32 dev lo && mkdir -p /tmp/t && mount -t tmpfs t /tmp/t && hostname other && echo DONE"
    )
    assert "DONE" in node.run(script)
    assert os.uname().nodename != "other"


def test_a_neighbour_is_somebody_else_on_the_machine(node: Node) -> None:
    other = node.start("neighbour", "exec sleep 1000", mapped(FIRST + LENGTH))
    assert node.run("cat /proc/self/uid_map", other).split() == ["0", str(FIRST + LENGTH), str(LENGTH)]
    assert os.stat(f"/proc/{node.running.subject.runtime._containers[other].pid}").st_uid == FIRST + LENGTH  # type: ignore[attr-defined]


def test_a_program_writes_to_its_streams_by_their_names_as_any_user(node: Node) -> None:
    linux = mapped(run_as_user={"value": 1000}, run_as_group={"value": 1000})
    container = node.start("streams", "echo one > /dev/stdout; echo two > /dev/stderr; id -u", linux)
    status = node.running.run(node.running.subject.ended(container))
    entries = node.running.run(node.running.subject.log(status.log_path, 3))
    assert sorted(text for _, text in entries) == ["1000", "one", "two"]
    assert status.exit_code == 0


def test_devices_are_the_machines_and_no_more_than_the_few(node: Node) -> None:
    assert node.run("echo x > /dev/null; head -c 4 /dev/zero | wc -c; head -c 4 /dev/urandom | wc -c").split() == [
        "4",
        "4",
    ]


def test_a_restricted_pod_runs_with_filter_and_without_new_privileges(node: Node) -> None:
    linux = mapped(
        no_new_privs=True,
        run_as_user={"value": 1000},
        seccomp={"profile_type": "RuntimeDefault"},
        masked_paths=["/proc/keys"],
        readonly_paths=["/proc/sys"],
        readonly_rootfs=True,
    )
    container = node.start("restricted", "exec sleep 1000", linux)
    lines = node.run("grep -E '^(NoNewPrivs|Seccomp):' /proc/self/status; cat /proc/keys; touch /x", container)
    assert lines.split()[:4] == ["NoNewPrivs:", "1", "Seccomp:", "2"]
    assert "Read-only file system" in lines


def test_an_image_as_a_volume_is_shown_with_its_owners(node: Node) -> None:
    image = {"image": node.running.subject.image}
    mounts = ({"container_path": "/image", "image": image, "readonly": True},)
    container = node.start("volume", "exec sleep 1000", mapped(), mounts=mounts)
    assert node.run("stat -c %u:%g /image/bin/busybox", container) == "0:0\n"
    assert "Read-only file system" in node.run("touch /image/x", container)


def test_a_privileged_container_is_so_only_in_its_own_namespaces(node: Node) -> None:
    container = node.start("privileged", "exec sleep 1000", mapped(privileged=True))
    assert "DONE" in node.run("mkdir -p /tmp/t && mount -t tmpfs t /tmp/t && echo DONE", container)
    assert "OUT" not in node.run("echo x > /proc/sys/kernel/core_pattern && echo OUT", container).split()
    assert "OUT" not in node.run("busybox mknod /tmp/d b 254 0 && echo OUT", container).split()


def test_without_an_overlay_the_root_is_mapped_as_a_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, node: Node
) -> None:
    """As on a machine whose kernel cannot put layers together: then the image is laid out in a directory."""
    monkeypatch.setattr("lifecycle.cri.sandbox.state.overlay_works", lambda root: False)
    with running_node(tmp_path) as copied:
        container = copied.start("copied", "exec sleep 1000", mapped())
        script = "stat -c %u:%g / /bin/busybox; touch /x && stat -c %u /x"
        assert copied.run(script, container).split() == ["0:0", "0:0", "0"]
        assert "overlay" not in copied.run("cut -d' ' -f3 /proc/mounts | head -1", container)


def test_with_the_pod_the_namespace_goes(node: Node) -> None:
    runtime = node.running.subject.runtime
    node.start("short", "true", mapped(FIRST + 2 * LENGTH))
    sandbox_id = node.running.subject.sandboxes[-1]
    kept = runtime.root / "userns" / sandbox_id  # type: ignore[attr-defined]
    assert kept.exists()
    node.running.run(runtime.stop_pod_sandbox(sandbox_id))
    assert not kept.exists()
    assert str(kept) not in Path("/proc/self/mounts").read_text()


def test_a_container_has_the_users_of_its_pod(node: Node) -> None:
    subject = node.running.subject
    config = subject.container_config(("true",), "odd")
    with pytest.raises(
        RuntimeServiceError,
        match=r"rpc error: code = Unknown desc = user namespace config for sandbox is different from container$",
    ):
        node.running.run(subject.runtime.create_container(subject.sandboxes[0], config))


@pytest.mark.parametrize(
    ("options", "why"),
    [
        ({"mode": "NODE", "uids": [{"host_id": 1, "length": 1}]}, "can't use user namespace mode NODE with mappings"),
        ({"mode": "CONTAINER"}, 'unsupported user namespace mode "CONTAINER"'),
        ({"mode": "POD"}, "only one mapping per user namespace is supported, got 0"),
        ({"mode": "POD", "uids": [{"host_id": 1}]}, "invalid length 0"),
        ({"mode": "POD", "uids": [{"length": 10}]}, "id 0 of the machine is not given away"),
    ],
)
def test_mappings_that_are_none_are_refused(options: dict[str, Any], why: str) -> None:
    with pytest.raises(RuntimeServiceError, match="user namespace configuration: .*" + why + "$"):
        id_mappings({"userns_options": options})


def test_without_options_or_in_the_nodes_mode_there_is_no_mapping() -> None:
    assert id_mappings({}) is None
    assert id_mappings({"userns_options": {"mode": "NODE"}}) is None
    # over the wire the first value of an enum says nothing
    ids = [{"host_id": FIRST, "length": LENGTH}]
    found = id_mappings({"userns_options": {"uids": ids, "gids": ids}})
    assert found is not None
    assert found.uids == IDMapping(0, FIRST, LENGTH)


def test_an_id_outside_of_the_range_has_no_number_on_the_machine() -> None:
    mapping = IDMapping(0, FIRST, LENGTH)
    assert mapping.on_host(1000) == FIRST + 1000
    with pytest.raises(ValueError, match=r"id 65536 is not mapped to the machine$"):
        mapping.on_host(LENGTH)


def test_a_kernel_without_user_namespaces_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "most").write_text("0\n")
    monkeypatch.setattr(user_namespace, "MOST", tmp_path / "most")
    assert user_namespace.why_no_user_namespaces().endswith("most is 0")
    monkeypatch.setattr(user_namespace, "MOST", tmp_path / "absent")
    assert user_namespace.why_no_user_namespaces() == "the kernel has no user namespaces"
