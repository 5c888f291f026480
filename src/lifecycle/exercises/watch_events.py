"""The watch cache: what does a client hear, beginning at some moment?"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from random import Random
from typing import Any

from lifecycle.api.http.wire import Object, WatchFrame
from lifecycle.api.labels import parse_selector
from lifecycle.api.resources import Resource, resource
from lifecycle.apiserver.storage.cacher.cache_watcher import CacheWatcher, Criteria
from lifecycle.apiserver.storage.cacher.cached_object import Cached, Change
from lifecycle.exercises.exercise import Attempt, Case, Exercise

CONTRACT = """\
watch(changes, oldest, start, selector) -> list of [type, name, revision], or "Gone"

changes:  everything that has happened, in order: {"revision": 7, "name": "web-1",
        "labels": {"app": "web"}}. labels are None if the object was deleted.
oldest:   the revision up to which the cache has forgotten the changes.
start:    the revision after which the client wants to hear of changes, or None: then it
        is first told of all that is there now, as ADDED, in the order of the names,
        each with the revision of its own last change; and of nothing more.
selector: {"app": "web"}: all of these labels have to be there. {} selects everything.
Returns what the client hears of `changes`. "Gone" if it comes too late: changes after
`start` have been forgotten. The types are ADDED, MODIFIED and DELETED as this client
sees it: what begins to match is ADDED, what does not match any more is DELETED, with
the revision at which that happened."""

STARTER = '''\
def watch(changes, oldest, start, selector):
    """What a client hears."""
    heard = []
    for change in changes:
        if start is None or change["revision"] > start:
            kind = "DELETED" if change["labels"] is None else "MODIFIED"
            heard.append([kind, change["name"], change["revision"]])
    return heard
'''

SEED = 36
PODS = resource("pods")
SELECTORS: tuple[dict[str, str], ...] = (
    {},
    {"app": "web"},
    {"app": "web", "tier": "front"},
)


def cases() -> Iterator[Case]:
    """Histories of a few objects, watched from several moments."""
    life = [
        {"revision": 3, "name": "a", "labels": {"app": "web"}},
        {"revision": 5, "name": "a", "labels": {"app": "db"}},
        {"revision": 6, "name": "a", "labels": {"app": "db", "x": "1"}},
        {"revision": 8, "name": "a", "labels": {"app": "web"}},
        {"revision": 9, "name": "a", "labels": None},
    ]
    for start in (None, 2, 3, 5, 6, 8, 9):
        for selector in SELECTORS[:2]:
            yield _case("one life", life, 2, start, selector)
    for start in (4, 5, 6):
        yield _case("a short memory", life, 5, start, {})
    chance = Random(SEED)
    for number in range(25):
        history = _history(chance)
        oldest = history[3]["revision"]
        for start in (None, oldest - 1, oldest, history[8]["revision"]):
            for selector in SELECTORS:
                where = f"history {number}, "
                yield _case("a crowd", history, oldest, start, selector, where)


def _history(chance: Random) -> list[Object]:
    """Twenty changes of four objects."""
    history: list[Object] = []
    there: set[str] = set()
    revision = 1
    for _ in range(20):
        revision += chance.choice((1, 1, 3))
        name = chance.choice(("web-1", "web-2", "db-1", "db-2"))
        labels: dict[str, str] | None = {"app": chance.choice(("web", "web", "db"))}
        if labels and chance.random() < 0.5:
            labels["tier"] = chance.choice(("front", "back"))
        if name in there and chance.random() < 0.3:
            labels = None
            there.discard(name)
        else:
            there.add(name)
        history.append({"revision": revision, "name": name, "labels": labels})
    return history


def _case(
    group: str,
    changes: list[Object],
    oldest: int,
    start: int | None,
    selector: dict[str, str],
    where: str = "",
) -> Case:
    words = ",".join(f"{key}={value}" for key, value in selector.items())
    label = f"{where}{words or 'everything'} from {'now' if start is None else start}"
    ask: Callable[[Attempt], Any] = lambda attempt: {  # noqa: E731
        "heard": attempt(changes, oldest, start, selector)
    }
    question = {
        "changes": changes,
        "oldest": oldest,
        "start": start,
        "selector": selector,
    }
    expected = {"heard": _ours(changes, oldest, start, selector)}
    return Case(group, label, expected, ask, [changes, selector], question)


class _Nobody:
    """What a watcher asks of its cacher, without one."""

    resource: Resource = PODS
    revision = 0
    events_sent = 0

    def __init__(self) -> None:
        self.fields_of: Callable[[Object], dict[str, str]] = lambda obj: {}

    def forget(self, watcher: CacheWatcher) -> None:
        """Nobody feeds it anyway."""


def _ours(
    changes: list[Object], oldest: int, start: int | None, selector: dict[str, str]
) -> list[list[Any]] | str:
    if start is not None and start < oldest:
        return "Gone"
    text = ",".join(f"{key}={value}" for key, value in selector.items())
    criteria = Criteria(labels=parse_selector(text) if text else None)
    nobody = _Nobody()
    watcher = CacheWatcher(nobody, criteria, bookmarks=False, after=start or 0)
    objects: dict[str, Cached] = {}
    for change in changes:
        previous, current = objects.pop(change["name"], None), None
        if change["labels"] is not None:
            current = objects[change["name"]] = _cached(change)
        if start is not None and (current or previous):
            watcher.feed(Change(change["revision"], current, previous), {})
    if start is None:
        for name in sorted(objects):
            if criteria.matches(objects[name].obj, nobody.fields_of):
                watcher.push(WatchFrame("ADDED", objects[name].obj))
    return [_heard(frame) for frame in watcher.take()]


def _cached(change: Object) -> Cached:
    metadata = {
        "name": change["name"],
        "labels": change["labels"],
        "resourceVersion": str(change["revision"]),
    }
    return Cached(change["name"], {"metadata": metadata}, change["revision"])


def _heard(frame: WatchFrame) -> list[Any]:
    metadata = frame.object["metadata"]
    return [frame.type, metadata["name"], int(metadata["resourceVersion"])]


def ours() -> Attempt:
    """The book's."""
    return _ours


EXERCISE = Exercise(
    "watch-events",
    "What a watch tells",
    CONTRACT,
    STARTER,
    "the book's own watch cache",
    cases,
    ours,
    ("the-watch-cache", "watch-cache"),
)
