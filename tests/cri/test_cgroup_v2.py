"""Version 2 on a real tree: mounted by the test, with the controllers that this machine's version 1 trees leave over."""

from __future__ import annotations

import errno
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from lifecycle.cri.sandbox.cgroups import Cgroup
from tests.conftest import unavailable

NAME = f"lifecycle-test-{os.getpid()}"


@pytest.fixture
def tree(tmp_path: Path) -> Iterator[Path]:
    mounted = subprocess.run(
        ["mount", "-t", "cgroup2", "none", str(tmp_path)], capture_output=True, text=True, check=False
    )
    if mounted.returncode:
        unavailable(f"a cgroup2 tree cannot be mounted: {mounted.stderr.strip()}")
    yield tmp_path
    for left in (tmp_path / NAME / "pod", tmp_path / NAME):
        if left.is_dir():
            left.rmdir()
    subprocess.run(["umount", str(tmp_path)], check=True)


def busy(cgroup: Cgroup) -> subprocess.Popen[bytes]:
    """A process that has joined before its program starts, and a child of it."""
    script = "sleep 600 & while :; do :; done"
    return subprocess.Popen(["sh", "-c", script], preexec_fn=cgroup.join)


def test_who_joins_is_counted_with_its_children_and_killed(tree: Path) -> None:
    cgroup = Cgroup(f"{NAME}/pod/one", {"": str(tree)})
    cgroup.create({})
    other = Cgroup(f"{NAME}/pod/two", {"": str(tree)})
    other.create({})
    process = busy(cgroup)
    try:
        while len(cgroup.members()) < 2 or cgroup.usage()[0] < 10_000_000:
            assert process.poll() is None
        assert process.pid in cgroup.members()
        assert other.members() == set()
        assert other.usage()[0] == 0
    finally:
        cgroup.kill()
    assert process.wait(10) == -signal.SIGKILL
    assert cgroup.members() == set()
    for gone in (cgroup, other):
        gone.remove()
    assert not (tree / NAME / "pod" / "one").exists()
    assert (tree / NAME / "pod").is_dir()  # the kubelet's


def test_a_parent_hands_its_controllers_down(tree: Path) -> None:
    cgroup = Cgroup(f"{NAME}/pod/one", {"": str(tree)})
    cgroup.create({})
    try:
        have = (tree / "cgroup.controllers").read_text()
        assert (tree / NAME / "pod" / "one" / "cgroup.controllers").read_text() == have
    finally:
        cgroup.remove()


def test_a_limit_without_its_controller_is_an_error(tree: Path) -> None:
    cgroup = Cgroup(f"{NAME}/pod/one", {"": str(tree)})
    cgroup.create({})
    try:
        with pytest.raises(OSError, match=r"no-such-controller\.max"):
            cgroup.update({"unified": {"no-such-controller.max": "1"}})
    finally:
        cgroup.remove()


INSIDE = """
import json, os, sys
from lifecycle.cri.sandbox import rootfs, syscalls
from lifecycle.cri.sandbox.cgroups import Cgroup
tree, path, root, write = sys.argv[1:]
syscalls.unshare(syscalls.CLONE_NEWNS)
syscalls.mount("", "/", flags=syscalls.MS_REC | syscalls.MS_PRIVATE)
options = ["nosuid", "noexec", "nodev", write]
mount = {"destination": "/sys/fs/cgroup", "type": "cgroup", "source": "cgroup", "options": options}
rootfs.mount_cgroups(mount, root, Cgroup(path, {"": tree}))
target = f"{root}/sys/fs/cgroup"
try:
    os.mkdir(f"{target}/new")
    os.rmdir(f"{target}/new")
    error = 0
except OSError as refusal:
    error = refusal.errno
print(json.dumps({"error": error, "groups": [entry.name for entry in os.scandir(target) if entry.is_dir()]}))
"""


@pytest.mark.parametrize(("write", "error", "sees_others"), [("ro", errno.EROFS, False), ("rw", 0, True)])
def test_a_container_is_shown_its_own_group_and_only_a_privileged_one_may_change_the_tree(
    tree: Path, tmp_path_factory: pytest.TempPathFactory, write: str, error: int, sees_others: bool
) -> None:
    path = f"{NAME}/pod/one"
    cgroup = Cgroup(path, {"": str(tree)})
    cgroup.create({})
    try:
        root = str(tmp_path_factory.mktemp("root"))
        words = [sys.executable, "-c", INSIDE, str(tree), path, root, write]
        done = subprocess.run(words, capture_output=True, text=True, check=True)
        answer = json.loads(done.stdout)
        assert answer["error"] == error
        assert (NAME in answer["groups"]) is sees_others
        assert sees_others or answer["groups"] == []
    finally:
        cgroup.remove()
