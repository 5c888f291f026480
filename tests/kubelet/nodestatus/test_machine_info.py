"""What a node says of its machine and its runtime: asked for, not written down."""

from __future__ import annotations

import os
from pathlib import Path

from lifecycle.kubelet.nodestatus.machine_info import machine_info, paper_machine_info
from lifecycle.kubelet.nodestatus.setters import runtime_features


def test_a_real_node_says_what_its_machine_says(tmp_path: Path) -> None:
    for name, text in {
        "etc/os-release": 'ID=x\nPRETTY_NAME="Some Linux 7 (seven)"\n',
        "etc/machine-id": "0123456789abcdef\n",
        "proc/sys/kernel/random/boot_id": "b-1\n",
    }.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    assert machine_info(tmp_path) == {
        "machineID": "0123456789abcdef",
        "systemUUID": "0123456789abcdef",
        "bootID": "b-1",
        "kernelVersion": os.uname().release,
        "osImage": "Some Linux 7 (seven)",
    }


def test_what_a_machine_does_not_say_is_left_empty(tmp_path: Path) -> None:
    info = machine_info(tmp_path)
    assert (info["osImage"], info["machineID"], info["bootID"]) == ("Linux", "", "")
    assert info.keys() == paper_machine_info().keys()


def test_handlers_are_those_of_the_runtime() -> None:
    status = {
        "runtime_handlers": [{"name": ""}, {"name": "kata", "features": {"user_namespaces": True}}],
        "features": {"supplemental_groups_policy": True},
    }
    assert runtime_features(status) == {
        "runtimeHandlers": [
            {"name": "", "features": {"recursiveReadOnlyMounts": False, "userNamespaces": False}},
            {"name": "kata", "features": {"recursiveReadOnlyMounts": False, "userNamespaces": True}},
        ],
        "features": {"supplementalGroupsPolicy": True},
    }
    assert runtime_features({}) == {}
