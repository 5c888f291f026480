"""Cgroups: names in both spellings, values from requests and limits, and files in a tree of either version."""

from __future__ import annotations

import os
import uuid
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lifecycle.api.pods.resources import pod_requests
from lifecycle.kubelet.cm.cgroup_manager import CgroupError, CgroupManager, is_cgroup_filesystem
from lifecycle.kubelet.cm.cgroup_names import (
    is_pod_cgroup,
    new_cgroup_name,
    parse_systemd,
    pod_cgroup_name,
    to_cgroupfs,
    to_systemd,
)
from lifecycle.kubelet.cm.pod_container_manager import PodContainerManager
from lifecycle.kubelet.cm.qos_container_manager import QOSContainerManager
from lifecycle.kubelet.cm.resource_config import (
    ResourceConfig,
    cpu_shares_to_weight,
    memory_high,
    milli_cpu_to_quota,
    milli_cpu_to_shares,
    milli_values,
    resource_config_for_pod,
)
from lifecycle.kubelet.kuberuntime.container_resources import linux_container_resources, oom_score_adjust
from tests.conftest import unavailable

UID = "e38f4c83-141c-4598-b068-01b20baf205f"


def pod(*resources: dict[str, Any], uid: str = UID, **spec: Any) -> dict[str, Any]:
    containers = [{"name": f"c{i}", "image": "x", "resources": r} for i, r in enumerate(resources)]
    return {"metadata": {"name": "p", "namespace": "n", "uid": uid}, "spec": {"containers": containers, **spec}}


LIMITED = {"limits": {"cpu": "100m", "memory": "64Mi"}, "requests": {"cpu": "100m", "memory": "64Mi"}}
ASKING = {"requests": {"cpu": "50m", "memory": "32Mi"}}


def test_a_guaranteed_pod_sits_directly_in_kubepods_the_others_in_a_group_of_their_class() -> None:
    assert to_cgroupfs(pod_cgroup_name((), pod(LIMITED))) == f"/kubepods/pod{UID}"
    assert to_cgroupfs(pod_cgroup_name((), pod(ASKING))) == f"/kubepods/burstable/pod{UID}"
    assert to_cgroupfs(pod_cgroup_name(("kubelet",), pod({}))) == f"/kubelet/kubepods/besteffort/pod{UID}"
    assert pod_cgroup_name((), pod({}), cgroups_per_qos=False) == ()


UIDS = st.from_regex(r"[0-9a-f]{1,6}(-[0-9a-f]{1,4}){0,2}", fullmatch=True)
WORDS = st.lists(st.sampled_from(["kubelet", "kubepods", "burstable", "a", "podx"]), max_size=3).map(tuple)


@given(WORDS, st.sampled_from([LIMITED, ASKING, {}]), UIDS, WORDS.filter(bool))
def test_a_group_tells_whose_it_is_wherever_the_root_is(
    root: tuple[str, ...], resources: dict[str, Any], uid: str, below: tuple[str, ...]
) -> None:
    name = pod_cgroup_name(root, pod(resources, uid=uid))
    assert is_pod_cgroup(root, name) == uid
    assert is_pod_cgroup(root, (*name[:-1], name[-1].replace("-", "_"))) == uid
    assert is_pod_cgroup(root, name[:-1]) == "", "the group of its class"
    assert is_pod_cgroup(root, (*name[:-1], "system")) == ""
    assert is_pod_cgroup(root, (*name[:-1], "guaranteed", name[-1])) == ""
    assert is_pod_cgroup((*root, "elsewhere"), name) == ""
    if resources != LIMITED:
        assert is_pod_cgroup(root, (*name, *below)) == "", "a container's"


def test_a_slice_carries_its_parents_in_its_name_and_dashes_become_underscores() -> None:
    name = pod_cgroup_name(("kubelet",), pod(ASKING))
    underscored = UID.replace("-", "_")
    assert to_systemd(name) == (
        "/kubelet.slice/kubelet-kubepods.slice/kubelet-kubepods-burstable.slice/"
        f"kubelet-kubepods-burstable-pod{underscored}.slice"
    )
    assert is_pod_cgroup(("kubelet",), parse_systemd(to_systemd(name))) == UID
    assert is_pod_cgroup(("kubelet",), ("kubelet", "kubepods", "burstable")) == ""
    with pytest.raises(ValueError, match=r'invalid character in component "a/b" of CgroupName$'):
        new_cgroup_name((), "a/b")


@pytest.mark.parametrize(("shares", "weight"), [(0, 0), (2, 1), (102, 17), (1024, 100), (2048, 174), (262144, 10000)])
def test_the_curve_from_shares_to_weight(shares: int, weight: int) -> None:
    assert cpu_shares_to_weight(shares) == weight


@given(st.integers(0, 10**7))
def test_shares_weights_and_quotas_are_monotonous_and_within_bounds(milli: int) -> None:
    shares = milli_cpu_to_shares(milli)
    assert 2 <= shares <= 262144
    assert shares <= milli_cpu_to_shares(milli + 1)
    assert 1 <= cpu_shares_to_weight(shares) <= 10000
    assert cpu_shares_to_weight(shares) <= cpu_shares_to_weight(min(shares + 1, 262144))
    assert milli_cpu_to_quota(milli) == 0 if not milli else milli_cpu_to_quota(milli) >= 1000


def test_requests_become_shares_limits_become_quota_and_memory() -> None:
    assert resource_config_for_pod(pod(LIMITED)) == ResourceConfig(102, 10000, 100000, 64 << 20)
    assert resource_config_for_pod(pod(ASKING)) == ResourceConfig(51)
    assert resource_config_for_pod(pod({})) == ResourceConfig(2)
    half = pod(LIMITED, {"requests": {"cpu": "1"}})  # one container without a limit: the pod has none
    assert resource_config_for_pod(half) == ResourceConfig(1126)
    assert resource_config_for_pod(pod(LIMITED), enforce_cpu_limits=False, pod_pids_limit=100).cpu_quota == -1


@pytest.mark.parametrize("name", ["cpu", "memory"])
def test_a_pod_is_limited_in_what_all_its_containers_are_or_what_is_said_of_it_as_a_whole(name: str) -> None:
    def limited(*values: str, **spec: Any) -> bool:
        found = resource_config_for_pod(pod(*({"limits": {name: value} if value else {}} for value in values), **spec))
        other = {"cpu": found.memory, "memory": found.cpu_quota}[name]
        assert other is None, "of the other nothing was said"
        return {"cpu": found.cpu_quota, "memory": found.memory}[name] is not None

    assert limited("1", "2")
    assert not limited("1", "")
    assert not limited("1", "0")
    assert not limited("", "1")
    init = {"name": "i", "image": "x", "resources": {"limits": {name: "1"}}}
    assert limited("1", initContainers=[init])
    assert not limited("1", initContainers=[{**init, "resources": {}}])
    assert limited("", resources={"limits": {name: "4"}})
    assert not limited("", "1", resources={"requests": {name: "1"}})


def test_init_containers_count_only_where_they_need_more_and_sidecars_always() -> None:
    asks = {"requests": {"cpu": "100m"}}
    init = [
        {"name": "i", "image": "x", "resources": {"requests": {"cpu": "300m"}}},
        {"name": "s", "image": "x", "restartPolicy": "Always", "resources": {"requests": {"cpu": "50m"}}},
        {"name": "j", "image": "x", "resources": {"requests": {"cpu": "400m"}}},
    ]
    assert milli_values(pod_requests(pod(asks, initContainers=init))) == {"cpu": 450}  # j beside s
    assert milli_values(pod_requests(pod(asks, initContainers=init[:2]))) == {"cpu": 300}
    assert milli_values(pod_requests(pod(asks, overhead={"cpu": "10m"}))) == {"cpu": 110}


def test_huge_pages_and_memory_qos() -> None:
    pages = {"limits": {"hugepages-2Mi": "4Mi", "cpu": "1", "memory": "1Gi"}}
    assert resource_config_for_pod(pod(pages)).hugepage_limit == {"2MB": 4 << 20}
    assert resource_config_for_pod(pod(ASKING), memory_qos=True).unified == {"memory.min": str(32 << 20)}
    container = {"resources": {"requests": {"memory": "100Mi"}, "limits": {"memory": "200Mi"}}}
    assert memory_high(container, 1 << 40) == 190 << 20


def test_whom_the_kernel_kills_first() -> None:
    memory = 1000 << 20
    burstable = pod({"requests": {"memory": "250Mi"}}, {"requests": {"memory": "999Mi"}}, {"requests": {"cpu": "1"}})
    scores = [oom_score_adjust(burstable, c, memory) for c in burstable["spec"]["containers"]]
    assert scores == [750, 3, 999]
    for which, score in (
        (pod(LIMITED), -997),
        (pod({}), 1000),
        (pod({}, priorityClassName="system-node-critical"), -997),
    ):
        assert oom_score_adjust(which, which["spec"]["containers"][0], memory) == score


def test_a_sidecar_goes_no_sooner_than_the_first_of_those_it_serves() -> None:
    memory = 1000 << 20

    def score(sidecar: str) -> int:
        init = {"name": "s", "image": "x", "restartPolicy": "Always", "resources": {"requests": {"memory": sidecar}}}
        served = pod({"requests": {"memory": "250Mi"}}, {"requests": {"memory": "600Mi"}}, initContainers=[init])
        return oom_score_adjust(served, init, memory)

    assert [score(asks) for asks in ("100Mi", "250Mi", "300Mi", "700Mi")] == [750, 750, 700, 300]


def test_what_only_the_pod_asks_for_is_shared_out_among_its_containers() -> None:
    memory = 1000 << 20
    init = {"name": "i", "image": "x", "resources": {}}
    sidecar = {**init, "name": "s", "restartPolicy": "Always"}
    whole = {"requests": {"memory": "600Mi"}}
    shared = pod({"requests": {"memory": "200Mi"}}, {}, resources=whole, initContainers=[init, sidecar])
    containers = [*shared["spec"]["containers"], init, sidecar]
    assert [oom_score_adjust(shared, each, memory) for each in containers] == [700, 900, 900, 900]
    alone = pod({"requests": {"memory": "200Mi"}}, resources={"requests": {"cpu": "1"}})
    assert oom_score_adjust(alone, alone["spec"]["containers"][0], memory) == 800


def test_a_container_without_a_limit_has_the_pods() -> None:
    whole = {"limits": {"cpu": "2", "memory": "64Mi"}}
    shared = pod({}, {"requests": {"cpu": "1"}, "limits": {"cpu": "1", "memory": "16Mi"}}, resources=whole)
    free, own = (linux_container_resources(shared, c, 1 << 34) for c in shared["spec"]["containers"])
    assert (free["cpu_quota"], free["cpu_shares"], free["memory_limit_in_bytes"]) == (200_000, 2048, 64 << 20)
    assert (own["cpu_quota"], own["cpu_shares"], own["memory_limit_in_bytes"]) == (100_000, 1024, 16 << 20)


def test_huge_pages_of_the_pod_are_each_container_s_that_does_not_limit_them_itself() -> None:
    whole = {"limits": {"hugepages-2Mi": "8Mi", "hugepages-1Gi": "1Gi"}}
    shared = pod({}, {"limits": {"hugepages-2Mi": "2Mi"}}, resources=whole)
    limits = [
        {entry["page_size"]: entry.get("limit") for entry in told["hugepage_limits"]}
        for told in (linux_container_resources(shared, c, 1 << 34) for c in shared["spec"]["containers"])
    ]
    assert limits == [{"2MB": 8 << 20, "1GB": 1 << 30}, {"2MB": 2 << 20, "1GB": 1 << 30}]


def test_what_the_runtime_is_told_of_a_container() -> None:
    guaranteed = pod(LIMITED)
    told = linux_container_resources(guaranteed, guaranteed["spec"]["containers"][0], 1 << 34)
    assert told["cpu_shares"] == 102
    assert told["memory_swap_limit_in_bytes"] == told["memory_limit_in_bytes"] == 64 << 20
    assert "cpu_quota" not in linux_container_resources(pod({}), pod({})["spec"]["containers"][0], 1 << 34)


@pytest.mark.parametrize("version", [1, 2])
@pytest.mark.parametrize("driver", ["cgroupfs", "systemd"])
def test_a_tree_of_ordinary_directories(tmp_path: Path, version: int, driver: str) -> None:
    for controller in ("cpu", "memory", "pids") if version == 1 else ():
        (tmp_path / controller).mkdir()
    tree = CgroupManager(tmp_path, version=version, driver=driver)
    groups = PodContainerManager(tree, ("kubelet",), pod_pids_limit=100)
    classes = QOSContainerManager(tree, ("kubelet",))
    classes.start({"cpu": "2", "memory": "24684096Ki"}, pids=192731)
    burstable, guaranteed = pod(ASKING, uid="b-1"), pod(LIMITED, uid="g-1")
    for one in (burstable, guaranteed):
        groups.ensure_exists(one)
        groups.ensure_exists(one)
    classes.update_cgroups([burstable, guaranteed])
    name = groups.pod_container_name(guaranteed)
    if version == 1:
        assert tree.read(name, "cpu.cfs_quota_us") == "10000"
        assert tree.read(("kubelet", "kubepods"), "memory.limit_in_bytes") == "25276514304"
        assert tree.read(("kubelet", "kubepods", "burstable"), "cpu.shares") == "51"
    else:
        assert tree.read(name, "cpu.max") == "10000 100000"
        assert tree.read(name, "cpu.weight") == "17"
        assert tree.read(name, "memory.max") == str(64 << 20)
    assert tree.read(name, "pids.max") == "100"
    assert set(groups.all_pods()) == {"b-1", "g-1"}
    assert groups.destroy_orphans({"g-1"}) == ["b-1"]
    assert not groups.exists(burstable)
    assert groups.exists(guaranteed)
    groups.destroy(guaranteed)
    groups.destroy(guaranteed)
    with pytest.raises(CgroupError, match=r"^failed to read cpu\.shares for cgroup /kubelet.*podg.1(\.slice)?$"):
        tree.read(name, "cpu.shares")


RAISED, LOWERED = {"cpu": "200m", "memory": "96Mi"}, {"cpu": "50m", "memory": "32Mi"}


@pytest.mark.parametrize("version", [1, 2])
@pytest.mark.parametrize(
    ("limits", "after"),
    [
        (RAISED, (20000, 96 << 20)),
        (LOWERED, (10000, 64 << 20)),
        ({**LOWERED, "cpu": "200m"}, (20000, 64 << 20)),
        ({**LOWERED, "memory": "96Mi"}, (10000, 96 << 20)),
        ({"cpu": "100m", "memory": "64Mi"}, (10000, 64 << 20)),
    ],
)
def test_before_a_container_is_given_more_its_pod_grows_and_never_shrinks(
    tmp_path: Path, version: int, limits: dict[str, str], after: tuple[int, int]
) -> None:
    for controller in ("cpu", "memory", "pids") if version == 1 else ():
        (tmp_path / controller).mkdir()
    tree = CgroupManager(tmp_path, version=version, driver="cgroupfs")
    groups = PodContainerManager(tree, ())
    before, then = pod(LIMITED), pod({"limits": limits, "requests": limits})
    groups.grow(then)
    assert not groups.exists(then), "nothing grows that is not there"
    groups.ensure_exists(before)
    groups.grow(then)
    found = groups.pod_cgroup_config(before)
    assert found is not None
    assert (found.cpu_quota, found.memory) == after


def test_the_kernels_own_tree_takes_it_and_gives_it_back() -> None:
    root = Path("/sys/fs/cgroup")
    if os.geteuid() or not (root / "cpu").is_dir() or not is_cgroup_filesystem(root / "cpu"):
        unavailable("root and a cgroup v1 tree at /sys/fs/cgroup")
    parent = f"lifecycle-test-{uuid.uuid4().hex[:8]}"
    tree = CgroupManager(root, version=1, driver="cgroupfs")
    tree.controllers = tuple(c for c in tree.controllers if c in ("cpu", "memory", "pids"))
    groups = PodContainerManager(tree, (parent,))
    try:
        groups.ensure_exists(pod(LIMITED))
        name = groups.pod_container_name(pod(LIMITED))
        assert tree.read(name, "cpu.shares") == "102"
        assert tree.read(name, "cpu.cfs_quota_us") == "10000"
        assert tree.read(name, "memory.limit_in_bytes") == str(64 << 20)
        config = groups.pod_cgroup_config(pod(LIMITED))
        assert config is not None
        assert (config.cpu_shares, config.cpu_quota, config.cpu_period) == (102, 10_000, 100_000)
        assert config.memory == 64 << 20
        groups.destroy(pod(LIMITED))
        assert not groups.exists(pod(LIMITED))
        assert groups.pod_cgroup_config(pod(LIMITED)) is None
    finally:
        tree.destroy((parent,))
    assert not tree.exists((parent,))
