"""Volumes hold their pods to nodes; and pods choose volumes with their nodes."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from lifecycle.api.http.wire import Object
from lifecycle.api.resources import resource
from lifecycle.cluster.rehearsal import RehearsedCluster, rehearse
from lifecycle.scheduler.framework.cycle_state import CycleState
from lifecycle.scheduler.framework.listers import Listers
from lifecycle.scheduler.framework.node_info import NodeInfo, PodInfo
from lifecycle.scheduler.framework.plugins.node_volume_limits import NodeVolumeLimits
from lifecycle.scheduler.framework.plugins.volume_binding.binder import BindingError, PodVolumes, VolumeBinder
from lifecycle.scheduler.framework.plugins.volume_binding.volume_binding import VolumeBinding
from lifecycle.scheduler.framework.plugins.volume_restrictions import VolumeRestrictions
from lifecycle.scheduler.framework.status import SKIP, unschedulable
from lifecycle.scheduler.framework.types import ClusterEvent, FitError
from tests.scheduler.cluster_model import Model, make_node, make_pod

ZONE = "topology.kubernetes.io/zone"


def claim(name: str, volume: str = "", storage_class: str = "wait", size: str = "1Gi", **more: Any) -> Object:
    spec = {
        "storageClassName": storage_class,
        "accessModes": ["ReadWriteOnce"],
        "resources": {"requests": {"storage": size}},
        **more,
    }
    meta: Object = {"name": name, "namespace": "default", "uid": name, "resourceVersion": "1"}
    if volume:
        spec["volumeName"] = volume
        meta["annotations"] = {"pv.kubernetes.io/bind-completed": "yes"}
    return {"metadata": meta, "spec": spec, "status": {"phase": "Bound" if volume else "Pending"}}


def volume(name: str, zone: str = "", size: str = "1Gi", labels: dict[str, str] | None = None, **more: Any) -> Object:
    spec = {"storageClassName": "wait", "accessModes": ["ReadWriteOnce"], "capacity": {"storage": size}, **more}
    if zone:
        terms = [{"matchExpressions": [{"key": ZONE, "operator": "In", "values": [zone]}]}]
        spec["nodeAffinity"] = {"required": {"nodeSelectorTerms": terms}}
    meta = {"name": name, "resourceVersion": "1", "labels": labels or {}}
    return {"metadata": meta, "spec": spec, "status": {"phase": "Available"}}


def storage_class(name: str, mode: str = "WaitForFirstConsumer", **more: Any) -> Object:
    body = {"metadata": {"name": name}, "volumeBindingMode": mode, "provisioner": "kubernetes.io/no-provisioner"}
    return {**body, **more}


CLASSES = {c["metadata"]["name"]: c for c in (storage_class("wait"), storage_class("now", "Immediate"))}


class Stored:
    """A model of three nodes in two zones, and what is stored."""

    def __init__(
        self,
        *objects: Object,
        classes: dict[str, Object] | None = None,
        csi_nodes: dict[str, Object] | None = None,
        drivers: dict[str, Object] | None = None,
        capacities: tuple[Object, ...] = (),
    ) -> None:
        self.claims = {f"default/{o['metadata']['name']}": o for o in objects if "resources" in o["spec"]}
        self.volumes = {o["metadata"]["name"]: o for o in objects if "capacity" in o["spec"]}
        stored: Any = {
            "get_claim": self.claims.get,
            "get_volume": self.volumes.get,
            "list_volumes": lambda: list(self.volumes.values()),
            "get_class": {**CLASSES, **(classes or {})}.get,
            "get_csi_node": (csi_nodes or {}).get,
            "get_csi_driver": (drivers or {}).get,
            "list_capacities": lambda: capacities,
        }
        self.listers = Listers(**stored)
        self.model = Model(
            [make_node(n, labels={ZONE: zone}) for n, zone in (("a1", "a"), ("a2", "a"), ("b1", "b"))],
            batch=True,
            find_selector=lambda pod: None,
            **stored,
        )
        plugin = next(p for p in self.model.framework.plugins if isinstance(p, VolumeBinding))
        self.binder = plugin._binder

    def feasible(self, *claims: str) -> set[str] | str:
        return self.feasible_with(*({"name": c, "persistentVolumeClaim": {"claimName": c}} for c in claims))

    def feasible_with(self, *volumes: Object) -> set[str] | str:
        state, info = CycleState(), PodInfo(make_pod("p", volumes=list(volumes)))
        self.model.cache.update_snapshot(self.model.snapshot)
        try:
            result = self.model.algorithm.schedule_pod(state, info)
        except FitError as error:
            return str(error)
        self.by_node = state.read("VolumeBinding").by_node
        return set(next(iter(result.scores.values()), {result.suggested_host: 0}))


def refused(reasons: str, after: str = "") -> str:
    return f"0/3 nodes are available: {reasons}." + after


def test_a_bound_volume_holds_the_pod_to_its_nodes() -> None:
    assert Stored(claim("c", "v"), volume("v", "a")).feasible("c") == {"a1", "a2"}
    assert Stored(claim("c", "v"), volume("v", "c")).feasible("c") == refused(
        "3 node(s) didn't match PersistentVolume's node affinity"
    )


def test_a_volume_that_is_gone_is_missed_by_the_zone_plugin_first() -> None:
    assert Stored(claim("c", "v")).feasible("c") == refused('persistentvolume "v" not found')


@pytest.mark.parametrize(
    ("claims", "why"),
    [
        ([claim("c", storage_class="now")], "pod has unbound immediate PersistentVolumeClaims"),
        ([claim("c", storage_class="unheard of")], "pod has unbound immediate PersistentVolumeClaims"),
        ([], 'persistentvolumeclaim "c" not found'),
        (
            [{**claim("c"), "status": {"phase": "Lost"}}],
            'persistentvolumeclaim "c" bound to non-existent persistentvolume ""',
        ),
    ],
)
def test_claims_that_are_not_usable_keep_the_pod_from_every_node(claims: list[Object], why: str) -> None:
    assert Stored(*claims).feasible("c") == refused(why)


def owned(uid: str, controller: bool = True) -> Object:
    made = claim("p-data", "v")
    made["metadata"]["ownerReferences"] = [{"kind": "Pod", "name": "p", "uid": uid, "controller": controller}]
    return made


NOT_OWNER = "PVC default/p-data was not created for pod default/p (pod is not owner)"


@pytest.mark.parametrize(
    ("claims", "expected"),
    [
        ([owned("p")], {"a1", "a2"}),
        ([owned("an older p")], refused(NOT_OWNER)),
        ([owned("p", controller=False)], refused(NOT_OWNER)),
        ([claim("p-data", "v")], refused(NOT_OWNER)),
        (
            [],
            refused('waiting for ephemeral volume controller to create the persistentvolumeclaim "p-data"'),
        ),
    ],
    ids=["its own", "of a pod of that name before", "not its controller", "somebody's", "not there yet"],
)
def test_an_ephemeral_volume_is_used_only_if_its_claim_was_made_for_the_pod(
    claims: list[Object], expected: set[str] | str
) -> None:
    stored = Stored(*claims, volume("v", "a"))
    assert stored.feasible_with({"name": "data", "ephemeral": {"volumeClaimTemplate": {}}}) == expected


def test_a_waiting_claim_goes_where_a_volume_is() -> None:
    stored = Stored(claim("c"), volume("small", "b", "500Mi"), volume("fits", "a", "2Gi"), volume("large", "a", "9Gi"))
    assert stored.feasible("c") == {"a1", "a2"}
    [(_, chosen)] = stored.by_node["a1"].bindings
    assert chosen["metadata"]["name"] == "fits"
    assert Stored(claim("c")).feasible("c") == refused("3 node(s) didn't find available persistent volumes to bind")


def test_two_claims_do_not_get_the_same_volume_and_the_smaller_one_chooses_first() -> None:
    stored = Stored(claim("big", size="2Gi"), claim("small"), volume("v1", "a"), volume("v2", "a", "2Gi"))
    assert stored.feasible("big", "small") == {"a1", "a2"}
    chosen = {c["metadata"]["name"]: v["metadata"]["name"] for c, v in stored.by_node["a1"].bindings}
    assert chosen == {"small": "v1", "big": "v2"}
    del stored.volumes["v1"]
    assert stored.feasible("big", "small") == refused("3 node(s) didn't find available persistent volumes to bind")


def test_a_volume_assumed_for_one_pod_is_gone_for_the_next_until_that_failed() -> None:
    stored = Stored(claim("c"), claim("d"), volume("v", "a"))
    assert stored.feasible("c") == {"a1", "a2"}
    assumed = stored.binder.assume(stored.by_node["a1"], "a1")
    assert assumed.bindings[0][1]["spec"]["claimRef"]["name"] == "c"
    assert "didn't find available persistent volumes" in str(stored.feasible("d"))
    stored.binder.revert(assumed)
    assert stored.feasible("d") == {"a1", "a2"}


def test_what_can_be_made_anywhere_or_only_somewhere() -> None:
    here = [{"matchLabelExpressions": [{"key": ZONE, "values": ["b"]}]}]
    classes = {
        "any": storage_class("any", provisioner="example.com/maker"),
        "here": storage_class("here", provisioner="example.com/maker", allowedTopologies=here),
    }
    assert Stored(claim("c", storage_class="any"), classes=classes).feasible("c") == {"a1", "a2", "b1"}
    stored = Stored(claim("c", storage_class="here"), classes=classes)
    assert stored.feasible("c") == {"b1"}
    [chosen] = stored.binder.assume(stored.by_node["b1"], "b1").provisions
    assert chosen["metadata"]["annotations"] == {"volume.kubernetes.io/selected-node": "b1"}
    stored.claims["default/c"] = chosen  # as the API server has it now: the choice stands
    assert stored.feasible("c") == {"b1"}


@pytest.mark.parametrize(
    ("labels", "nodes"),
    [
        ({ZONE: "b"}, {"b1"}),
        ({ZONE: "a__b"}, {"a1", "a2", "b1"}),
        ({"failure-domain.beta.kubernetes.io/zone": "a"}, {"a1", "a2"}),
        ({ZONE: "c"}, refused("3 node(s) had no available volume zone")),
    ],
)
def test_a_zone_label_on_a_volume_holds_the_pod_there(labels: dict[str, str], nodes: set[str] | str) -> None:
    assert Stored(claim("c", "v"), volume("v", labels=labels)).feasible("c") == nodes


def test_a_claim_for_one_pod_has_one_pod() -> None:
    stored = Stored(claim("c", "v", accessModes=["ReadWriteOncePod"]), volume("v"))
    volumes = [{"name": "v", "persistentVolumeClaim": {"claimName": "c"}}]
    stored.model.cache.add_pod(make_pod("first", volumes=volumes, nodeName="a1"))
    assert stored.feasible("c") == refused(
        "3 node has pod using PersistentVolumeClaim with the same name and ReadWriteOncePod access mode"
    )


@pytest.mark.parametrize(
    ("ours", "theirs", "conflict"),
    [
        ({"gcePersistentDisk": {"pdName": "d"}}, {"gcePersistentDisk": {"pdName": "d"}}, True),
        ({"gcePersistentDisk": {"pdName": "d"}}, {"gcePersistentDisk": {"pdName": "e"}}, False),
        (
            {"gcePersistentDisk": {"pdName": "d", "readOnly": True}},
            {"gcePersistentDisk": {"pdName": "d", "readOnly": True}},
            False,
        ),
        (
            {"awsElasticBlockStore": {"volumeID": "d", "readOnly": True}},
            {"awsElasticBlockStore": {"volumeID": "d", "readOnly": True}},
            True,
        ),
        ({"iscsi": {"iqn": "q"}}, {"iscsi": {"iqn": "q", "readOnly": True}}, True),
        (
            {"rbd": {"monitors": ["a", "b"], "pool": "p", "image": "i"}},
            {"rbd": {"monitors": ["b"], "pool": "p", "image": "i"}},
            True,
        ),
        (
            {"rbd": {"monitors": ["a"], "pool": "p", "image": "i"}},
            {"rbd": {"monitors": ["b"], "pool": "p", "image": "i"}},
            False,
        ),
    ],
)
def test_old_disks_are_mounted_once_per_node(ours: Object, theirs: Object, conflict: bool) -> None:
    model = Model([make_node("n")], batch=False, find_selector=lambda pod: None)
    model.cache.add_pod(make_pod("first", volumes=[{"name": "v", **theirs}], nodeName="n"))
    answer = model.place(make_pod("second", volumes=[{"name": "v", **ours}]))
    assert (answer == "0/1 nodes are available: 1 node(s) had no available disk.") is conflict
    assert VolumeRestrictions.name in {p.name for p in model.framework.plugins}


CSI = "disk.example.com"
EXCEEDED = "node(s) exceed max volume count"


def csi_node(count: int | None) -> Object:
    driver: Object = {"name": CSI, "nodeID": "n"}
    if count is not None:
        driver["allocatable"] = {"count": count}
    return {"spec": {"drivers": [driver]}}


def using(name: str, *claims: str) -> Object:
    volumes = [{"name": c, "persistentVolumeClaim": {"claimName": c}} for c in claims]
    return make_pod(name, volumes=volumes)


def csi_volume(name: str) -> Object:
    return volume(name, csi={"driver": CSI, "volumeHandle": f"handle of {name}"})


@pytest.mark.parametrize(
    ("limit", "there", "wanted", "fits"),
    [
        (2, ["a"], ["b"], True),
        (2, ["a", "b"], ["c"], False),
        (2, ["a", "b"], ["b"], True),  # attached already
        (2, ["a"], ["b", "c"], False),
        (2, ["a"], ["a", "b"], True),
        (0, [], ["a"], False),
        (None, ["a", "b"], ["c"], True),  # names no limit
        (2, ["a", "b"], ["other"], True),  # another driver's volume
        (2, ["a", "other"], ["b"], True),
        (2, ["a"], ["unbound"], True),  # counts for its class's driver
        (1, ["a"], ["unbound"], False),
        (1, ["a"], ["elsewhere"], True),
    ],
)
def test_a_node_has_so_many_volumes_of_a_driver(
    limit: int | None, there: list[str], wanted: list[str], fits: bool
) -> None:
    known = [claim(name, f"v-{name}") for name in ("a", "b", "c", "other")]
    unbound = [claim("unbound", storage_class="csi"), claim("elsewhere", storage_class="foreign")]
    volumes = [csi_volume(f"v-{name}") for name in "abc"] + [
        volume("v-other", csi={"driver": "x", "volumeHandle": "h"})
    ]
    classes = {
        "csi": storage_class("csi", provisioner=CSI),
        "foreign": storage_class("foreign", provisioner="foreign.example.com"),
    }
    stored = Stored(*known, *unbound, *volumes, classes=classes, csi_nodes={"n": csi_node(limit)})
    plugin, node = NodeVolumeLimits(stored.listers), NodeInfo(make_node("n"))
    for name in there:
        node.add_pod(PodInfo(using(f"with-{name}", name)))
    info = PodInfo(using("new", *wanted))
    assert plugin.pre_filter(CycleState(), info, stored.model.snapshot) == (None, None)
    status = plugin.filter(CycleState(), info, node)
    assert status == (None if fits else unschedulable("NodeVolumeLimits", EXCEEDED))


def test_a_node_without_a_csi_node_has_no_limit_and_a_pod_without_claims_no_volumes() -> None:
    stored = Stored(claim("a", "v"), csi_volume("v"))
    plugin = NodeVolumeLimits(stored.listers)
    assert plugin.filter(CycleState(), PodInfo(using("p", "a")), NodeInfo(make_node("n"))) is None
    plain = make_pod("plain", volumes=[{"name": "v", "emptyDir": {}}])
    assert plugin.pre_filter(CycleState(), PodInfo(plain), stored.model.snapshot) == (None, SKIP)


def test_full_nodes_are_told_in_the_pods_refusal_and_evictions_may_help() -> None:
    limits = {name: csi_node(0) for name in ("a1", "a2", "b1")}
    stored = Stored(claim("a", "v"), csi_volume("v"), csi_nodes=limits)
    assert stored.feasible("a") == refused(f"3 {EXCEEDED}")
    events = NodeVolumeLimits(stored.listers).events_to_register()
    gone = events[ClusterEvent("AssignedPod", "Delete")]
    assert gone(
        PodInfo(using("p", "a")), {**using("q", "b"), "spec": {**using("q", "b")["spec"], "nodeName": "a1"}}, None
    )
    assert not gone(PodInfo(using("p", "a")), make_pod("q", nodeName="a1"), None)
    assert ClusterEvent("CSINode", "Update") in events


def capacity(size: str = "", *, largest: str = "", zone: str | None = "a", storage_class_name: str = "csi") -> Object:
    found: Object = {"metadata": {"name": "c"}, "storageClassName": storage_class_name}
    if zone is not None:
        found["nodeTopology"] = {"matchLabels": {ZONE: zone}} if zone else {}
    return {**found, **({"capacity": size} if size else {}), **({"maximumVolumeSize": largest} if largest else {})}


SHORT = "node(s) did not have enough free storage"


@pytest.mark.parametrize(
    ("tells", "capacities", "found"),
    [
        (None, (), {"a1", "a2", "b1"}),  # no CSIDriver object: believed
        (False, (), {"a1", "a2", "b1"}),
        (True, (), refused(f"3 {SHORT}")),
        (True, (capacity("1Gi"),), {"a1", "a2"}),
        (True, (capacity("1Gi", zone=""),), {"a1", "a2", "b1"}),  # an empty selector: every node
        (True, (capacity("1Gi", zone=None),), refused(f"3 {SHORT}")),  # no selector: none
        (True, (capacity("1023Mi"),), refused(f"3 {SHORT}")),
        (True, (capacity("9Gi", largest="500Mi"),), refused(f"3 {SHORT}")),  # not in one piece
        (True, (capacity("500Mi"), capacity("500Mi")), refused(f"3 {SHORT}")),  # they do not add up
        (True, (capacity("9Gi", storage_class_name="other"),), refused(f"3 {SHORT}")),
        (True, (capacity(),), refused(f"3 {SHORT}")),
        (True, (capacity("500Mi"), capacity("2Gi", zone="b")), {"b1"}),
    ],
)
def test_a_volume_is_made_only_where_the_driver_has_room(
    tells: bool | None, capacities: tuple[Object, ...], found: set[str] | str
) -> None:
    drivers = {} if tells is None else {CSI: {"spec": {"storageCapacity": tells}}}
    classes = {"csi": storage_class("csi", provisioner=CSI)}
    stored = Stored(claim("c", storage_class="csi"), classes=classes, drivers=drivers, capacities=capacities)
    assert stored.feasible("c") == found


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        (None, capacity("1Gi"), True),
        (capacity("1Gi"), capacity("2Gi"), True),
        (capacity("2Gi"), capacity("1Gi"), False),
        (capacity("2Gi", largest="1Gi"), capacity("1Gi", largest="2Gi"), True),
        (capacity("1Gi"), capacity("1Gi"), False),
    ],
)
def test_more_room_wakes_a_pod_less_does_not(old: Object | None, new: Object, expected: bool) -> None:
    events = VolumeBinding(VolumeBinder(Listers())).events_to_register()
    hint = events[ClusterEvent("CSIStorageCapacity", "Update" if old else "Add")]
    assert hint(PodInfo(using("p", "c")), old, new) is expected


def test_without_a_cluster_nothing_can_be_bound() -> None:
    with pytest.raises(BindingError, match=r"^binding volumes: there is no cluster$"):
        asyncio.run(VolumeBinder(Listers()).bind_pod_volumes(PodVolumes(), "a1"))


def test_a_driver_that_stops_counting_wakes_a_pod() -> None:
    hint = VolumeBinding(VolumeBinder(Listers())).events_to_register()[ClusterEvent("CSIDriver", "Update")]
    counts, counts_not = ({"spec": {"storageCapacity": tells}} for tells in (True, False))
    assert hint(PodInfo(using("p", "c")), counts, counts_not)
    assert not hint(PodInfo(using("p", "c")), counts_not, counts)


def test_a_pod_its_claim_and_a_local_volume_come_together_in_a_whole_cluster() -> None:
    async def scene(cluster: RehearsedCluster) -> None:
        client = cluster.client("test")
        kind = {"apiVersion": "storage.k8s.io/v1", "kind": "StorageClass"}
        await client.create(resource("storageclasses.storage.k8s.io"), {**kind, **storage_class("local")})
        on = [
            {"matchExpressions": [{"key": "kubernetes.io/hostname", "operator": "In", "values": ["lifecycle-worker2"]}]}
        ]
        spec = {
            "storageClassName": "local",
            "capacity": {"storage": "1Gi"},
            "accessModes": ["ReadWriteOnce"],
            "hostPath": {"path": "/data"},
            "nodeAffinity": {"required": {"nodeSelectorTerms": on}},
        }
        body: Object = {"apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": "pv"}, "spec": spec}
        await client.create(resource("persistentvolumes"), body)
        wish = claim("data", storage_class="local")["spec"]
        body = {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": "data"}, "spec": wish}
        await client.create(resource("persistentvolumeclaims"), body, "default")
        await asyncio.sleep(5)
        assert (await client.get(resource("persistentvolumeclaims"), "data", "default"))["status"]["phase"] == "Pending"
        container = {"name": "c", "image": "nginx:1.27"}
        volumes = [{"name": "v", "persistentVolumeClaim": {"claimName": "data"}}]
        body = {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"name": "p"},
            "spec": {"containers": [container], "volumes": volumes},
        }
        await client.create(resource("pods"), body, "default")
        await asyncio.sleep(20)
        pod = await client.get(resource("pods"), "p", "default")
        assert pod["spec"]["nodeName"] == "lifecycle-worker2"
        bound = await client.get(resource("persistentvolumeclaims"), "data", "default")
        assert (bound["status"]["phase"], bound["spec"]["volumeName"]) == ("Bound", "pv")

    rehearse(scene)
