"""Answers to labs/informers.ipynb, and words for common mistakes. Look here last."""

from lifecycle.exercises.lab import Mistake

your_revision = "larger"
your_requests = {"lists": 2, "watches": 5}
your_calls = {
    "remembered": ["add", "delete", "add"],
    "forgotten": ["add", "update"],
}
your_order = ["a", "b", "c", "a"]


class your_informer:
    def __init__(self, client):
        self.client, self.cache, self.revision = client, {}, None

    async def run(self):
        while True:
            try:
                if self.revision is None:
                    answer = await self.client.list(resource("pods"), "journey")
                    self.replace(
                        {obj["metadata"]["name"]: obj for obj in answer["items"]}
                    )
                    self.revision = answer["metadata"]["resourceVersion"]
                async for frame in await self.client.watch(
                    resource("pods"), "journey", resource_version=self.revision
                ):
                    if frame.type == "ERROR":
                        self.revision = None
                        break
                    self.hear(frame.type, frame.object)
                    self.revision = frame.object["metadata"]["resourceVersion"]
            except OSError:
                pass
            await asyncio.sleep(1)

    def hear(self, what, obj):
        if what == "DELETED":
            self.cache.pop(obj["metadata"]["name"], None)
        else:
            self.cache[obj["metadata"]["name"]] = obj

    def replace(self, listed):
        for name in self.cache.keys() - listed.keys():
            self.hear("DELETED", self.cache[name])
        for obj in listed.values():
            self.hear("ADDED", obj)


class NeverForgetsAPod:
    """Lists again, and keeps what is gone."""

    def __init__(self, client):
        self.client, self.cache, self.revision = client, {}, None

    async def run(self):
        while True:
            try:
                if self.revision is None:
                    answer = await self.client.list(resource("pods"), "journey")
                    for obj in answer["items"]:
                        self.cache[obj["metadata"]["name"]] = obj
                    self.revision = answer["metadata"]["resourceVersion"]
                async for frame in await self.client.watch(
                    resource("pods"), "journey", resource_version=self.revision
                ):
                    if frame.type == "ERROR":
                        self.revision = None
                        break
                    name = frame.object["metadata"]["name"]
                    if frame.type == "DELETED":
                        self.cache.pop(name, None)
                    else:
                        self.cache[name] = frame.object
                    self.revision = frame.object["metadata"]["resourceVersion"]
            except OSError:
                pass
            await asyncio.sleep(1)


class NeverComesBack:
    """A cut connection ends it."""

    def __init__(self, client):
        self.client, self.cache = client, {}

    async def run(self):
        answer = await self.client.list(resource("pods"), "journey")
        self.cache = {obj["metadata"]["name"]: obj for obj in answer["items"]}


MISTAKES = [
    Mistake(
        "revision",
        "the same",
        "Something other than a pod was written after the newest pod.",
    ),
    Mistake(
        "requests",
        {"lists": 4},
        "A cut alone costs no list: the watch goes on from where it was.",
    ),
    Mistake(
        "requests",
        {"watches": 4},
        "The watch that is refused was asked for, too. And what follows the new list?",
    ),
    Mistake(
        "calls",
        {"forgotten": ["add", "delete", "add"]},
        "Two lists are compared by name. The name was there, and is there.",
    ),
    Mistake(
        "calls",
        {"remembered": ["add", "update"]},
        "With the history, the deletion is told: nothing is left out.",
    ),
    Mistake(
        "order",
        ["a", "b", "a", "c", "a"],
        "The second `a` came while the first was still waiting: they are one.",
    ),
    Mistake(
        "order",
        ["a", "b", "c"],
        "A key that is added while it is worked on has to be looked at once more.",
    ),
    Mistake(
        "informer",
        NeverForgetsAPod,
        "It lists again, but keeps pods that are gone.",
        seen=lambda days: days["only cuts"] == 25 > days["cuts and oblivion"],
    ),
    Mistake(
        "informer",
        NeverComesBack,
        "Even a cut without oblivion is too much for it: watch again after each one.",
        seen=lambda days: days["only cuts"] < 25,
    ),
]
