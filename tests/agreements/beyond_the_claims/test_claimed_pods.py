"""Which pods a ReplicaSet takes for its own, and whom it lets go."""

from __future__ import annotations

from functools import cache
from typing import Any, cast

from lifecycle.api.http.wire import Object
from lifecycle.api.labels import parse_selector
from lifecycle.api.resources import resource
from lifecycle.cluster.rehearsal import on_virtual_time
from lifecycle.controllers.controller_ref_manager import ControllerRefManager
from lifecycle.controllers.owner_references import new_controller_ref

SETS, PODS = resource("replicasets.apps"), resource("pods")


@cache
def _claimed() -> tuple[list[str], dict[str, Any]]:
    """Which of six pods a ReplicaSet takes for its own, and what it writes about the
    owners of the others.
    """
    owner: Object = {
        "kind": "ReplicaSet",
        "apiVersion": "apps/v1",
        "metadata": {"name": "rs", "namespace": "default", "uid": "u"},
    }
    wanted, other = {"labels": {"app": "web"}}, {"labels": {"app": "db"}}
    by_me = {"ownerReferences": [new_controller_ref(owner)]}
    by_another = {"ownerReferences": [{**by_me["ownerReferences"][0], "uid": "v"}]}
    going = {"deletionTimestamp": "2026-01-01T00:00:00Z"}
    pods: dict[str, Object] = {
        "mine": {**wanted, **by_me},
        "astray": {**other, **by_me},
        "another's": {**wanted, **by_another},
        "nobody's": wanted,
        "nobody's, going": {**wanted, **going},
        "nobody's, other": other,
    }
    written: dict[str, Any] = {}

    class Server:
        async def get(self, *_: Any) -> Object:
            return owner

        async def patch(self, what: Any, name: str, *rest: Any, **_: Any) -> None:
            [written[name]] = rest[1]["metadata"]["ownerReferences"]

    async def claim(owner: Object) -> list[str]:
        manager = ControllerRefManager(cast(Any, Server()), owner, SETS, PODS, parse_selector("app=web"))
        objects: list[Object] = [
            {"metadata": {"name": name, "namespace": "default", "uid": name, **more}} for name, more in pods.items()
        ]
        return [obj["metadata"]["name"] for obj in await manager.claim(objects)]

    claimed = on_virtual_time(claim(owner))
    dying = {**owner, "metadata": {**owner["metadata"], **going}}
    before = dict(written)
    written.clear()
    assert on_virtual_time(claim(dying)) == ["mine"], "whoever goes takes none"
    assert not written, "nor lets any go"
    written |= before
    return claimed, written


def test_one_that_nobody_has_is_taken() -> None:
    claimed, written = _claimed()
    assert claimed == ["mine", "nobody's"]
    assert (written["nobody's"]["uid"], written["nobody's"]["controller"]) == ("u", True)


def test_one_that_is_meant_no_longer_is_let_go() -> None:
    _, written = _claimed()
    assert written["astray"] == {"$patch": "delete", "uid": "u"}
    assert written.keys() == {"astray", "nobody's"}
