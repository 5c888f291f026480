"""What a machine lacks for real containers is said before anything is made, each with what to do about it."""

from __future__ import annotations

import asyncio
import os
import platform
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest

from lifecycle.cluster.linux import requirements
from lifecycle.cluster.linux.containerd_node import ContainerdNode
from lifecycle.cni import namespaces
from lifecycle.cri.images import small_images
from tests.conftest import unavailable
from tests.cri.private_containerd import why_not

HERE: dict[str, Any] = {
    "system": "linux",
    "user": 0,
    "without": (),
    "busybox": Path("/bin/busybox"),
    "machine": "x86_64",
    "cgroups": True,
    "namespaces": True,
}
"""A machine that has everything."""


@pytest.mark.parametrize(
    ("runtime", "change", "said"),
    [
        ("sandbox", {}, []),
        ("containerd", {}, []),
        ("sandbox", {"system": "darwin"}, ["real containers need Linux; --runtime hollow runs everywhere"]),
        (
            "sandbox",
            {"user": 1000, "cgroups": False, "namespaces": False},
            ["real containers need root: use sudo, or --runtime hollow"],
        ),
        (
            "sandbox",
            {"without": ("iptables", "runc")},
            ["iptables is missing (Services: kube-proxy's rules): apt-get install iptables"],
        ),
        (
            "containerd:/run/containerd.sock",
            {"without": ("runc", "ctr", "containerd")},
            [
                "containerd is missing (--runtime containerd): apt-get install containerd",
                "ctr is missing (--runtime containerd): apt-get install containerd",
                "runc is missing (--runtime containerd): apt-get install runc",
            ],
        ),
        (
            "sandbox",
            {"without": ("busybox",), "busybox": None},
            ["busybox is missing (what is in the images: a static busybox): apt-get install busybox-static"],
        ),
        (
            "sandbox",
            {"busybox": None},
            ["busybox here needs libraries, images have none: apt-get install busybox-static"],
        ),
        (
            "sandbox",
            {"machine": "aarch64"},
            ["the pause program is made for x86-64; this machine is aarch64: use --runtime hollow"],
        ),
        (
            "sandbox",
            {"cgroups": False, "namespaces": False},
            [
                "/sys/fs/cgroup is read-only here: run on the machine itself, or in a privileged container",
                "network namespaces cannot be made: CAP_SYS_ADMIN is missing, run in a privileged container",
            ],
        ),
    ],
)
def test_what_is_missing_is_said_with_the_remedy(
    monkeypatch: pytest.MonkeyPatch, runtime: str, change: dict[str, Any], said: list[str]
) -> None:
    there = HERE | change
    monkeypatch.setattr(sys, "platform", there["system"])
    monkeypatch.setattr(os, "geteuid", lambda: there["user"])
    monkeypatch.setattr(shutil, "which", lambda program: None if program in there["without"] else f"/bin/{program}")
    monkeypatch.setattr(small_images, "find_busybox", lambda: there["busybox"])
    monkeypatch.setattr(platform, "machine", lambda: there["machine"])
    monkeypatch.setattr(requirements, "_cgroups_writable", lambda: there["cgroups"])
    monkeypatch.setattr(namespaces, "can_make_namespaces", lambda: there["namespaces"])
    assert requirements.missing(runtime) == said


def test_a_containerd_that_does_not_start_is_quoted(tmp_path: Path) -> None:
    if why_not():
        unavailable(why_not())

    async def connected() -> None:
        raise AssertionError("it is not that far")

    async def start() -> str:
        plugins = tmp_path / 'a"quote'  # no path for a TOML file
        node = ContainerdNode(tmp_path / "c", plugins, tmp_path, "/proc/self/ns/net", connected, "node-1")
        try:
            with pytest.raises(OSError, match=r"^containerd did not start: ") as refused:
                await node.start("http://127.0.0.1:1")
            return str(refused.value)
        finally:
            await node.close()

    assert "toml" in asyncio.run(start())
