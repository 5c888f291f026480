"""What the groups of a pod are called, by systemd and without it, and the way back."""

from __future__ import annotations

from lifecycle.agreements.claim_checks.cgroups import ASKING, pod
from lifecycle.kubelet.cm.cgroup_names import DRIVERS, cgroup_path, is_pod_cgroup, parse_systemd, pod_cgroup_name

NAME = pod_cgroup_name(("kubelet",), pod("b-1", ASKING))


def test_systemd_has_a_slice_for_each_step_and_no_dashes_in_a_name() -> None:
    slices = cgroup_path(NAME, "systemd")
    assert slices.split("/") == [
        "",
        "kubelet.slice",
        "kubelet-kubepods.slice",
        "kubelet-kubepods-burstable.slice",
        "kubelet-kubepods-burstable-podb_1.slice",
    ]
    assert is_pod_cgroup(("kubelet",), parse_systemd(slices)) == "b-1"


def test_without_systemd_a_group_is_a_path() -> None:
    assert cgroup_path(NAME, "cgroupfs") == "/kubelet/kubepods/burstable/podb-1"


def test_the_root_is_the_root() -> None:
    assert [cgroup_path((), driver) for driver in DRIVERS] == ["/", "/"]
