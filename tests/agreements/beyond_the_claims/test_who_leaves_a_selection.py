"""What a watch that selects is told when an object comes, changes, and no longer fits."""

from __future__ import annotations

from lifecycle.api.http.wire import Object
from lifecycle.api.labels import parse_selector
from lifecycle.api.resources import resource
from lifecycle.apiserver.registry.strategies import strategy_for
from lifecycle.apiserver.storage.cacher.cache_watcher import Criteria
from lifecycle.apiserver.storage.cacher.cacher import Cacher
from lifecycle.cluster.rehearsal import on_virtual_time
from lifecycle.etcd.codec import encode_value
from lifecycle.etcd.memory import MemoryStore

KEY = "/registry/pods/shop/p"


def _pod(app: str, note: str) -> Object:
    meta = {"name": "p", "namespace": "shop", "uid": "u", "labels": {"app": app}, "annotations": {"note": note}}
    return {"kind": "Pod", "apiVersion": "v1", "metadata": meta, "spec": {}}


def told() -> list[tuple[str, str, str, int]]:
    """Type, label, note and the revision (after the first one) of what a watch for `app=web` hears of one pod."""

    async def main() -> list[tuple[str, str, str, int]]:
        store = MemoryStore()
        cacher = Cacher(store, resource("pods"), strategy_for("v1", "Pod").field_labels.selectable_fields)
        await cacher.start()
        watcher = cacher.watch(Criteria(labels=parse_selector("app=web")), None, initial=False, bookmarks=False)
        for app, note in (("db", "1"), ("web", "2"), ("web", "3"), ("db", "4"), ("db", "5"), ("web", "6"), ("", "")):
            if app:
                await store.put(KEY, encode_value(_pod(app, note)))
            else:
                await store.delete(KEY)
            cacher.catch_up()
        heard = []
        for frame in watcher.take():
            meta = frame.object["metadata"]
            heard.append(
                (frame.type, meta["labels"]["app"], meta["annotations"]["note"], int(meta["resourceVersion"]) - 1)
            )
        await cacher.stop()
        return heard

    return on_virtual_time(main())


def test_who_leaves_is_shown_as_it_was_and_when_it_left() -> None:
    assert told() == [
        ("ADDED", "web", "2", 2),
        ("MODIFIED", "web", "3", 3),
        ("DELETED", "web", "3", 4),  # the new state does not fit, and is not shown
        ("ADDED", "web", "6", 6),
        ("DELETED", "web", "6", 7),
    ]
