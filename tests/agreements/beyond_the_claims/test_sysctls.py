"""What a node on which `net.*` is allowed beside the safe settings says to them."""

from __future__ import annotations

import pytest

from lifecycle.kubelet.lifecycle.admit_handlers import SysctlAllowlist

NET, IPC = "net.core.somaxconn", "kernel.shm_rmid_forced"


@pytest.mark.parametrize(
    ("name", "host_network", "host_ipc", "said"),
    [
        (NET, False, False, ""),
        ("net/core/somaxconn", False, False, ""),
        (IPC, False, False, ""),
        ("kernel.msgmax", False, False, '"kernel.msgmax" not allowlisted'),
        (NET, True, False, f'"{NET}" not allowed with host Net enabled'),
        (IPC, False, True, f'"{IPC}" not allowed with host IPC enabled'),
    ],
)
def test_a_setting_is_for_a_pod_that_has_its_own(name: str, host_network: bool, host_ipc: bool, said: str) -> None:
    assert SysctlAllowlist(("net.*",)).validate_sysctl(name, host_network, host_ipc) == said
