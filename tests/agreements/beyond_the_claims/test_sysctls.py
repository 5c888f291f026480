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
        ("kernel.msgmax", True, True, '"kernel.msgmax" not allowlisted'),
        ("kernel/msgmax", True, False, '"kernel.msgmax" not allowlisted'),
        (NET, False, True, ""),
        (IPC, True, False, ""),
        (NET, True, False, f'"{NET}" not allowed with host Net enabled'),
        (IPC, False, True, f'"{IPC}" not allowed with host IPC enabled'),
    ],
)
def test_a_setting_is_for_a_pod_that_has_its_own(name: str, host_network: bool, host_ipc: bool, said: str) -> None:
    assert SysctlAllowlist(("net.*",)).validate_sysctl(name, host_network, host_ipc) == said


FEW = ("net.core.*", "net.ipv4.tcp_*", "net/ipv6/*", "kernel.msgmax")
"""What else a careful administrator allows."""


@pytest.mark.parametrize(
    ("name", "allowed"),
    [
        ("net.core.somaxconn", True), ("net/core/somaxconn", True), ("net.core.", True), ("net.core", False),
        ("net.corex.y", False), ("net.core_y", False), ("net.cor", False), ("net.ipv4.tcp_mem", True),
        ("net.ipv4.tcp_", True), ("net.ipv4.tcp", False), ("net.ipv4.tcpx", False), ("net.ipv4.ip_forward", False),
        ("net.ipv6.conf.all", True), ("net.ipv6x.conf", False), ("kernel.msgmax", True), ("kernel.msgmax2", False),
        ("kernel.msgmnb", False), ("net.ipv4.tcp_syncookies", True), ("net.ipv4.ip_unprivileged_port_start", True),
        ("net.ipv4.ip_unprivileged_port", False), ("net.ipv4.ip_unprivileged_port_start.x", False),
    ],
)  # fmt: skip
def test_a_star_stands_for_what_comes_after_all_that_is_before_it(name: str, allowed: bool) -> None:
    said = SysctlAllowlist(FEW).validate_sysctl(name, False, False)
    assert said == ("" if allowed else f'"{name.replace("/", ".")}" not allowlisted')


def test_a_star_of_all_of_a_namespace_stops_where_its_name_does() -> None:
    allowlist = SysctlAllowlist(("net.*",))
    said = [allowlist.validate_sysctl(name, False, False) for name in ("net.x", "net", "netfilter.x", "nett.x")]
    assert said == ["", *(f'"{name}" not allowlisted' for name in ("net", "netfilter.x", "nett.x"))]
