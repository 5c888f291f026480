"""Claims and volumes with nobody else there: bonds by hand, bonds that are lost, volumes that are released."""

from __future__ import annotations

import asyncio
from itertools import pairwise
from typing import Any

import pytest
from tests.controllers.alone import Alone, alone

from lifecycle.api.http.wire import Object, Request
from lifecycle.api.loop.clock import VIRTUAL_EPOCH, format_time, run_virtual
from lifecycle.api.resources import resource
from lifecycle.controllers.persistentvolume.expand_controller import ExpandController
from lifecycle.controllers.persistentvolume.pv_controller import PersistentVolumeController

CLAIMS, VOLUMES = resource("persistentvolumeclaims"), resource("persistentvolumes")
COMPLETED, BY_CONTROLLER = "pv.kubernetes.io/bind-completed", "pv.kubernetes.io/bound-by-controller"


def claim(name: str = "c", *, annotations: Object | None = None, **spec: Any) -> tuple[str, Object]:
    full = {
        "accessModes": ["ReadWriteOnce"],
        "resources": {"requests": {"storage": "1Gi"}},
        "storageClassName": "",
        **spec,
    }
    meta = {"name": name, "namespace": "ns", "uid": f"claim-{name}", "annotations": annotations or {}}
    return "persistentvolumeclaims", {"metadata": meta, "spec": full}


def volume(name: str = "v", of: str = "", *, uid: str = "", **more: Any) -> tuple[str, Object]:
    """`of`: the claim it is bound to, or kept for if `uid` is a dash."""
    spec: Object = {
        "capacity": {"storage": "2Gi"},
        "accessModes": ["ReadWriteOnce"],
        "hostPath": {"path": more.pop("path", "/tmp/x")},
        "persistentVolumeReclaimPolicy": more.pop("policy", "Retain"),
        **more.pop("spec", {}),
    }
    if of:
        spec["claimRef"] = {"namespace": "ns", "name": of}
        if uid != "-":
            spec["claimRef"]["uid"] = uid or f"claim-{of}"
    meta = {"name": name, "uid": f"volume-{name}", **more.pop("metadata", {})}
    return "persistentvolumes", {"metadata": meta, "spec": spec, "status": {"phase": "Pending", **more}}


def one(stage: Alone, kind: str, name: str) -> Object:
    (found,) = [each for each in stage.items(kind) if each["metadata"]["name"] == name]
    return found


def phases(stage: Alone) -> dict[str, str]:
    both = [*stage.items("persistentvolumeclaims"), *stage.items("persistentvolumes")]
    return {each["metadata"]["name"]: (each.get("status") or {}).get("phase", "") for each in both}


def growing() -> tuple[str, Object]:
    """A claim that has one and wants three."""
    kind, body = claim(volumeName="v", resources={"requests": {"storage": "3Gi"}})
    return kind, {**body, "status": {"phase": "Bound", "capacity": {"storage": "1Gi"}}}


WAITS = ("Normal", "ExternalExpanding", "waiting for an external controller to expand this PVC")


@pytest.mark.parametrize(
    "before",
    [
        None,
        volume(),
        volume(of="c", uid="another"),
        volume(spec={"claimRef": {"namespace": "other", "uid": "claim-c"}}),
    ],
)
def test_a_claim_that_wants_to_grow_asks_for_its_volume_until_that_is_its_own(
    before: tuple[str, Object] | None,
) -> None:
    asked: list[float] = []

    async def main() -> None:
        objects = [growing()] if before is None else [growing(), before]
        async with alone(ExpandController, *objects) as stage:

            def note(request: Request) -> None:
                if request.method == "GET" and request.path.endswith("/persistentvolumes/v"):
                    asked.append(stage.api.clock.now())

            stage.api.refuse = note
            await asyncio.sleep(30)
            assert stage.told() == []
            waits = [after - earlier for earlier, after in pairwise(asked)]
            assert 3 < len(waits) < 20
            assert waits == sorted(waits), "later each time"
            _, body = volume(of="c")
            stage.api.write("MODIFIED" if before else "ADDED", VOLUMES, body)
            await asyncio.sleep(60)
            assert stage.told() == [WAITS]
            count = len(asked)
            await asyncio.sleep(600)
            assert len(asked) == count

    run_virtual(main())


def test_a_claim_that_has_grown_while_its_volume_was_waited_for_waits_for_nobody() -> None:
    async def main() -> None:
        kind, body = growing()
        async with alone(ExpandController, (kind, body)) as stage:
            (stored,) = stage.items(kind)
            full = {**stored, "status": {"phase": "Bound", "capacity": {"storage": "3Gi"}}}
            await stage.client.update(CLAIMS, full, subresource="status")
            stage.api.write("ADDED", VOLUMES, volume(of="c")[1])
            await asyncio.sleep(60)
            assert stage.told() == []

    run_virtual(main())


def seen(*objects: tuple[str, Object]) -> tuple[dict[str, str], list[tuple[str, str, str]]]:
    """The phases, and what was told."""

    async def main() -> tuple[dict[str, str], list[tuple[str, str, str]]]:
        async with alone(PersistentVolumeController, *objects) as stage:
            await asyncio.sleep(1)
            return phases(stage), stage.told()

    return run_virtual(main())


def test_a_claim_may_name_its_volume() -> None:
    async def main() -> None:
        async with alone(PersistentVolumeController, claim(volumeName="v"), volume(), volume("w")) as stage:
            assert phases(stage) == {"c": "Bound", "v": "Bound", "w": "Available"}
            mine, theirs = one(stage, "persistentvolumeclaims", "c"), one(stage, "persistentvolumes", "v")
            assert mine["metadata"]["annotations"] == {COMPLETED: "yes"}, "it was somebody else's choice"
            assert theirs["metadata"]["annotations"] == {BY_CONTROLLER: "yes"}
            reference = theirs["spec"]["claimRef"]
            assert (reference["namespace"], reference["name"], reference["uid"]) == ("ns", "c", "claim-c")
            assert mine["status"]["capacity"] == {"storage": "2Gi"}

    run_virtual(main())


def test_a_volume_that_somebody_else_has_is_not_taken() -> None:
    found, told = seen(
        claim(volumeName="v"), claim("d", volumeName="v", annotations={COMPLETED: "yes"}), volume(of="d")
    )
    assert found == {"c": "Pending", "d": "Bound", "v": "Bound"}
    assert set(told) == {("Warning", "FailedBinding", 'volume "v" already bound to a different claim.')}


def test_a_volume_that_is_not_there_yet_is_waited_for_in_silence() -> None:
    async def main() -> None:
        async with alone(PersistentVolumeController, claim(volumeName="v")) as stage:
            assert phases(stage) == {"c": "Pending"}
            assert stage.told() == []
            _, body = volume()
            await stage.client.create(VOLUMES, body, "")
            await asyncio.sleep(1)
            assert phases(stage) == {"c": "Bound", "v": "Bound"}

    run_virtual(main())


def test_a_volume_that_was_named_and_will_not_do_is_told() -> None:
    found, told = seen(claim(volumeName="v", resources={"requests": {"storage": "9Gi"}}), volume())
    assert found == {"c": "Pending", "v": "Available"}
    assert set(told) == {
        ("Warning", "VolumeMismatch", 'Cannot bind to requested volume "v": requested PV is too small')
    }


LOST = "Bound claim has lost its PersistentVolume. Data on the volume is lost!"
NO_NAME = "Bound claim has lost reference to PersistentVolume. Data on the volume is lost!"
MISBOUND = "Two claims are bound to the same volume, this one is bound incorrectly"


@pytest.mark.parametrize(
    ("spec", "volumes", "event"),
    [
        ({}, [], ("ClaimLost", NO_NAME)),
        ({"volumeName": "v"}, [], ("ClaimLost", LOST)),
        ({"volumeName": "v"}, [volume(of="d")], ("ClaimMisbound", MISBOUND)),
    ],
)
def test_a_bond_that_is_lost_is_told_once(
    spec: Object, volumes: list[tuple[str, Object]], event: tuple[str, str]
) -> None:
    found, told = seen(claim(annotations={COMPLETED: "yes"}, **spec), *volumes)
    assert found["c"] == "Lost"
    assert told == [("Warning", *event)]


def test_a_bond_that_was_half_made_is_completed() -> None:
    """Somebody ended after the first of four writes."""
    bound = {"volumeName": "v", "annotations": {COMPLETED: "yes"}}
    for mine, theirs in (
        (claim(), volume(of="c")),
        (claim(**bound), volume(of="c")),
        (claim(**bound), volume()),
        (claim(), volume(of="c", uid="-")),
    ):
        found, told = seen(mine, theirs)
        assert found == {"c": "Bound", "v": "Bound"}
        assert told == []


def test_a_volume_whose_claim_went_elsewhere_is_free_again_if_we_had_bound_it() -> None:
    mine = claim(volumeName="w", annotations={COMPLETED: "yes"})
    annotated = {"annotations": {BY_CONTROLLER: "yes", "mine": "kept"}}

    async def main() -> None:
        objects = mine, volume("w", of="c"), volume(of="c", metadata=annotated)
        async with alone(PersistentVolumeController, *objects) as stage:
            free = one(stage, "persistentvolumes", "v")
            assert "claimRef" not in free["spec"]
            assert free["metadata"]["annotations"] == {"mine": "kept"}
            assert free["status"]["phase"] == "Available"
        async with alone(PersistentVolumeController, mine, volume("w", of="c"), volume(of="c")) as stage:
            assert "claimRef" in one(stage, "persistentvolumes", "v")["spec"], "somebody else's choice"

    run_virtual(main())


HAND = "host_path deleter only supports /tmp/.+ but received provided /data"
NO_PLUGIN = 'error getting deleter volume plugin for volume "v": no deletable volume plugin matched'


@pytest.mark.parametrize(
    ("more", "phase", "told"),
    [
        ({"policy": "Retain"}, "Released", None),
        ({"policy": "Delete"}, None, None),
        ({"policy": "Delete", "path": "/data"}, "Failed", HAND),
        ({"policy": "Delete", "spec": {"hostPath": {"path": "/tmp/"}}}, "Failed", HAND.replace("/data", "/tmp/")),
        (
            {"policy": "Delete", "metadata": {"annotations": {"pv.kubernetes.io/provisioned-by": "csi.example.com"}}},
            "Released",
            None,
        ),
        (
            {"policy": "Delete", "metadata": {"annotations": {"pv.kubernetes.io/provisioned-by": "kubernetes.io/x"}}},
            None,
            None,
        ),
    ],
)
def test_what_becomes_of_a_volume_whose_claim_is_gone(more: Object, phase: str | None, told: str | None) -> None:
    for uid in ("", "of one before"):
        others = [claim(volumeName="elsewhere")] if uid else []
        found, said = seen(*others, volume(of="c", uid=uid, **{**more}))
        assert found.get("v") == phase
        assert said == ([("Warning", "VolumeFailedDelete", told)] if told else [])


def test_a_volume_that_is_on_its_way_out_is_not_deleted_again() -> None:
    async def main() -> None:
        going = {"deletionTimestamp": format_time(VIRTUAL_EPOCH), "finalizers": ["kubernetes.io/pv-protection"]}
        async with alone(PersistentVolumeController, volume(of="c", policy="Delete", metadata=going)) as stage:
            await asyncio.sleep(1)
            assert stage.writes("DELETE") == []
            assert phases(stage) == {"v": "Released"}

    run_virtual(main())


def test_a_claim_that_goes_releases_its_volume() -> None:
    async def main() -> None:
        async with alone(PersistentVolumeController, claim(), volume()) as stage:
            assert phases(stage) == {"c": "Bound", "v": "Bound"}
            await stage.client.delete(CLAIMS, "c", "ns")
            await asyncio.sleep(1)
            assert phases(stage) == {"v": "Released"}
        async with alone(PersistentVolumeController, claim(), volume()) as stage:
            await stage.client.delete(VOLUMES, "v", "")
            await asyncio.sleep(1)
            assert phases(stage) == {"c": "Lost"}
            assert stage.told()[-1] == ("Warning", "ClaimLost", LOST)

    run_virtual(main())
