"""Host ports: which a pod asks for, and when two of them get in each other's way."""

from __future__ import annotations

import pytest

from lifecycle.api.pods.host_ports import HostPort, host_ports, ports_conflict


def test_containers_and_sidecars_ask_for_host_ports_and_other_init_containers_do_not() -> None:
    spec = {
        "containers": [
            {"ports": [{"containerPort": 80, "hostPort": 8080}, {"containerPort": 81}]},
            {"ports": [{"hostPort": 53, "protocol": "UDP", "hostIP": "127.0.0.1"}]},
            {},
        ],
        "initContainers": [
            {"restartPolicy": "Always", "ports": [{"hostPort": 9000}]},
            {"restartPolicy": "Never", "ports": [{"hostPort": 9001}]},
            {"ports": [{"hostPort": 9002}]},
        ],
    }
    assert host_ports({"spec": spec}) == [
        ("0.0.0.0", "TCP", 8080), ("127.0.0.1", "UDP", 53), ("0.0.0.0", "TCP", 9000),
    ]  # fmt: skip
    assert host_ports({"spec": {"containers": [{"ports": [{"hostPort": 0}]}]}}) == []


@pytest.mark.parametrize(
    ("used", "asked", "conflict"),
    [
        (("10.0.0.1", "TCP", 80), ("10.0.0.1", "TCP", 80), True),
        (("10.0.0.1", "TCP", 80), ("10.0.0.2", "TCP", 80), False),
        (("10.0.0.1", "TCP", 80), ("10.0.0.1", "UDP", 80), False),
        (("10.0.0.1", "TCP", 80), ("10.0.0.1", "TCP", 81), False),
        (("0.0.0.0", "TCP", 80), ("10.0.0.1", "TCP", 80), True),
        (("10.0.0.1", "TCP", 80), ("0.0.0.0", "TCP", 80), True),
        (("10.0.0.1", "UDP", 80), ("0.0.0.0", "TCP", 80), False),
        (("10.0.0.1", "TCP", 81), ("0.0.0.0", "TCP", 80), False),
        (("0.0.0.0", "TCP", 80), ("10.0.0.1", "TCP", 81), False),
        (("0.0.0.0", "UDP", 80), ("10.0.0.1", "TCP", 80), False),
    ],
)
def test_ports_conflict_on_the_same_address_and_with_whoever_has_them_all(
    used: HostPort, asked: HostPort, conflict: bool
) -> None:
    free = ("10.9.9.9", "TCP", 1)
    assert ports_conflict([("10.8.8.8", "SCTP", 5), used], [free, asked]) is conflict
    assert not ports_conflict([], [asked])
    assert not ports_conflict([used], [])
