"""The same history, heard by many: each selection has its own, and it does not matter when somebody comes to hear it."""

from __future__ import annotations

import pytest

from lifecycle.api.fields import parse_field_selector
from lifecycle.api.http.wire import Object, WatchFrame
from lifecycle.api.labels import parse_selector
from lifecycle.api.resources import resource
from lifecycle.api.status import StatusError
from lifecycle.apiserver.registry.strategies import strategy_for
from lifecycle.apiserver.storage.cacher.cache_watcher import CacheWatcher, Criteria
from lifecycle.apiserver.storage.cacher.cacher import Cacher
from lifecycle.cluster.rehearsal import on_virtual_time
from lifecycle.etcd.codec import encode_value
from lifecycle.etcd.memory import MemoryStore

FIELDS = strategy_for("v1", "Pod").field_labels.selectable_fields
HISTORY = [  # namespace, name, label, node; without a label: deleted
    ("shop", "a", "web", ""),
    ("shop", "b", "db", ""),
    ("shop", "a", "web", "n1"),
    ("bank", "a", "web", "n1"),
    ("shop", "a", "db", "n1"),
    ("shop", "b", "", ""),
    ("shop", "a", "web", "n2"),
    ("bank", "a", "", ""),
    ("shop", "a", "", ""),
]
ALL = [
    "ADDED shop/a web 1",
    "ADDED shop/b db 2",
    "MODIFIED shop/a web 3",
    "ADDED bank/a web 4",
    "MODIFIED shop/a db 5",
    "DELETED shop/b db 6",
    "MODIFIED shop/a web 7",
    "DELETED bank/a web 8",
    "DELETED shop/a web 9",
]
HEARD = {
    "all": (Criteria(), ALL),
    "a namespace": (Criteria(namespace="shop"), [line for line in ALL if "shop" in line]),
    "another namespace": (Criteria(namespace="bank"), [line for line in ALL if "bank" in line]),
    "an empty namespace": (Criteria(namespace="none"), []),
    "a name": (Criteria(name="b"), [line for line in ALL if "/b" in line]),
    "a name in a namespace": (Criteria(namespace="shop", name="a"), [line for line in ALL if "shop/a" in line]),
    "a label": (
        Criteria(labels=parse_selector("app=web")),
        [
            "ADDED shop/a web 1",
            "MODIFIED shop/a web 3",
            "ADDED bank/a web 4",
            "DELETED shop/a web 5",  # it has another label now, and is shown with the old one
            "ADDED shop/a web 7",
            "DELETED bank/a web 8",
            "DELETED shop/a web 9",
        ],
    ),
    "no label": (
        Criteria(labels=parse_selector("app!=web")),
        ["ADDED shop/b db 2", "ADDED shop/a db 5", "DELETED shop/b db 6", "DELETED shop/a db 7"],
    ),
    "a field": (
        Criteria(fields=parse_field_selector("spec.nodeName=")),
        ["ADDED shop/a web 1", "ADDED shop/b db 2", "DELETED shop/a web 3", "DELETED shop/b db 6"],
    ),
    "a node": (
        Criteria(node_name="n1"),
        [
            "ADDED shop/a web 3",
            "ADDED bank/a web 4",
            "MODIFIED shop/a db 5",
            "DELETED shop/a db 7",
            "DELETED bank/a web 8",
        ],
    ),
    "a node and a label": (
        Criteria(node_name="n1", labels=parse_selector("app=web")),
        ["ADDED shop/a web 3", "ADDED bank/a web 4", "DELETED shop/a web 5", "DELETED bank/a web 8"],
    ),
}


def _line(frame: WatchFrame, begun: int) -> str:
    meta = frame.object["metadata"]
    where = f"{meta['namespace']}/{meta['name']}"
    return f"{frame.type} {where} {meta['labels']['app']} {int(meta['resourceVersion']) - begun}"


def _revision(line: str) -> int:
    return int(line.split()[-1])


class _Played:
    """The history, and a cacher that follows it."""

    def __init__(self, cacher: Cacher, store: MemoryStore) -> None:
        self.cacher, self.store, self.begun = cacher, store, cacher.revision

    async def step(self, namespace: str, name: str, app: str, node: str) -> None:
        """One change."""
        key = f"/registry/pods/{namespace}/{name}"
        meta = {"name": name, "namespace": namespace, "uid": name, "labels": {"app": app}}
        spec = {"nodeName": node} if node else {}
        pod: Object = {"kind": "Pod", "apiVersion": "v1", "metadata": meta, "spec": spec}
        if app:
            await self.store.put(key, encode_value(pod))
        else:
            await self.store.delete(key)
        self.cacher.catch_up()

    def watch(self, criteria: Criteria, after: int | None, *, initial: bool = False) -> CacheWatcher:
        """Who wants to hear what came after so many changes."""
        revision = None if after is None else self.begun + after
        return self.cacher.watch(criteria, revision, initial=initial, bookmarks=False)

    def heard(self, watcher: CacheWatcher) -> list[str]:
        """What somebody has not read yet."""
        return [_line(frame, self.begun) for frame in watcher.take()]


async def _begun() -> _Played:
    store = MemoryStore()
    await store.put("/registry/other", b"")
    cacher = Cacher(store, resource("pods"), FIELDS)
    await cacher.start()
    return _Played(cacher, store)


@pytest.mark.parametrize(("criteria", "heard"), HEARD.values(), ids=HEARD)
def test_who_comes_late_is_told_what_the_others_have_heard(criteria: Criteria, heard: list[str]) -> None:
    async def main() -> None:
        played = await _begun()
        live = [(0, played.watch(criteria, None))]
        ahead = [(after, played.watch(criteria, after)) for after in (4, 5, 8, 9)]  # these changes are still to come
        for number, change in enumerate(HISTORY, 1):
            await played.step(*change)
            live.append((number, played.watch(criteria, None)))
        late = [(after, played.watch(criteria, after)) for after in range(len(HISTORY) + 1)]
        for after, watcher in live + ahead + late:
            assert played.heard(watcher) == [line for line in heard if _revision(line) > after], after
        await played.cacher.stop()

    on_virtual_time(main())


def test_each_is_told_its_own_of_a_change_that_all_are_told_of() -> None:
    """What is a change to one begins to exist for another."""

    async def main() -> None:
        for rows in (list(HEARD.values()), list(HEARD.values())[::-1]):
            played = await _begun()
            watchers = [played.watch(criteria, None) for criteria, _ in rows]
            for change in HISTORY:
                await played.step(*change)
            assert [played.heard(watcher) for watcher in watchers] == [heard for _, heard in rows]
            await played.cacher.stop()

    on_virtual_time(main())


@pytest.mark.parametrize(
    "after", [None, 0, 3, 5], ids=["whatever it is", "from the first", "from the third", "as it is"]
)
@pytest.mark.parametrize(("criteria", "heard"), HEARD.values(), ids=HEARD)
def test_who_wants_to_see_all_first_sees_what_there_is_and_then_the_rest(
    criteria: Criteria, heard: list[str], after: int | None
) -> None:
    """Whatever has come before: that is in what there is, and is not told once more. Upstream: `sendInitialEvents`."""

    async def main() -> None:
        played = await _begun()
        for number, change in enumerate(HISTORY, 1):
            await played.step(*change)
            if number == 5:
                watcher = played.watch(criteria, after, initial=True)
        there: dict[str, str] = {}
        for kind, name, app, revision in (line.split() for line in heard if _revision(line) <= 5):
            there.pop(name, None)
            if kind != "DELETED":
                there[name] = f"ADDED {name} {app} {revision}"
        rest = [line for line in heard if _revision(line) > 5]
        assert played.heard(watcher) == [there[name] for name in sorted(there)] + rest
        await played.cacher.stop()

    on_virtual_time(main())


def test_further_back_than_it_remembers_nobody_can_go() -> None:
    async def main() -> str:
        played = await _begun()
        await played.step(*HISTORY[0])
        assert played.heard(played.watch(Criteria(), 0)) == ALL[:1]
        with pytest.raises(StatusError) as refused:
            played.watch(Criteria(), -1)
        assert (refused.value.code, refused.value.status["reason"]) == (410, "Expired")
        await played.cacher.stop()
        return refused.value.message

    assert on_virtual_time(main()) == "too old resource version: 1 (2)"


def test_what_cannot_be_shown_to_anybody_is_seen_nonetheless() -> None:
    """Or whoever wants the newest would wait for it for ever: how far the cache is, is how far the store is. Upstream:
    `watchCache.processEvent`, `UpdateResourceVersion`.
    """

    async def main() -> list[int]:
        played = await _begun()
        key, behind = "/registry/pods/shop/unreadable", list[int]()
        for change in (
            played.store.put(key, b"no object"),
            played.store.put(key, b"nor this"),
            played.store.delete(key),
        ):
            await change
            played.cacher.catch_up()
            behind.append(played.store.revision - played.cacher.revision)
        await played.step(*HISTORY[0])
        behind.append(played.store.revision - played.cacher.revision)
        await played.cacher.stop()
        return behind

    assert on_virtual_time(main()) == [0, 0, 0, 0]
