"""What the garbage collector asks for, by the states of an object's owners."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from lifecycle.agreements.own_server import own_server
from lifecycle.api.http.wire import Object, Request
from lifecycle.api.loop.clock import Clock
from lifecycle.api.names import NameSource
from lifecycle.api.resources import resource
from lifecycle.client.rest import Client
from lifecycle.client.shared_informer import SharedInformerFactory
from lifecycle.cluster.rehearsal import on_virtual_time
from lifecycle.controllers.garbagecollector.garbage_collector import GarbageCollector
from tests.asked_first import AskedFirst

MAPS = resource("configmaps")
ORPHANED, FOREGROUND, OTHER = "orphan", "foregroundDeletion", "example.com/other"


def _owned_by(owners: dict[str, str], *, blocks: bool = True) -> list[Object]:
    """References to owners by name and uid."""
    row = {"apiVersion": "v1", "kind": "ConfigMap", "blockOwnerDeletion": blocks}
    return [{**row, "name": name, "uid": uid} for name, uid in owners.items()]


def asked_for(
    owners: list[str], finalizers: list[str], *, child: str = "", child_waits: bool = False
) -> tuple[list[str], list[str]]:
    """What is asked for when the collector begins, and what is there after a while, of one object `it`, whose owners are named
    for how they are: `here`, `gone`, or `going`, which waits for those it owns. It may have a child, which may wait itself.
    """

    async def main() -> tuple[list[str], list[str]]:
        asked = list[str]()

        async def note(request: Request) -> None:
            if request.method in ("DELETE", "PATCH", "PUT") and "/configmaps/" in request.path:
                body: Any = json.loads(request.body or b"{}") or request.obj or {}
                what = body.get("propagationPolicy") or _said_of_owners(body)
                asked.append(f"{request.method} {request.path.rpartition('/')[2]} {what}".strip())

        async with own_server() as server:
            admin, uids = Client(server, "admin"), {"gone": "nobody"}

            async def make(name: str, references: list[Object], kept: list[str]) -> None:
                metadata = {"name": name, "ownerReferences": references, "finalizers": kept}
                made = await admin.create(
                    MAPS, {"kind": "ConfigMap", "apiVersion": "v1", "metadata": metadata}, "default"
                )
                uids[name] = made["metadata"]["uid"]

            for name in owners:
                if name != "gone":
                    await make(name, [], [])
            await make("it", _owned_by({name: uids[name] for name in owners}), finalizers)
            if child:
                await make(child, _owned_by({"it": uids["it"]}), [])
            if child_waits:
                await make("another", _owned_by({"it": uids["it"]}), [])  # which waits for nobody
                await make("grandchild", _owned_by({child: uids[child]}), [OTHER])
                await admin.delete(MAPS, child, "default", propagation="Foreground")
            if "going" in owners:
                await admin.delete(MAPS, "going", "default", propagation="Foreground")
            client = Client(AskedFirst(server, note), "collector")
            informers = SharedInformerFactory(client)
            collector = GarbageCollector(client, informers, clock=Clock(), names=NameSource(1))
            informers.start()
            working = asyncio.create_task(collector.run())
            await asyncio.sleep(30)
            left = sorted(each["metadata"]["name"] for each in (await admin.list(MAPS, "default"))["items"])
            working.cancel()
            await asyncio.gather(working, return_exceptions=True)
            await informers.stop()
            return [each for each in asked if each.split()[1] == "it"], [
                each for each in left if each != "kube-root-ca.crt"
            ]

    return on_virtual_time(main())


def _said_of_owners(body: Object) -> str:
    """What a patch does to references: to how many, and whether they go or only do not block any more."""
    metadata = body.get("metadata") or {}
    references = metadata.get("ownerReferences")
    if references is None:
        return f"finalizers {metadata.get('finalizers')}" if "finalizers" in metadata else ""
    gone = sum(each.get("$patch") == "delete" for each in references)
    return f"{gone} go" if gone else f"{len(references)} block no more"


@pytest.mark.parametrize(
    ("owners", "finalizers", "asked", "left"),
    [
        (["here"], [], [], ["here", "it"]),
        (["here", "gone"], [], ["PATCH it 1 go"], ["here", "it"]),
        (["here", "going"], [], ["PATCH it 1 go"], ["here", "it"]),  # and who waited for it need not any more
        (["here", "gone", "going"], [], ["PATCH it 2 go"], ["here", "it"]),
        (["gone"], [], ["DELETE it Background"], []),
        (["going"], [], ["DELETE it Background"], []),
        (["gone", "going"], [], ["DELETE it Background"], []),
        # who already knows what is to become of those it owns keeps to that
        (["gone"], [OTHER], ["DELETE it Background"], ["it"]),
        (["gone"], [ORPHANED], ["DELETE it Orphan"], []),
        (["gone"], [FOREGROUND], ["DELETE it Foreground"], []),
    ],
)
def test_an_object_goes_when_no_owner_holds_it(
    owners: list[str], finalizers: list[str], asked: list[str], left: list[str]
) -> None:
    seen, there = asked_for(owners, finalizers)
    assert (seen[:1], there) == (asked, left)


def test_whose_owner_waits_waits_for_its_own_first() -> None:
    seen, there = asked_for(["going"], [], child="child")
    assert seen[0] == "DELETE it Foreground"
    assert there == []


def test_who_waits_for_one_that_waits_already_holds_nobody_up() -> None:
    """Were they waiting for one another in a circle, nobody would ever go. Upstream: `attemptToDeleteItem`."""
    seen, there = asked_for(["going"], [], child="child", child_waits=True)
    assert seen[:2] == ["PATCH it 1 block no more", "DELETE it Foreground"]
    assert "going" not in there
