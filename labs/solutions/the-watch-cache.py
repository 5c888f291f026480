"""Answers to labs/the-watch-cache.ipynb, and words for common mistakes."""

import asyncio

from lifecycle.exercises.lab import Mistake

your_lists = {
    "no version": 12,
    "0": 12,
    "three revisions ago": 12,
    "three revisions ago, Exact": 9,
    "ten revisions ago, Exact": 410,
    "two revisions ahead": 504,
}
your_events = {
    "created with app=db": None,
    "relabelled to app=web": "ADDED",
    "its data changes": "MODIFIED",
    "relabelled to app=db again": "DELETED",
    "its data changes once more": None,
    "relabelled to app=web again": "ADDED",
    "deleted": "DELETED",
}
your_counts = {
    "nothing asked": 3,
    "allowWatchBookmarks": 6,
    "allowWatchBookmarks, from now on": 2,
    "allowWatchBookmarks, sendInitialEvents": 6,
}
your_answered = {
    "get": False,
    "list": False,
    "list, resourceVersion=0": True,
    "list, not older than what you saw last": True,
    "create": False,
    "a new watch, from what you saw last": True,
}


class your_asker:
    def __init__(self, ask):
        self.ask = ask
        self.lock = asyncio.Lock()
        self.next = None

    async def how_far(self):
        if self.next is None:
            self.next = asyncio.create_task(self.question())
        return await self.next

    async def question(self):
        async with self.lock:
            self.next = None
            return await self.ask()


class shares_what_is_under_way:
    def __init__(self, ask):
        self.ask = ask
        self.question = None

    async def how_far(self):
        if self.question is None or self.question.done():
            self.question = asyncio.create_task(self.ask())
        return await self.question


class shares_nothing:
    def __init__(self, ask):
        self.ask = ask

    async def how_far(self):
        return await self.ask()


MISTAKES = [
    Mistake(
        "lists",
        {"three revisions ago": 9},
        "Not older than that: the newest is not.",
    ),
    Mistake(
        "lists",
        {"two revisions ahead": 12},
        "Nobody can promise to be as new as what has not happened.",
    ),
    Mistake(
        "lists",
        {"ten revisions ago, Exact": 2},
        "That moment has been compacted.",
    ),
    Mistake(
        "events",
        {"relabelled to app=web": "MODIFIED"},
        "For this watcher it has not been there before.",
    ),
    Mistake(
        "events",
        {"relabelled to app=db again": None},
        "It has left the view, and the watcher has to be told.",
    ),
    Mistake(
        "events",
        {"its data changes once more": "MODIFIED"},
        "It is out of view.",
    ),
    Mistake(
        "counts",
        {"allowWatchBookmarks, from now on": 5},
        "From now on: what is there already is not sent.",
    ),
    Mistake(
        "counts",
        {"allowWatchBookmarks": 5},
        "Two minutes, and one bookmark more, which says that this was all.",
    ),
    Mistake(
        "counts",
        {"nothing asked": 0},
        "A watch without a version begins with what is there.",
    ),
    Mistake(
        "answered",
        {"get": True},
        "A get without a version wants the newest, and nobody knows what that is.",
    ),
    Mistake(
        "answered",
        {"a new watch, from what you saw last": False},
        "What has happened since then is in the cache's own list of changes.",
    ),
    Mistake(
        "answered",
        {"list, not older than what you saw last": False},
        "The cache has come that far, and knows it.",
    ),
    Mistake(
        "asker",
        shares_what_is_under_way,
        "Somebody was given an answer from before they asked.",
        seen=lambda came: not came["all are fresh"],
    ),
    Mistake(
        "asker",
        shares_nothing,
        "Everybody is right, and etcd is asked by each of them.",
        seen=lambda came: came["questions"] > 4,
    ),
]
