"""Volumes: what is written, how it is replaced, what is said when it cannot be had, and that nothing stays behind."""

from __future__ import annotations

import asyncio
import base64
import os
import random
import stat
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lifecycle.api.http.wire import Object
from lifecycle.api.loop.clock import Clock, run_virtual
from lifecycle.kubelet.config.directories import PodDirectories
from lifecycle.kubelet.container.expansion import expand
from lifecycle.kubelet.container.runtime_helper import ContainerEnvironmentError
from lifecycle.kubelet.kubelet_pods.environment import from_services, make_environment_variables
from lifecycle.kubelet.kubelet_pods.hosts_file import ensure_hosts_file, host_name_and_domain, managed_hosts_file
from lifecycle.kubelet.kubelet_pods.mounts import MountError, make_mounts
from lifecycle.kubelet.volume.atomic_writer import AtomicWriter, FileProjection, validate_path
from lifecycle.kubelet.volume.empty_dir import LinuxMounter, NotedMounter
from lifecycle.kubelet.volume.host_path import check_type
from lifecycle.kubelet.volume.ownership import set_volume_ownership
from lifecycle.kubelet.volume.payloads import VolumeError
from lifecycle.kubelet.volumemanager.attachable import Unprocessable, claimed_volume
from lifecycle.kubelet.volumemanager.volume_manager import MountResult, VolumeManager
from tests.conftest import unavailable

OBJECTS: dict[tuple[str, str], Object] = {
    ("configmaps", "cfg"): {"data": {"KEY": "value", "file.txt": "hello\n"}},
    ("secrets", "sec"): {"data": {"password": base64.b64encode(b"hunter2").decode()}},
}


class Cluster:
    """Answers for the API server."""

    def __init__(self) -> None:
        self.objects = {key: dict(value) for key, value in OBJECTS.items()}
        self.tokens = 0

    async def get(self, plural: str, name: str, namespace: str) -> Object:
        if (plural, name) not in self.objects:
            raise LookupError(f'{plural.removesuffix("s")} "{name}" not found')
        return self.objects[plural, name]

    async def token(self, pod: Object, audience: str, seconds: int) -> str:
        self.tokens += 1
        return f"token-{self.tokens}"


def pod(*volumes: Object, **spec: Any) -> Object:
    """One whose first container mounts all of its volumes."""
    first, *others = spec.pop("containers", [{"name": "c", "image": "x"}])
    mounts = [{"name": each["name"], "mountPath": f"/{each['name']}"} for each in volumes]
    containers = [{"volumeMounts": mounts, **first}, *others]
    return {
        "metadata": {"name": "p", "namespace": "n", "uid": "u-1", "labels": {"app": "x", "a": 'q"'}},
        "spec": {"containers": containers, "volumes": list(volumes), **spec},
    }


def manager(tmp_path: Path, cluster: Cluster | None = None, **more: Any) -> VolumeManager:
    cluster = cluster or Cluster()
    more.setdefault("allocatable", {"memory": "1Gi", "cpu": "2"})
    return VolumeManager(PodDirectories(tmp_path), cluster.get, cluster.token, Clock(), rng=random.Random(1), **more)


def mount(volumes: VolumeManager, which: Object) -> MountResult:
    return run_virtual(volumes.wait_for_attach_and_mount(which))


PROJECTED: Object = {
    "name": "api",
    "projected": {
        "sources": [
            {"serviceAccountToken": {"path": "token", "expirationSeconds": 3607}},
            {"configMap": {"name": "cfg", "items": [{"key": "KEY", "path": "deep/key", "mode": 0o400}]}},
            {"downwardAPI": {"items": [{"path": "namespace", "fieldRef": {"fieldPath": "metadata.namespace"}}]}},
        ]
    },
}


def test_each_kind_lands_where_upstream_puts_it(tmp_path: Path) -> None:
    volumes = manager(tmp_path)
    which = pod(
        {"name": "cm", "configMap": {"name": "cfg"}},
        {"name": "sec", "secret": {"secretName": "sec", "defaultMode": 0o400}},
        {"name": "empty", "emptyDir": {}},
        {"name": "down", "downwardAPI": {"items": [{"path": "labels", "fieldRef": {"fieldPath": "metadata.labels"}}]}},
        PROJECTED,
    )
    assert mount(volumes, which) == MountResult()
    base = tmp_path / "pods/u-1/volumes"
    assert (base / "kubernetes.io~configmap/cm/KEY").read_text() == "value"
    assert os.readlink(base / "kubernetes.io~configmap/cm/KEY") == "..data/KEY"
    assert stat.S_IMODE((base / "kubernetes.io~secret/sec/password").stat().st_mode) == 0o400
    assert (base / "kubernetes.io~downward-api/down/labels").read_text() == 'a="q\\""\napp="x"'
    assert (base / "kubernetes.io~projected/api/deep/key").read_text() == "value"
    assert (base / "kubernetes.io~projected/api/token").read_text() == "token-1"
    assert stat.S_IMODE((base / "kubernetes.io~empty-dir/empty").stat().st_mode) == 0o777
    notes = tmp_path / "pods/u-1/plugins/kubernetes.io~empty-dir"
    assert sorted(p.name for p in notes.iterdir()) == [
        "empty",
        "wrapped_api",
        "wrapped_cm",
        "wrapped_down",
        "wrapped_sec",
    ]
    volumes.unmount_volumes("u-1")
    volumes.unmount_volumes("u-1")
    assert list(notes.iterdir()) == []
    assert [list(p.iterdir()) for p in base.iterdir()] == [[]] * 5  # as on a real node, the plugins' directories stay


def test_nobody_waits_for_a_volume_that_no_container_mounts(tmp_path: Path) -> None:
    missing = {"name": "v", "secret": {"secretName": "no"}}
    volumes, mounts = manager(tmp_path), [{"name": "v", "mountPath": "/v"}]
    bare = [{"name": "c", "image": "x", "volumeMounts": []}]
    assert mount(volumes, pod(missing, containers=bare)) == MountResult()
    assert volumes.volumes_for_pod("u-1") == {}
    for kind in ("initContainers", "ephemeralContainers"):
        which = pod(missing, containers=bare, **{kind: [{"name": "i", "image": "x", "volumeMounts": mounts}]})
        assert mount(manager(tmp_path), which).failures == [("v", 'secret "no" not found')]


@pytest.mark.parametrize(
    ("volume", "why"),
    [
        ({"configMap": {"name": "y"}}, 'configmap "y" not found'),
        ({"secret": {"secretName": "y"}}, 'secret "y" not found'),
        (
            {"secret": {"secretName": "sec", "items": [{"key": "k", "path": "p"}]}},
            "references non-existent secret key: k",
        ),
        (
            {"configMap": {"name": "cfg", "items": [{"key": "k", "path": "p"}]}},
            "configmap references non-existent config key: k",
        ),
        (
            {"hostPath": {"path": "/no/such", "type": "Directory"}},
            "hostPath type check failed: /no/such is not a directory",
        ),
        ({"hostPath": {"path": "/dev", "type": "File"}}, "hostPath type check failed: /dev is not a file"),
    ],
)
def test_what_is_missing_is_said_in_upstreams_words(tmp_path: Path, volume: Object, why: str) -> None:
    result = mount(manager(tmp_path), pod({"name": "v", **volume}))
    assert result.failures == [("v", why)]
    assert result.retry_after == 0.5


def test_what_is_optional_may_be_missing(tmp_path: Path) -> None:
    volumes = manager(tmp_path)
    assert mount(volumes, pod({"name": "v", "configMap": {"name": "y", "optional": True}})).retry_after is None
    assert list((tmp_path / "pods/u-1/volumes/kubernetes.io~configmap/v").glob("[!.]*")) == []


def test_a_failed_volume_waits_twice_as_long_each_time_up_to_two_minutes(tmp_path: Path) -> None:
    cluster = Cluster()

    async def main() -> tuple[list[float | None], float | None]:
        volumes = manager(tmp_path, cluster)
        which, waits = pod({"name": "v", "secret": {"secretName": "late"}}), []
        for _ in range(11):
            result = await volumes.wait_for_attach_and_mount(which)
            assert result.failures == [("v", 'secret "late" not found')]
            waits.append(result.retry_after)
            await asyncio.sleep((result.retry_after or 0) / 2)
            early = await volumes.wait_for_attach_and_mount(which)
            assert (early.failures, early.unprocessed) == ([], "")  # it is not tried before
            await asyncio.sleep(early.retry_after or 0)
        cluster.objects["secrets", "late"] = {"data": {}}
        return waits, (await volumes.wait_for_attach_and_mount(which)).retry_after

    waits, after = run_virtual(main())
    assert waits == [0.5, 1, 2, 4, 8, 16, 32, 64, 122, 122, 122]
    assert after is None


def test_of_a_claim_that_leads_nowhere_is_told_at_once_and_every_ten_seconds(tmp_path: Path) -> None:
    cluster = Cluster()
    claimed(cluster, local={"path": str(tmp_path)})
    claim = cluster.objects["persistentvolumeclaims", "data"]
    cluster.objects["persistentvolumeclaims", "data"] = {**claim, "status": {"phase": "Pending"}}

    async def main() -> list[MountResult]:
        volumes = manager(tmp_path, cluster)
        which = pod({**CLAIMED, "name": "w"}, {"name": "s", "secret": {"secretName": "no"}}, CLAIMED)
        results = [await volumes.wait_for_attach_and_mount(which)]
        await asyncio.sleep(9)
        results.append(await volumes.wait_for_attach_and_mount(which))
        await asyncio.sleep(1)
        results.append(await volumes.wait_for_attach_and_mount(which))
        cluster.objects["persistentvolumeclaims", "data"] = claim
        await asyncio.sleep(10)
        results.append(await volumes.wait_for_attach_and_mount(which))
        return results

    told = [result.unprocessed for result in run_virtual(main())]
    why = "error processing PVC n/data: PVC is not bound"
    lists = "unmounted volumes=[s v w], unattached volumes=[], failed to process volumes=[v w]"
    assert told == [said := f"Unable to attach or mount volumes: {lists}: {why}", "", said, ""]  # one claim


def test_what_is_told_of_claims_names_all_that_the_pod_waits_for_whenever_it_was_tried(tmp_path: Path) -> None:
    cluster = Cluster()
    claimed(cluster, csi={"driver": "disk.example.com", "volumeHandle": "h"})  # nobody attaches it
    pending = {**BOUND, "status": {"phase": "Pending"}}
    cluster.objects["persistentvolumeclaims", "first"] = pending
    which = pod(CLAIMED, *({"name": n, "persistentVolumeClaim": {"claimName": n}} for n in ("second", "first")))

    async def main() -> list[str]:
        volumes, told = manager(tmp_path, cluster), []
        cluster.objects["persistentvolumeclaims", "second"] = BOUND
        for wait in (3, 6.8, 0.2):
            told.append((await volumes.wait_for_attach_and_mount(which)).unprocessed)
            cluster.objects["persistentvolumeclaims", "second"] = pending
            await asyncio.sleep(wait)
        told.append((await volumes.wait_for_attach_and_mount(which)).unprocessed)
        return told

    why = "error processing PVC n/first: PVC is not bound"
    both = f"{why}; error processing PVC n/second: PVC is not bound"
    lists = "Unable to attach or mount volumes: unmounted volumes=[first second v], unattached volumes="
    at_last = f"{lists}[v], failed to process volumes=[first second]: {both}"
    assert run_virtual(main()) == [
        f"{lists}[second v], failed to process volumes=[first]: {why}",
        at_last,  # the first is not tried again yet
        "",
        at_last,  # and now neither the second nor what nobody attaches
    ]


def test_a_claim_that_is_bound_late_is_attached_and_mounted_with_back_offs_of_their_own(tmp_path: Path) -> None:
    cluster = Cluster()
    attached: list[Object] = []
    claimed(cluster, csi={"driver": "disk.example.com", "volumeHandle": "h"})
    claim = cluster.objects["persistentvolumeclaims", "data"]
    cluster.objects["persistentvolumeclaims", "data"] = {**claim, "status": {"phase": "Pending"}}

    async def main() -> list[float | None]:
        volumes = manager(tmp_path, cluster, volumes_attached=lambda: attached)
        waits: list[float | None] = []
        for step in range(9):
            if step == 3:
                cluster.objects["persistentvolumeclaims", "data"] = claim
            if step == 6:  # there is no such driver here
                attached.append({"name": "kubernetes.io/csi/disk.example.com^h"})
            result = await volumes.wait_for_attach_and_mount(pod(CLAIMED))
            waits.append(result.retry_after)
            await asyncio.sleep(result.retry_after or 0)
        return waits

    assert run_virtual(main()) == [10, 10, 10, 0.5, 1, 2, 0.5, 1, 2]


def test_what_is_mounted_keeps_no_pod_waiting_whatever_becomes_of_its_claim_or_secret(tmp_path: Path) -> None:
    cluster = Cluster()
    claimed(cluster, local={"path": str(tmp_path)})

    async def main() -> list[MountResult]:
        volumes = manager(tmp_path / "kubelet", cluster)
        which = pod(CLAIMED, {"name": "s", "secret": {"secretName": "sec"}})
        assert await volumes.wait_for_attach_and_mount(which) == MountResult()
        going = {"uid": "c", "deletionTimestamp": "2026-01-01T00:00:00Z"}
        cluster.objects["persistentvolumeclaims", "data"] = {**BOUND, "metadata": going}
        del cluster.objects["secrets", "sec"]
        results = []
        for _ in range(3):  # within the back-off of what failed, and after it
            results.append(await volumes.wait_for_attach_and_mount(which))
            await asyncio.sleep(0.3)
        return results

    failed = [("s", 'secret "sec" not found')]
    assert run_virtual(main()) == [MountResult(failed), MountResult(), MountResult(failed)]


def test_a_changed_config_map_is_swapped_in_one_step_and_an_unchanged_one_not_at_all(tmp_path: Path) -> None:
    cluster = Cluster()
    volumes, which = manager(tmp_path, cluster), pod({"name": "cm", "configMap": {"name": "cfg"}})
    mount(volumes, which)
    path = tmp_path / "pods/u-1/volumes/kubernetes.io~configmap/cm"
    before = os.readlink(path / "..data")
    mount(volumes, which)
    assert os.readlink(path / "..data") == before
    cluster.objects["configmaps", "cfg"] = {"data": {"KEY": "other", "new": "1"}}
    mount(volumes, which)
    assert os.readlink(path / "..data") != before
    assert {p.name: p.read_text() for p in path.iterdir() if not p.name.startswith("..")} == {
        "KEY": "other",
        "new": "1",
    }
    assert not (path / before).exists()


@given(st.lists(st.dictionaries(st.sampled_from(["a", "b", "d/e", "d/f", "g"]), st.binary(max_size=3)), max_size=6))
def test_the_atomic_writer_leaves_exactly_the_last_payload(
    tmp_path_factory: Any, payloads: list[dict[str, bytes]]
) -> None:
    target = tmp_path_factory.mktemp("volume")
    writer = AtomicWriter(target, random.Random(3))
    for payload in payloads:
        writer.write({name: FileProjection(data, 0o644) for name, data in payload.items()}, 0.0)
        found = {
            str(p.relative_to(target)): p.read_bytes()
            for top in target.glob("[!.]*")
            for p in [top, *top.glob("*")]
            if p.is_file()
        }
        assert found == payload
        assert len(list(target.glob("..[0-9]*"))) == 1


@pytest.mark.parametrize("path", ["", "/a", "../a", "a/../b", "..data/x", "x" * 300])
def test_paths_that_could_leave_the_volume_are_refused(path: str) -> None:
    with pytest.raises(ValueError, match="invalid path"):
        validate_path(path)


def test_fs_group_gives_files_to_the_group(tmp_path: Path) -> None:
    (tmp_path / "d").mkdir()
    (tmp_path / "d/f").write_text("x")
    (tmp_path / "d/f").chmod(0o600)
    group = os.getgid()
    assert set_volume_ownership(tmp_path, group, read_only=False)
    assert stat.S_IMODE((tmp_path / "d/f").stat().st_mode) == 0o660
    assert (tmp_path / "d").stat().st_mode & stat.S_ISGID
    assert not (tmp_path / "d/f").stat().st_mode & stat.S_ISGID
    assert not set_volume_ownership(tmp_path, group, read_only=False, policy="OnRootMismatch")
    assert not set_volume_ownership(tmp_path, None, read_only=False)
    tmp_path.chmod(0o2750)  # one bit of those that it should have is not there
    assert set_volume_ownership(tmp_path, group, read_only=False, policy="OnRootMismatch")
    assert stat.S_IMODE(tmp_path.stat().st_mode) == 0o2770


def test_nobody_s_token_is_for_all_as_soon_as_two_containers_run_as_different_users(tmp_path: Path) -> None:
    init = [{"name": "i", "image": "x", "securityContext": {"runAsUser": 7}}]
    mount(manager(tmp_path), pod(PROJECTED, securityContext={"runAsUser": 1000}, initContainers=init))
    token = tmp_path / "pods/u-1/volumes/kubernetes.io~projected/api/token"
    assert stat.S_IMODE(token.stat().st_mode) == 0o644


def test_a_volume_given_to_a_group_is_rewritten_only_when_it_changes_and_is_never_seen_before_it_is_given(
    tmp_path: Path,
) -> None:
    group = os.getgid()
    context = {"fsGroup": group, "fsGroupChangePolicy": "OnRootMismatch"}
    cluster, volume = Cluster(), {"name": "s", "secret": {"secretName": "sec", "defaultMode": 0o400}}
    volumes, which = manager(tmp_path, cluster), pod(volume, securityContext=context)
    mount(volumes, which)
    path = tmp_path / "pods/u-1/volumes/kubernetes.io~secret/s"
    before = os.readlink(path / "..data")
    mount(volumes, which)
    assert os.readlink(path / "..data") == before
    cluster.objects["secrets", "sec"] = {"data": {"password": base64.b64encode(b"other").decode()}}
    mount(volumes, which)
    assert stat.S_IMODE((path / "password").stat().st_mode) == 0o440  # whatever the root's group said

    def look() -> None:
        seen.append((path / "password").read_bytes())

    seen: list[bytes] = []
    AtomicWriter(path).write({"password": FileProjection(b"third", 0o400)}, 0.0, look)
    assert (seen, (path / "password").read_bytes()) == ([b"other"], b"third")


@pytest.mark.parametrize(
    ("names", "allowed"), [(("a", "b"), False), (("a", "b", "b/c"), True)], ids=["not given away", "not written"]
)
def test_what_could_not_be_written_or_given_away_leaves_no_copy(
    tmp_path: Path, names: tuple[str, ...], allowed: bool
) -> None:
    writer = AtomicWriter(tmp_path)
    writer.write({"a": FileProjection(b"secret", 0o400)}, 0.0)
    before = sorted(path.name for path in tmp_path.iterdir())

    def own() -> None:
        if not allowed:
            raise PermissionError("Operation not permitted")

    for _ in range(3):
        with pytest.raises((PermissionError, FileExistsError, NotADirectoryError)):
            writer.write(dict.fromkeys(names, FileProjection(b"other", 0o400)), 0.0, own)
        assert sorted(path.name for path in tmp_path.iterdir()) == before
    assert (tmp_path / "a").read_bytes() == b"secret"


def test_memory_backed_volumes_are_as_large_as_the_pods_limit_allows(tmp_path: Path) -> None:
    mounter = NotedMounter()
    limited = [{"name": "c", "image": "x", "resources": {"limits": {"memory": "64Mi"}}}]
    volume = {"name": "m", "emptyDir": {"medium": "Memory"}}
    mount(manager(tmp_path, mounter=mounter), pod(volume, containers=limited))
    assert list(mounter.tmpfs.values()) == [64 << 20]
    mounter.tmpfs.clear()
    mount(manager(tmp_path / "b", mounter=mounter), pod(volume))
    assert list(mounter.tmpfs.values()) == [1 << 30]


def test_as_root_a_tmpfs_is_really_mounted_and_gone_afterwards(tmp_path: Path) -> None:
    if os.geteuid():
        unavailable("root, for mounting")
    volumes = manager(tmp_path, mounter=LinuxMounter())
    path = tmp_path / "pods/u-1/volumes/kubernetes.io~empty-dir/m"
    try:
        result = mount(volumes, pod({"name": "m", "emptyDir": {"medium": "Memory", "sizeLimit": "1Mi"}}))
        if result.failures and "permission denied" in result.failures[0][1]:
            unavailable("the right to mount")
        assert path.is_mount()
        assert os.statvfs(path).f_blocks * os.statvfs(path).f_frsize == 1 << 20
    finally:
        volumes.unmount_volumes("u-1")
    assert not path.exists()


def test_host_path_makes_what_it_may_and_checks_the_rest(tmp_path: Path) -> None:
    check_type(tmp_path / "d/e", "DirectoryOrCreate")
    check_type(tmp_path / "d/f", "FileOrCreate")
    check_type(tmp_path / "nothing", "")
    assert (tmp_path / "d/f").is_file()
    for kind, what in (("Socket", "a socket file"), ("CharDevice", "a character device"), ("Directory", "a directory")):
        with pytest.raises(VolumeError, match=f"is not {what}$"):
            check_type(tmp_path / "d/f", kind)
    check_type(Path("/dev/null"), "CharDevice")
    with pytest.raises(VolumeError, match=r"hostPath type check failed: /dev/null is not a block device$"):
        check_type(Path("/dev/null"), "BlockDevice")
    for kind in ("", "Directory"):
        with pytest.raises(VolumeError, match=r"must not contain '\.\.'$"):
            check_type(tmp_path / "d" / ".." / "d", kind)
    with pytest.raises(VolumeError, match=r"Drawer is an invalid volume type$"):
        check_type(tmp_path, "Drawer")


BOUND: Object = {"metadata": {"uid": "c"}, "spec": {"volumeName": "pv"}, "status": {"phase": "Bound"}}
CLAIMED = {"name": "v", "persistentVolumeClaim": {"claimName": "data"}}


def claimed(cluster: Cluster, name: str = "data", **source: Any) -> None:
    cluster.objects["persistentvolumeclaims", name] = BOUND
    spec = {"claimRef": {"uid": "c"}, **source}
    cluster.objects["persistentvolumes", "pv"] = {"metadata": {"name": "pv"}, "spec": spec}


def test_a_claim_waits_until_the_controller_says_attached(tmp_path: Path) -> None:
    cluster = Cluster()
    claimed(cluster, csi={"driver": "disk.example.com", "volumeHandle": "h"})
    attached: list[Object] = []
    which = pod(CLAIMED)
    volumes = manager(tmp_path, cluster, volumes_attached=lambda: attached)
    assert mount(volumes, which).failures == []  # nothing is wrong: it waits
    attached.append({"name": "kubernetes.io/csi/disk.example.com^h"})
    fresh = manager(tmp_path, cluster, volumes_attached=lambda: attached)
    assert mount(fresh, which).failures[0][1] == (
        "kubernetes.io/csi: attacher.MountDevice failed to create newCsiDriverClient: driver name disk.example.com not"
        " found in the list of registered CSI drivers"
    )


@pytest.mark.parametrize(
    ("claim", "reference", "why"),
    [
        (None, None, 'failed to fetch PVC from API server: persistentvolumeclaim "data" not found'),
        (
            {**BOUND, "metadata": {"uid": "c", "deletionTimestamp": "2026-01-01T00:00:00Z"}},
            None,
            "PVC is being deleted",
        ),
        ({**BOUND, "status": {"phase": "Pending"}}, {"uid": "c"}, "PVC is not bound"),
        ({**BOUND, "status": {"phase": "Lost"}}, {"uid": "c"}, "PVC is not bound"),
        ({**BOUND, "spec": {}}, {"uid": "c"}, "PVC has empty pvc.Spec.VolumeName"),
        (
            {**BOUND, "spec": {"volumeName": "other"}},
            {"uid": "c"},
            'failed to fetch PV other from API server: persistentvolume "other" not found',
        ),
        (
            BOUND,
            None,
            "found PV object pv but it has a nil pv.Spec.ClaimRef indicating it is not yet bound to the claim",
        ),
        (
            BOUND,
            {"uid": "former"},
            "found PV object pv but its pv.Spec.ClaimRef.UID former does not point to claim.UID c",
        ),
    ],
)
def test_what_is_behind_a_claim_cannot_be_had(claim: Object | None, reference: Object | None, why: str) -> None:
    cluster = Cluster()
    claimed(cluster, local={"path": "/"}, claimRef=reference)
    if claim is None:
        del cluster.objects["persistentvolumeclaims", "data"]
    else:
        cluster.objects["persistentvolumeclaims", "data"] = claim
    with pytest.raises(Unprocessable) as refused:
        run_virtual(claimed_volume(CLAIMED, pod(CLAIMED), cluster.get))
    assert str(refused.value) == f"error processing PVC n/data: {why}"


def test_a_claim_that_is_protected_until_its_pod_is_gone_is_mounted_when_the_kubelet_starts_anew(
    tmp_path: Path,
) -> None:
    cluster, disk = Cluster(), tmp_path / "disk"
    local_disk(cluster, disk)
    which = pod(CLAIMED)
    assert mount(manager(tmp_path, cluster), which) == MountResult()
    going = {"deletionTimestamp": "2026-01-01T00:00:00Z", "finalizers": ["kubernetes.io/pvc-protection"]}
    cluster.objects["persistentvolumeclaims", "data"] = {**BOUND, "metadata": {"uid": "c", **going}}
    started = manager(tmp_path, cluster)
    assert mount(started, which) == MountResult()
    assert started.volumes_for_pod("u-1")["v"].path == disk


@pytest.mark.parametrize(
    ("mode", "used", "why"),
    [
        ("Block", "volumeMounts", "volume v has volumeMode Block, but is specified in volumeMounts"),
        ("Filesystem", "volumeDevices", "volume v has volumeMode Filesystem, but is specified in volumeDevices"),
        (None, "volumeDevices", "volume v has volumeMode Filesystem, but is specified in volumeDevices"),
        (None, "volumeMounts", ""),
        ("Block", "volumeDevices", ""),
    ],
)
def test_a_device_is_not_mounted_and_a_file_system_is_no_device(mode: str | None, used: str, why: str) -> None:
    cluster = Cluster()
    claimed(cluster, local={"path": "/"}, **({"volumeMode": mode} if mode else {}))
    which = pod(CLAIMED, containers=[{"name": "c", "volumeMounts": [], used: [{"name": "v"}]}])
    if not why:
        assert run_virtual(claimed_volume(CLAIMED, which, cluster.get))["metadata"]["name"] == "pv"
        return
    with pytest.raises(Unprocessable) as refused:
        run_virtual(claimed_volume(CLAIMED, which, cluster.get))
    assert str(refused.value) == why


def test_an_ephemeral_volume_is_behind_a_claim_of_the_pods_own(tmp_path: Path) -> None:
    cluster, which = Cluster(), pod({"name": "v", "ephemeral": {"volumeClaimTemplate": {"spec": {}}}})
    name, volume = f"{which['metadata']['name']}-v", which["spec"]["volumes"][0]
    with pytest.raises(
        Unprocessable,
        match=r'error processing PVC n/p-v: failed to fetch PVC from API server: persistentvolumeclaim "p-v" not found$',
    ):
        run_virtual(claimed_volume(volume, which, cluster.get))
    path = tmp_path / "disk"
    path.mkdir()
    claimed(cluster, name, local={"path": str(path)})
    with pytest.raises(Unprocessable, match=r"^PVC n/p-v was not created for pod n/p \(pod is not owner\)$"):
        run_virtual(claimed_volume(volume, which, cluster.get))
    owner = {"uid": which["metadata"]["uid"], "controller": True}
    metadata = {**BOUND["metadata"], "ownerReferences": [owner]}
    cluster.objects["persistentvolumeclaims", name] = {**BOUND, "metadata": metadata}
    volumes = manager(tmp_path, cluster)
    assert mount(volumes, which).failures == []
    assert volumes.volumes_for_pod("u-1")["v"].path == path


def local_disk(cluster: Cluster, path: Path, kind: str = "local") -> None:
    path.mkdir()
    (path / "f").touch(0o600)
    source: Any = {kind: {"path": str(path)}}
    claimed(cluster, **source)


def test_a_local_disk_is_given_to_the_group_of_the_first_pod_and_not_again_to_the_second_s(tmp_path: Path) -> None:
    cluster, disk = Cluster(), tmp_path / "disk"
    local_disk(cluster, disk)
    volumes = manager(tmp_path, cluster)
    first = pod(CLAIMED, securityContext={"fsGroup": os.getgid(), "fsGroupChangePolicy": "OnRootMismatch"})
    assert mount(volumes, first) == MountResult()
    assert stat.S_IMODE((disk / "f").stat().st_mode) == 0o660
    (disk / "f").chmod(0o600)
    second = pod(CLAIMED, securityContext={"fsGroup": os.getgid()})
    second["metadata"]["uid"] = "u-2"
    assert mount(volumes, second) == MountResult()
    assert stat.S_IMODE((disk / "f").stat().st_mode) == 0o600
    volumes.unmount_volumes("u-1")
    volumes.unmount_volumes("u-2")
    assert mount(volumes, first) == MountResult()  # its root is right by now, and it asks for no more
    assert stat.S_IMODE((disk / "f").stat().st_mode) == 0o600


def test_a_kubelet_that_has_just_started_leaves_a_local_disk_alone_that_a_pod_has(tmp_path: Path) -> None:
    cluster, disk = Cluster(), tmp_path / "disk"
    local_disk(cluster, disk)
    which = pod(CLAIMED, securityContext={"fsGroup": os.getgid()})
    assert mount(manager(tmp_path, cluster), which) == MountResult()
    link = tmp_path / "pods/u-1/volumes/kubernetes.io~local-volume/pv"
    assert link.readlink() == disk
    for uid in ("u-1", "u-2"):  # the pod itself, and one that comes first now
        (disk / "f").chmod(0o600)
        which["metadata"]["uid"], volumes = uid, manager(tmp_path, cluster)
        assert mount(volumes, which) == MountResult()
        assert volumes.volumes_for_pod(uid)["v"].path == disk
        assert stat.S_IMODE((disk / "f").stat().st_mode) == 0o600
    started = manager(tmp_path, cluster)
    for uid in ("u-1", "u-2"):
        started.unmount_volumes(uid)
    assert PodDirectories(tmp_path).clean_up_orphaned(()) == (["u-1", "u-2"], [])
    assert (disk / "f").exists()
    assert mount(manager(tmp_path, cluster), which) == MountResult()
    assert stat.S_IMODE((disk / "f").stat().st_mode) == 0o660  # nobody had it any more


def test_a_large_local_disk_is_given_to_a_group_in_turns_and_who_comes_meanwhile_waits_for_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cluster, disk = Cluster(), tmp_path / "disk"
    local_disk(cluster, disk)
    for number in range(99):
        (disk / str(number)).touch(0o600)
    volumes = manager(tmp_path, cluster)
    first, second = (pod(CLAIMED, securityContext={"fsGroup": os.getgid()}) for _ in range(2))
    second["metadata"]["uid"] = "u-2"
    turns = 0

    async def pause(_: object) -> None:
        nonlocal turns
        turns += 1
        assert not volumes.volumes_for_pod("u-1")
        await asyncio.sleep(0)

    async def both() -> list[MountResult]:
        return await asyncio.gather(*map(volumes.wait_for_attach_and_mount, (first, second)))

    monkeypatch.setattr("lifecycle.kubelet.volume.ownership.Pauses.pause", pause)
    assert run_virtual(both()) == [MountResult()] * 2
    assert turns == 101  # the directory, and what is in it, once
    assert {stat.S_IMODE(path.stat().st_mode) for path in disk.iterdir()} == {0o660}


def test_a_local_disk_that_is_not_there_is_said_to_be_so_and_a_file_is_none(tmp_path: Path) -> None:
    """It is called by its own name, not by what the pod calls it."""
    cluster, disk = Cluster(), tmp_path / "disk"
    claimed(cluster, local={"path": str(disk)})
    volumes = manager(tmp_path, cluster)
    assert mount(volumes, pod(CLAIMED)) == MountResult([("pv", f'path "{disk}" does not exist')], retry_after=0.5)
    disk.touch()
    refused = [("pv", "only directory and block device are supported")]
    assert mount(manager(tmp_path, cluster), pod(CLAIMED)).failures == refused
    claimed(cluster, local={"path": f"{tmp_path}/../{tmp_path.name}"})
    assert "must not contain '..'" in mount(manager(tmp_path, cluster), pod(CLAIMED)).failures[0][1]
    assert not (tmp_path / "pods").exists()  # nothing was mounted


def test_a_host_path_at_the_same_place_is_not_the_local_disk(tmp_path: Path) -> None:
    cluster, disk = Cluster(), tmp_path / "disk"
    local_disk(cluster, disk)
    volumes, other = manager(tmp_path, cluster), pod({"name": "h", "hostPath": {"path": str(disk)}})
    other["metadata"]["uid"] = "u-2"
    assert mount(volumes, other) == MountResult()
    assert mount(volumes, pod(CLAIMED, securityContext={"fsGroup": os.getgid()})) == MountResult()
    assert stat.S_IMODE((disk / "f").stat().st_mode) == 0o660


@pytest.mark.parametrize("kind", ["local", "hostPath"])
def test_what_is_claimed_read_only_is_mounted_so_and_stays_as_it_is(tmp_path: Path, kind: str) -> None:
    cluster, disk = Cluster(), tmp_path / "disk"
    local_disk(cluster, disk, kind)
    volumes = manager(tmp_path, cluster)
    claim = {"name": "v", "persistentVolumeClaim": {"claimName": "data", "readOnly": True}}
    which = pod(claim, securityContext={"fsGroup": os.getgid()})
    assert mount(volumes, which) == MountResult()
    assert stat.S_IMODE((disk / "f").stat().st_mode) == 0o600
    container = {"name": "c", "volumeMounts": [{"name": "v", "mountPath": "/v"}]}
    mounts = make_mounts(
        which, container, volumes.volumes_for_pod("u-1"), PodDirectories(tmp_path), NotedMounter(), {}, etc_hosts=False
    )
    assert mounts == [{"container_path": "/v", "host_path": str(disk), "readonly": True}]


def test_mounts_are_read_only_where_the_api_writes_and_sub_paths_stay_inside(tmp_path: Path) -> None:
    volumes = manager(tmp_path)
    which = pod({"name": "cm", "configMap": {"name": "cfg"}}, {"name": "e", "emptyDir": {}})
    mount(volumes, which)
    directories = PodDirectories(tmp_path)

    def mounts(*wanted: Object, envs: dict[str, str] | None = None) -> list[dict[str, Any]]:
        container = {"name": "c", "volumeMounts": list(wanted)}
        known = volumes.volumes_for_pod("u-1")
        return make_mounts(which, container, known, directories, volumes.mounter, envs or {}, etc_hosts=True)

    found = mounts(
        {"name": "cm", "mountPath": "/cm"},
        {"name": "e", "mountPath": "e", "subPathExpr": "$(POD)/x"},
        envs={"POD": "p"},
    )
    assert found[0]["readonly"]
    assert found[1]["container_path"] == "/e"
    assert Path(found[1]["host_path"]).is_dir()
    assert found[2]["container_path"] == "/etc/hosts"
    assert [m["container_path"] for m in mounts({"name": "e", "mountPath": "/etc/hosts"})] == ["/etc/hosts"]
    empty = volumes.volumes_for_pod("u-1")["e"].path
    (empty / "out").symlink_to("/etc")
    for wrong, why in (
        ({"subPath": "out"}, "failed to prepare subPath"),
        ({"subPath": "../x"}, "must not contain"),
        ({"subPath": "a/../b"}, "must not contain"),
        ({"subPath": "/x"}, "must not be an absolute path"),
        ({"subPathExpr": "$(UP)"}, "must not contain"),
        ({"subPathExpr": "$(NO)"}, 'missing value for "NO"'),
    ):
        with pytest.raises(MountError, match=why):
            mounts({"name": "e", "mountPath": "/e", **wrong}, envs={"UP": ".."})
    with pytest.raises(MountError, match=r'cannot find volume "none" to mount into container "c"$'):
        mounts({"name": "none", "mountPath": "/n"})


def test_the_hosts_file_knows_the_pod_and_its_aliases(tmp_path: Path) -> None:
    which = pod(hostname="myhost", subdomain="mysub", hostAliases=[{"ip": "192.0.2.9", "hostnames": ["nine", "neuf"]}])
    assert host_name_and_domain(which) == ("myhost", "mysub.n.svc.cluster.local")
    ensure_hosts_file(tmp_path / "h", which, ["10.0.0.1"])
    text = (tmp_path / "h").read_text()
    assert "10.0.0.1\tmyhost.mysub.n.svc.cluster.local\tmyhost\n" in text
    assert text.endswith("\n# Entries added by HostAliases.\n192.0.2.9\tnine\tneuf\n")
    assert managed_hosts_file(["1.2.3.4"], "a", "", []).endswith("1.2.3.4\ta\n")


@pytest.mark.parametrize(
    ("text", "expanded"),
    [("$(A)-$(NOPE)-$$(A)", "1-$(NOPE)-$(A)"), ("$A $", "$A $"), ("$(A", "$(A"), ("$$$$", "$$"), ("$(A)$(A)", "11")],
)
def test_variables_in_text(text: str, expanded: str) -> None:
    assert expand(text, {"A": "1"}.get) == expanded


def test_environment_in_upstreams_order_of_precedence() -> None:
    events: list[str] = []
    service = {
        "metadata": {"name": "web-1", "namespace": "n"},
        "spec": {"clusterIP": "10.0.0.9", "ports": [{"port": 80}]},
    }
    container = {
        "name": "c",
        "envFrom": [{"prefix": "P=", "configMapRef": {"name": "cfg"}}, {"configMapRef": {"name": "cfg"}}],
        "env": [
            {"name": "KEY", "value": "$(KEY)+"},
            {"name": "CPU", "valueFrom": {"resourceFieldRef": {"resource": "limits.cpu"}}},
            {"name": "URL", "value": "$(WEB_1_PORT)"},
            {"name": "S", "valueFrom": {"secretKeyRef": {"name": "sec", "key": "password"}}},
            {"name": "O", "valueFrom": {"configMapKeyRef": {"name": "no", "key": "x", "optional": True}}},
        ],
    }
    found = run_virtual(
        make_environment_variables(
            pod(), container, Cluster().get, services=[service], allocatable={"cpu": "2"},
            event=lambda kind, reason, message: events.append(message),
        )
    )  # fmt: skip
    assert list(found)[:4] == ["KEY", "CPU", "URL", "S"]
    assert (found["KEY"], found["CPU"], found["URL"], found["S"]) == ("value+", "2", "tcp://10.0.0.9:80", "hunter2")
    assert "O" not in found
    assert events == [
        "Keys [P=KEY, P=file.txt] from the EnvFrom configMap n/cfg were skipped since they are considered invalid "
        "environment variable names."
    ]
    wrong = {"name": "c", "env": [{"name": "S", "valueFrom": {"secretKeyRef": {"name": "sec", "key": "x"}}}]}
    with pytest.raises(ContainerEnvironmentError, match=r"couldn't find key x in Secret n/sec$"):
        run_virtual(make_environment_variables(pod(), wrong, Cluster().get))


def test_headless_services_have_no_variables() -> None:
    assert from_services([{"metadata": {"name": "x"}, "spec": {"clusterIP": "None", "ports": [{"port": 1}]}}]) == {}


def test_orphaned_directories_go_unless_a_volume_is_still_in_them(tmp_path: Path) -> None:
    volumes, which = manager(tmp_path), pod({"name": "cm", "configMap": {"name": "cfg"}})
    directories = PodDirectories(tmp_path)
    directories.make_pod_data_dirs("u-1")
    directories.make_pod_data_dirs("known")
    assert stat.S_IMODE((tmp_path / "pods/u-1").stat().st_mode) == 0o750
    mount(volumes, which)
    removed, complaints = directories.clean_up_orphaned({"known"})
    assert removed == []
    assert 'orphaned pod "u-1" found, but volume paths are still present on disk' in complaints[0]
    volumes.unmount_volumes("u-1")
    assert directories.clean_up_orphaned({"known"}) == (["u-1"], [])
    assert directories.list_pods() == ["known"]
