"""The binder by itself: what is assumed until the API server says otherwise, what is written, and how long is waited."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from lifecycle.api.http.wire import Object
from lifecycle.api.loop.clock import run_virtual
from lifecycle.api.resources import resource
from lifecycle.api.status import failure
from lifecycle.client.rest import Client
from lifecycle.client.shared_informer import SharedInformerFactory
from lifecycle.scheduler.framework.cycle_state import CycleState
from lifecycle.scheduler.framework.listers import Listers
from lifecycle.scheduler.framework.plugins.volume_binding.binder import (
    BIND_TIMEOUT,
    BindingError,
    PodVolumes,
    VolumeBinder,
)
from lifecycle.scheduler.framework.plugins.volume_binding.volume_binding import ClaimState, VolumeBinding
from lifecycle.scheduler.framework.status import SKIP, Code
from lifecycle.scheduler.profile import default_framework
from tests.fake_api import FakeAPI
from tests.scheduler.cluster_model import make_pod
from tests.scheduler.framework.plugins.test_volumes import claim, storage_class, volume

CLAIMS, VOLUMES = resource("persistentvolumeclaims"), resource("persistentvolumes")
SELECTED, COMPLETED = "volume.kubernetes.io/selected-node", "pv.kubernetes.io/bind-completed"


def listers(*objects: Object, **more: Any) -> Listers:
    claims = {f"default/{o['metadata']['name']}": o for o in objects if "resources" in o["spec"]}
    volumes = {o["metadata"]["name"]: o for o in objects if "capacity" in o["spec"]}
    return Listers(get_claim=claims.get, get_volume=volumes.get, list_volumes=lambda: list(volumes.values()), **more)


def test_what_is_assumed_holds_until_the_stored_object_is_another() -> None:
    stored = {"v": volume("v"), "default/c": claim("c")}
    binder = VolumeBinder(Listers(get_claim=stored.get, get_volume=stored.get))
    assumed = binder.assume(PodVolumes([(claim("d"), stored["v"])], [stored["default/c"]]), "n1")
    [(_, kept)], [provisioned] = assumed.bindings, assumed.provisions
    assert kept["spec"]["claimRef"] == {
        "kind": "PersistentVolumeClaim", "apiVersion": "v1", "namespace": "default", "name": "d", "uid": "d", "resourceVersion": "1",
    }  # fmt: skip
    assert provisioned["metadata"]["annotations"] == {SELECTED: "n1"}
    assert (binder.volume("v"), binder.claim("default/c")) == (kept, provisioned)
    assert (binder.volume("w"), binder.claim("default/w")) == (None, None)
    newer = {**stored["v"], "metadata": {**stored["v"]["metadata"], "resourceVersion": "2"}}
    stored["v"] = newer
    assert binder.volume("v") == newer
    stored["v"] = volume("v")
    assert binder.volume("v") == stored["v"], "once refuted it is not believed again"
    binder.revert(assumed)
    assert binder.claim("default/c") == stored["default/c"]
    del stored["default/c"]
    assert binder.claim("default/c") is None


@pytest.mark.parametrize(
    ("bound", "stored", "reasons"),
    [
        ([claim("c", "gone")], [], ["node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)"]),
        ([claim("c", "v")], [volume("v", "b")], ["node(s) didn't match PersistentVolume's node affinity"]),
        ([claim("c", "v"), claim("d", "w")], [volume("v", "b"), volume("w", "b")],
         ["node(s) didn't match PersistentVolume's node affinity"]),
        ([claim("c", "gone"), claim("d", "also")], [], ["node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)"]),
        ([claim("c", "v")], [volume("v", "a")], []), ([], [], []),
    ],
)  # fmt: skip
def test_the_first_bound_volume_that_will_not_do_is_reason_enough(
    bound: list[Object], stored: list[Object], reasons: list[str]
) -> None:
    binder = VolumeBinder(listers(*stored))
    found, why = binder.find_pod_volumes(bound, [], "n1", {"topology.kubernetes.io/zone": "a"})
    assert (found, why) == (PodVolumes(), reasons)


def chosen_for(node: str) -> Object:
    made = claim("c", storage_class="maker")
    made["metadata"]["annotations"] = {SELECTED: node}
    return made


@pytest.mark.parametrize(
    ("node", "classes", "reasons", "made"),
    [
        ("n1", {"provisioner": "x/y"}, [], True),
        ("n2", {"provisioner": "x/y"}, ["node(s) didn't find available persistent volumes to bind"], False),
        ("n1", {"provisioner": "kubernetes.io/no-provisioner"}, ["node(s) didn't find available persistent volumes to bind"], False),
        ("n1", {"provisioner": ""}, ["node(s) didn't find available persistent volumes to bind"], False),
        ("n1", None, ["node(s) didn't find available persistent volumes to bind"], False),
    ],
)  # fmt: skip
def test_a_volume_that_is_being_made_for_a_node_is_not_made_for_another(
    node: str, classes: Any, reasons: list[str], made: bool
) -> None:
    known = {"maker": None if classes is None else storage_class("maker", **classes)}
    binder = VolumeBinder(listers(volume("free", storageClassName="maker"), get_class=known.get))
    wish = chosen_for("n1")
    found, why = binder.find_pod_volumes([], [wish], node, {})
    assert why == reasons
    assert (found.bindings, found.provisions) == ([], [wish] if made else [])


TERMS = {
    "one place": ([{"matchLabelExpressions": [{"key": "z", "values": ["a", "b"]}]}], True),
    "another": ([{"matchLabelExpressions": [{"key": "z", "values": ["b"]}]}], False),
    "either": ([{"matchLabelExpressions": [{"key": "z", "values": ["b"]}]},
                {"matchLabelExpressions": [{"key": "r", "values": ["1"]}]}], True),
    "both": ([{"matchLabelExpressions": [{"key": "z", "values": ["a"]}, {"key": "r", "values": ["2"]}]}], False),
    "a missing label": ([{"matchLabelExpressions": [{"key": "q", "values": ["a"]}]}], False),
    "nothing": ([], True),
}  # fmt: skip


@pytest.mark.parametrize("case", TERMS)
def test_a_class_may_make_volumes_in_some_places_only(case: str) -> None:
    terms, allowed = TERMS[case]
    known = {"maker": storage_class("maker", provisioner="x/y", allowedTopologies=terms)}
    binder = VolumeBinder(listers(get_class=known.get))
    _, why = binder.find_pod_volumes([], [claim("c", storage_class="maker")], "n1", {"z": "a", "r": "1"})
    assert why == ([] if allowed else ["node(s) didn't find available persistent volumes to bind"])


def bound(made: Object, name: str) -> Object:
    annotations = {**(made["metadata"].get("annotations") or {}), COMPLETED: "yes"}
    return {
        **made,
        "metadata": {**made["metadata"], "annotations": annotations},
        "spec": {**made["spec"], "volumeName": name},
    }


class Scene:
    """Two claims in a cluster: for `c` the volume `v` is chosen, for `d` one is to be made on `n1`."""

    def __init__(self, refuse: Callable[[Any], Any] = lambda request: None) -> None:
        self.api = FakeAPI(refuse=refuse)
        self.client = Client(self.api, "scheduler/1")
        for kind, obj in ((CLAIMS, claim("c")), (CLAIMS, claim("d")), (VOLUMES, volume("v"))):
            metadata = {"uid": "u", "creationTimestamp": "2026-01-01T00:00:00Z", **obj["metadata"]}
            self.api.write("ADDED", kind, {**obj, "metadata": metadata})
        self.factory = SharedInformerFactory(self.client)
        claims, volumes = self.factory.informer(CLAIMS), self.factory.informer(VOLUMES)
        self.listers = Listers(get_claim=claims.indexer.get_by_key, get_volume=volumes.indexer.get_by_key)
        self.binder = VolumeBinder(self.listers, self.client, claims, 60)

    async def choose(self, bindings: str = "c", provisions: str = "d") -> PodVolumes:
        self.factory.start()
        await asyncio.sleep(0.1)
        c, d, v = self.get("c"), self.get("d"), self.listers.get_volume("v")
        assert v is not None
        volumes = PodVolumes([(c, v)] if bindings else [], [d] if provisions else [])
        return self.binder.assume(volumes, "n1")

    async def begin(self, bindings: str = "c", provisions: str = "d") -> asyncio.Task[None]:
        assumed = await self.choose(bindings, provisions)
        return asyncio.create_task(self.binder.bind_pod_volumes(assumed, "n1"))

    def get(self, name: str) -> Object:
        found = self.listers.get_claim(f"default/{name}")
        assert found is not None
        return found

    async def change(self, obj: Object) -> None:
        self.api.write("MODIFIED", CLAIMS, obj)
        await asyncio.sleep(0.5)


def test_the_choice_is_written_and_the_pod_waits_until_every_claim_is_bound() -> None:
    async def main() -> None:
        scene = Scene()
        work = await scene.begin()
        await asyncio.sleep(1)
        written = [(method, path.rsplit("/", 1)[1]) for _, method, path, _ in scene.api.log]
        assert written == [("PUT", "v"), ("PUT", "d")]
        assert scene.api.log[0][3]["spec"]["claimRef"]["name"] == "c"
        assert scene.get("d")["metadata"]["annotations"] == {SELECTED: "n1"}
        await scene.change(bound(scene.get("c"), "v"))
        assert not work.done()
        await scene.change({**scene.get("d"), "spec": {**scene.get("d")["spec"], "volumeName": "w"}})
        assert not work.done(), "one side only knows"
        await scene.change(bound(scene.get("d"), "w"))
        assert work.done()
        await work
        assert scene.binder._waiters == set()
        await scene.factory.stop()

    run_virtual(main())


@pytest.mark.parametrize(
    ("annotations", "told"),
    [
        ({SELECTED: "n2"}, 'binding volumes: provisioning failed for PVC "d"'),
        ({"other": "x"}, 'binding volumes: provisioning failed for PVC "d"'),
        (None, 'binding volumes: selectedNode annotation reset for PVC "d"'),
    ],
)  # fmt: skip
def test_who_makes_volumes_takes_a_node_back_by_its_annotation(annotations: Any, told: str) -> None:
    async def main() -> None:
        scene = Scene()
        work = await scene.begin()
        await asyncio.sleep(1)
        changed = {**scene.get("d"), "metadata": {**scene.get("d")["metadata"], "annotations": annotations}}
        await scene.change(changed)
        with pytest.raises(BindingError) as failed:
            await work
        assert str(failed.value) == told
        await scene.factory.stop()

    run_virtual(main())


@pytest.mark.parametrize(
    ("bindings", "provisions", "gone", "told"),
    [
        ("c", "", "c", 'binding volumes: failed to check binding: persistentvolumeclaims "default/c" not found'),
        ("", "d", "d", 'binding volumes: failed to check provisioning pvc: persistentvolumeclaims "default/d" not found'),
    ],
)  # fmt: skip
def test_a_claim_that_is_gone_ends_the_wait(bindings: str, provisions: str, gone: str, told: str) -> None:
    async def main() -> None:
        scene = Scene()
        work = await scene.begin(bindings, provisions)
        await asyncio.sleep(1)
        other = "d" if gone == "c" else "c"
        scene.api.write("DELETED", CLAIMS, scene.get(gone))
        await scene.change({**scene.get(other), "status": {"phase": "Pending", "more": "x"}})
        with pytest.raises(BindingError) as failed:
            await work
        assert str(failed.value) == told
        await scene.factory.stop()

    run_virtual(main())


def test_what_never_comes_is_given_up() -> None:
    async def main() -> None:
        scene = Scene()
        loop = asyncio.get_running_loop()
        work = await scene.begin()
        began = loop.time()
        with pytest.raises(BindingError, match=r"^binding volumes: context deadline exceeded$"):
            await work
        assert loop.time() - began == pytest.approx(60, abs=1)
        await scene.factory.stop()

    run_virtual(main())
    assert BIND_TIMEOUT == 600.0


@pytest.mark.parametrize("which", ["v", "d"])
def test_a_choice_that_cannot_be_written_is_an_error_of_the_plugin(which: str) -> None:
    async def main() -> None:
        error = failure(409, "Conflict", "somebody was quicker", {})
        scene = Scene(lambda r: error if r.method == "PUT" and r.path.endswith(f"/{which}") else None)
        state, plugin = CycleState(), VolumeBinding(scene.binder)
        state.write("VolumeBinding", ClaimState([], [], reserved=await scene.choose()))
        status = await plugin.pre_bind(state, make_pod("p"), "n1")
        assert status is not None
        assert (status.code, status.plugin, status.message) == (Code.ERROR, "VolumeBinding", "somebody was quicker")
        await scene.factory.stop()

    run_virtual(main())


def test_nothing_is_reserved_given_back_or_bound_for_a_pod_without_claims_or_whose_claims_are_bound() -> None:
    plugin, pod = VolumeBinding(VolumeBinder(Listers())), make_pod("p")
    skipped, unknown, done = CycleState(), CycleState(), CycleState()
    skipped.skip_filter_plugins.add("VolumeBinding")
    done.write("VolumeBinding", ClaimState([claim("c", "v")], [], {"n1": PodVolumes()}))
    for state in (skipped, unknown, done):
        assert plugin.reserve(state, pod, "n1") is None
        assert plugin.pre_bind_pre_flight(state, pod, "n1") is SKIP
        plugin.unreserve(state, pod, "n1")
    assert asyncio.run(plugin.pre_bind(done, pod, "n1")) is None


@pytest.mark.parametrize("volumes", [PodVolumes([(claim("c"), volume("v"))], []), PodVolumes([], [claim("c")])])
def test_what_is_reserved_is_assumed_until_it_is_given_back(volumes: PodVolumes) -> None:
    stored = {"v": volume("v"), "default/c": claim("c")}
    binder = VolumeBinder(Listers(get_claim=stored.get, get_volume=stored.get))
    plugin, pod, state = VolumeBinding(binder), make_pod("p"), CycleState()
    claims = ClaimState([], [], {"n1": volumes})
    state.write("VolumeBinding", claims)
    plugin.reserve(state, pod, "n2")
    assert claims.reserved is None
    plugin.reserve(state, pod, "n1")
    assert plugin.pre_bind_pre_flight(state, pod, "n1") is None
    assert len(binder._assumed) == 1
    plugin.unreserve(state, pod, "n1")
    assert (claims.reserved, binder._assumed) == (None, {})
    assert plugin.pre_bind_pre_flight(state, pod, "n1") is SKIP


def test_ten_minutes_unless_the_profile_says_otherwise() -> None:
    from lifecycle.scheduler.config import Profile
    from lifecycle.scheduler.profile import new_framework

    def timeout(framework: Any) -> float:
        [plugin] = [plugin for plugin in framework.plugins if isinstance(plugin, VolumeBinding)]
        return plugin._binder._bind_timeout

    assert timeout(default_framework()) == 600
    assert timeout(new_framework(Profile(args={"VolumeBinding": {"bindTimeoutSeconds": 30}}))) == 30
