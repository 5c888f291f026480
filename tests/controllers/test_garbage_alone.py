"""The garbage collector with nobody else there: what it asks the server for, owner by owner."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest
from tests.controllers.alone import Alone, alone

from lifecycle.api.http.wire import Object, Request
from lifecycle.api.loop.clock import VIRTUAL_EPOCH, format_time, run_virtual
from lifecycle.api.resources import resource
from lifecycle.api.status import StatusError, failure
from lifecycle.client.rest import STRATEGIC_MERGE_PATCH
from lifecycle.controllers.garbagecollector.garbage_collector import WORKERS, GarbageCollector

MAPS = resource("configmaps")
FOREGROUND, ORPHAN = "foregroundDeletion", "orphan"
UNSUPPORTED = failure(415, "UnsupportedMediaType", "no such patch", {})
Scene = tuple[tuple[str, Object], ...]


def ref(name: str, uid: str = "", *, blocks: bool = False, kind: str = "ConfigMap", version: str = "v1") -> Object:
    found = {"apiVersion": version, "kind": kind, "name": name, "uid": uid or name}
    return {**found, "blockOwnerDeletion": True} if blocks else found


def thing(name: str, *owners: Object, finalizers: tuple[str, ...] = (), going: bool = False) -> tuple[str, Object]:
    """A ConfigMap whose uid is its name. `going`: somebody has deleted it, and its finalizers hold it."""
    meta: Object = {"name": name, "namespace": "ns"}
    if owners:
        meta["ownerReferences"] = list(owners)
    if finalizers:
        meta["finalizers"] = list(finalizers)
    if going:
        meta["deletionTimestamp"] = format_time(VIRTUAL_EPOCH)
    return "configmaps", {"metadata": meta}


def plain_patches_only(request: Request) -> StatusError | None:
    """As it is with custom resources, which have no strategic merge patch."""
    return UNSUPPORTED if request.headers.get("content-type") == STRATEGIC_MERGE_PATCH else None


def asked(stage: Alone) -> list[str]:
    """What was written, in its order: `delete NAME POLICY`, `patch NAME …`."""
    told = []
    for _, method, path, body in stage.api.log:
        name = path.rpartition("/")[2]
        if method == "DELETE":
            told.append(f"delete {name} {body['propagationPolicy']}")
        elif method == "PATCH" and "finalizers" in body["metadata"]:
            told.append(f"patch {name} finalizers={','.join(body['metadata']['finalizers'] or ())}")
        elif method == "PATCH":
            left = (f"{'-' if '$patch' in r else ''}{r['uid']}" for r in body["metadata"]["ownerReferences"])
            told.append(f"patch {name} owners={','.join(left)}")
    return told


def left(stage: Alone) -> dict[str, list[str]]:
    """Who is still there, and by whom it is owned."""
    metas = [each["metadata"] for each in stage.items("configmaps")]
    return {meta["name"]: [r["uid"] for r in meta.get("ownerReferences") or ()] for meta in metas}


def collected(scene: Scene, refuse: Callable[[Request], StatusError | None] | None = None) -> Any:
    """What is asked, and who is left after two seconds."""
    seen: list[Any] = []

    async def main() -> None:
        async with alone(GarbageCollector, *scene, refuse=refuse) as stage:
            await asyncio.sleep(2)
            seen.extend((asked(stage), left(stage)))

    run_virtual(main())
    return tuple(seen)


@pytest.mark.parametrize(
    ("scene", "requests", "there"),
    [
        ((thing("a"),), [], {"a"}),  # nobody owned it, so nobody is missed
        ((thing("a"), thing("b", ref("a"))), [], {"a", "b"}),
        ((thing("b", ref("gone")),), ["delete b Background"], set()),
        ((thing("b", ref("gone"), ref("lost")),), ["delete b Background"], set()),
        # of the name, but another life
        ((thing("a"), thing("b", ref("a", "before"))), ["delete b Background"], {"a"}),
        # it goes as it once was asked to
        ((thing("b", ref("gone"), finalizers=(ORPHAN,)),), ["delete b Orphan", "patch b finalizers="], set()),
        (
            (thing("b", ref("gone"), finalizers=(FOREGROUND, "mine")),),
            ["delete b Foreground", "patch b finalizers=mine"],
            {"b"},
        ),
        ((thing("b", ref("gone"), finalizers=("mine",)),), ["delete b Background"], {"b"}),
        # on its way already
        ((thing("b", ref("gone"), finalizers=("mine",), going=True),), [], {"b"}),
        # from one generation to the next
        (
            (thing("b", ref("gone")), thing("c", ref("b")), thing("d", ref("c"))),
            ["delete b Background", "delete c Background", "delete d Background"],
            set(),
        ),
        # a kind that nobody knows: perhaps tomorrow
        ((thing("b", ref("gone", kind="Whim")),), [], {"b"}),
        # it waits for who blocks it, and lets go
        (
            (thing("a", finalizers=(FOREGROUND,), going=True), thing("b", ref("a", blocks=True))),
            ["delete b Background", "patch a finalizers="],
            set(),
        ),
        (
            (thing("a", finalizers=("mine", FOREGROUND), going=True),),
            ["patch a finalizers=mine"],
            {"a"},
        ),
        # blocked by somebody who cannot go yet
        (
            (
                thing("a", finalizers=(FOREGROUND,), going=True),
                thing("b", ref("a", blocks=True), finalizers=("mine",)),
            ),
            ["delete b Background"],
            {"a", "b"},
        ),
        # the children's children first
        (
            (
                thing("a", finalizers=(FOREGROUND,), going=True),
                thing("b", ref("a", blocks=True)),
                thing("c", ref("b", blocks=True)),
            ),
            ["delete b Foreground", "delete c Background", "patch b finalizers=", "patch a finalizers="],
            set(),
        ),
        # going for another reason: whoever waits for it is not asked about it
        ((thing("a", finalizers=("mine",), going=True), thing("b", ref("a"))), [], {"a", "b"}),
        ((thing("a", finalizers=(ORPHAN,), going=True),), ["patch a finalizers="], set()),
        ((thing("a", finalizers=(ORPHAN, "mine"), going=True),), ["patch a finalizers=mine"], {"a"}),
    ],
)
def test_who_goes_and_how(scene: Scene, requests: list[str], there: set[str]) -> None:
    found, who = collected(scene)
    assert (found, set(who)) == (requests, there)


def test_whoever_waits_for_nobody_that_blocks_goes_at_once_and_the_rest_follows() -> None:
    found, who = collected((thing("a", finalizers=(FOREGROUND,), going=True), thing("b", ref("a"))))
    assert (sorted(found), who) == (["delete b Background", "patch a finalizers="], {})


@pytest.mark.parametrize(
    ("scene", "owners"),
    [
        ((thing("a"), thing("b", ref("gone"), ref("a"))), {"a": [], "b": ["a"]}),
        ((thing("a"), thing("b", ref("gone"), ref("a"), ref("lost"))), {"a": [], "b": ["a"]}),
        # one owner goes in the foreground, another one stays
        (
            (thing("a"), thing("x", finalizers=(FOREGROUND,), going=True), thing("b", ref("x", blocks=True), ref("a"))),
            {"a": [], "b": ["a"]},
        ),
        (
            (thing("a", finalizers=(ORPHAN,), going=True), thing("b", ref("a")), thing("c", ref("a"), ref("d")), thing("d")),
            {"b": [], "c": ["d"], "d": []},
        ),
    ],
)  # fmt: skip
def test_whoever_stays_forgets_those_that_are_gone(scene: Scene, owners: dict[str, list[str]]) -> None:
    found, who = collected(scene, plain_patches_only)
    assert who == owners
    assert not any(each.startswith("delete") for each in found)


def test_a_reference_is_taken_out_in_whatever_way_the_server_takes_it() -> None:
    """First as a strategic merge patch, which says what goes; where there is none, as a merge patch, which says what stays."""

    async def main() -> None:
        objects = thing("a"), thing("b", ref("gone"), ref("a"), ref("lost"))
        async with alone(GarbageCollector, *objects, refuse=plain_patches_only) as stage:
            bodies = [body for _, method, _, body in stage.api.log if method == "PATCH"]
            out = [{"$patch": "delete", "uid": "gone"}, {"$patch": "delete", "uid": "lost"}]
            assert bodies == [
                {"metadata": {"ownerReferences": out, "uid": "b"}},
                {"metadata": {"ownerReferences": [ref("a")], "uid": "b"}},
            ]
        broken = failure(500, "InternalError", "broken", {})
        refuse = lambda request: broken if request.method == "PATCH" else None  # noqa: E731
        async with alone(GarbageCollector, *objects, refuse=refuse) as stage:
            sent = [body["metadata"]["ownerReferences"] for _, method, _, body in stage.api.log if method == "PATCH"]
            assert {len(each) for each in sent} == {2}, "another refusal is tried again as it is"

    run_virtual(main())


def test_what_is_deleted_is_what_was_looked_at() -> None:
    async def main() -> None:
        async with alone(GarbageCollector, thing("b", ref("gone"))) as stage:
            ((_, method, path, body),) = stage.api.log
            assert (method, path) == ("DELETE", "/api/v1/namespaces/ns/configmaps/b")
            assert body["preconditions"] == {"uid": "b", "resourceVersion": "2"}

    run_virtual(main())


def test_a_finalizer_is_taken_from_the_version_that_was_looked_at() -> None:
    async def main() -> None:
        async with alone(GarbageCollector, thing("a", finalizers=(FOREGROUND,), going=True)) as stage:
            ((_, _, _, body),) = stage.api.log
            assert body == {"metadata": {"resourceVersion": "2", "finalizers": None}}

    run_virtual(main())


def test_those_that_wait_for_each_other_in_a_circle_no_longer_block() -> None:
    async def main() -> None:
        objects = (
            thing("a", ref("b", blocks=True), finalizers=(FOREGROUND,), going=True),
            thing("b", ref("a", blocks=True)),
        )
        async with alone(GarbageCollector, *objects, refuse=plain_patches_only) as stage:
            await asyncio.sleep(2)
            assert left(stage) == {}
            bodies = [body["metadata"] for _, method, path, body in stage.api.log if method == "PATCH" and "/b" in path]
            unblocked = [{**ref("a"), "blockOwnerDeletion": False}]
            assert bodies[:2] == [{"ownerReferences": unblocked, "uid": "b"}] * 2

    run_virtual(main())


def test_one_dependent_that_waits_is_enough_to_see_a_circle() -> None:
    """Another one, which somebody holds, has nothing to do with it."""
    objects = (
        thing("a", ref("b", blocks=True), finalizers=(FOREGROUND,), going=True),
        thing("b", ref("a", blocks=True)),
        thing("c", ref("b", blocks=True), finalizers=("mine",)),
    )
    _, there = collected(objects)
    assert "a" not in there  # `b` blocks it no longer, although it waits for `c`
    assert {"b", "c"} <= set(there)


def test_an_owner_that_is_not_there_is_asked_for_once_for_all_that_it_had() -> None:
    gets: list[str] = []

    def note(request: Request) -> None:
        if request.method == "GET" and request.path.endswith("/gone"):
            gets.append(request.path)

    found, _ = collected(tuple(thing(name, ref("gone")) for name in "bcd"), note)
    assert found == [f"delete {name} Background" for name in "bcd"]
    assert gets == ["/api/v1/namespaces/ns/configmaps/gone"]


@pytest.mark.parametrize(("code", "orphaned"), [(404, True), (500, False)])
def test_an_owner_goes_when_none_is_left_that_names_it(code: int, orphaned: bool) -> None:
    """A dependent that is gone does not name anybody any more; one that cannot be asked just now may."""
    refused = failure(code, "Any", "no", {})
    refuse = lambda request: refused if request.method == "PATCH" and request.path.endswith("/b") else None  # noqa: E731
    found, who = collected(
        (thing("a", finalizers=(ORPHAN,), going=True), thing("b", ref("a")), thing("c", ref("a"))), refuse
    )
    assert ("patch a finalizers=" in found) is orphaned
    assert ("a" in who) is not orphaned
    assert found.count("patch b owners=-a") >= (1 if orphaned else 2)


def test_dependents_are_let_go_some_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a network between, all that are begun at once are done before anybody else has a turn."""
    busy: list[int] = []
    delete_owner_references = GarbageCollector._delete_owner_references

    async def counted(self: GarbageCollector, node: Any, uids: list[str]) -> None:
        busy.append(busy[-1] + 1 if busy else 1)
        await asyncio.sleep(0.1)
        await delete_owner_references(self, node, uids)
        busy.append(busy[-1] - 1)

    monkeypatch.setattr(GarbageCollector, "_delete_owner_references", counted)
    dependents = [thing(f"b{number}", ref("a")) for number in range(3 * WORKERS)]
    found, _ = collected((thing("a", finalizers=(ORPHAN,), going=True), *dependents))
    assert found.count("patch a finalizers=") == 1
    assert max(busy) == WORKERS == 20
    assert len(busy) == 2 * len(dependents)


def test_those_that_cannot_be_let_go_keep_nobody_else() -> None:
    """Were each of them the end of a worker, twenty of them would be the end of all."""
    webhook = failure(403, "Forbidden", "a webhook says no", {})

    def refuse(request: Request) -> StatusError | None:
        if request.method != "PATCH":
            return None
        if request.path.endswith("/broken"):
            raise ConnectionResetError("the way there broke")
        return webhook if "/kept" in request.path else None

    kept = [thing(f"kept{number}", ref("a")) for number in range(WORKERS)]
    free = [thing(f"free{number}", ref("a")) for number in range(2 * WORKERS)]
    found, owners = collected(
        (thing("a", finalizers=(ORPHAN,), going=True), thing("broken", ref("a")), *kept, *free), refuse
    )
    assert {name for name, by in owners.items() if by} == {"broken"} | {f"kept{number}" for number in range(WORKERS)}
    assert "a" in owners
    assert "patch a finalizers=" not in found
    assert found.count("patch kept0 owners=-a") > 1, "it is tried again"


async def change(stage: Alone, name: str, **meta: Any) -> None:
    body = await stage.client.get(MAPS, name, "ns")
    await stage.client.update(MAPS, {**body, "metadata": {**body["metadata"], **meta}})
    await asyncio.sleep(1)


def test_an_owner_goes_when_who_blocked_it_no_longer_does() -> None:
    async def main() -> None:
        held = thing("b", ref("a", blocks=True), finalizers=("mine",), going=True)
        for references in ([], [ref("a")]):  # names it no more; names it and does not block
            async with alone(GarbageCollector, thing("a", finalizers=(FOREGROUND,), going=True), held) as stage:
                await asyncio.sleep(1)
                assert asked(stage) == []
                await change(stage, "b", ownerReferences=references)
                assert [each for each in asked(stage) if " a " in each] == ["patch a finalizers="]
                assert set(left(stage)) == {"b"}

    run_virtual(main())


def test_new_owners_are_looked_for_and_old_ones_forgotten() -> None:
    async def main() -> None:
        async with alone(GarbageCollector, thing("a"), thing("c"), thing("b", ref("a"))) as stage:
            await change(stage, "b", ownerReferences=[ref("c")])
            await stage.client.delete(MAPS, "a", "ns")
            await asyncio.sleep(1)
            assert left(stage) == {"c": [], "b": ["c"]}
            await stage.client.delete(MAPS, "c", "ns")
            await asyncio.sleep(1)
            assert left(stage) == {}
        async with alone(GarbageCollector, thing("a"), thing("b")) as stage:
            await change(stage, "b", ownerReferences=[ref("gone")])
            assert set(left(stage)) == {"a"}
            await change(stage, "a", ownerReferences=[ref("lost", kind="Whim")])
            assert set(left(stage)) == {"a"}

    run_virtual(main())


def test_an_owner_deleted_later_takes_its_own_along_and_each_in_its_way() -> None:
    async def main() -> None:
        for policy, requests, there in (
            ("Background", ["delete b Background"], set()),
            ("Foreground", ["delete b Background", "patch a finalizers="], set()),
            ("Orphan", ["patch b owners=-a", "patch b owners=", "patch a finalizers="], {"b"}),
        ):
            objects = thing("a"), thing("b", ref("a", blocks=True))
            async with alone(GarbageCollector, *objects, refuse=plain_patches_only) as stage:
                await stage.client.delete(MAPS, "a", "ns", propagation=policy)
                await asyncio.sleep(1)
                assert asked(stage)[1:] == requests
                assert set(left(stage)) == there

    run_virtual(main())


def test_somebody_of_the_same_name_who_comes_while_nobody_watches_is_not_the_owner() -> None:
    async def main() -> None:
        async with alone(GarbageCollector, thing("a"), thing("b", ref("a"))) as stage:
            graph = stage.controller.graph
            old = await stage.client.get(MAPS, "a", "ns")
            new = {**old, "metadata": {**old["metadata"], "uid": "other"}}
            stage.api.objects[MAPS, "ns", "a"] = new
            graph._updated(old, new)
            await asyncio.sleep(1)
            assert asked(stage) == ["delete b Background"]
            assert set(left(stage)) == {"a"}
            assert ("other" in graph.nodes, "a" in graph.nodes) == (True, False)

    run_virtual(main())
