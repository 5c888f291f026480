"""Answers to labs/keys-values-revisions-watch.ipynb, and words for mistakes."""

import asyncio

from lifecycle.exercises.lab import Mistake

your_numbers = {"revision": 6, "created": 5, "changed": 6, "version": 2}


async def your_add_one(store):
    while True:
        kv = await store.get("/n")
        await asyncio.sleep(0.01)
        value = str(int(kv.value) + 1).encode()
        if await store.put("/n", value, expected=kv.mod_revision) is not None:
            return


async def gives_up(store):
    kv = await store.get("/n")
    await asyncio.sleep(0.01)
    await store.put("/n", str(int(kv.value) + 1).encode(), expected=kv.mod_revision)


your_watches = {3: False, 4: False, 6: True, 7: True}


def your_key(resource, namespace, name):
    special = {
        ("", "nodes"): "minions",
        ("", "services"): "services/specs",
        ("", "endpoints"): "services/endpoints",
    }
    place = special.get((resource.group, resource.plural), resource.plural)
    if resource.group in ("apiregistration.k8s.io", "apiextensions.k8s.io"):
        place = f"{resource.group}/{place}"
    return "/".join(filter(None, ("/registry", place, namespace, name)))


def without_groups(resource, namespace, name):
    special = {
        "nodes": "minions",
        "services": "services/specs",
        "endpoints": "services/endpoints",
    }
    place = special.get(resource.plural, resource.plural)
    return "/".join(filter(None, ("/registry", place, namespace, name)))


def every_group(resource, namespace, name):
    parts = ("/registry", resource.group, resource.plural, namespace, name)
    return "/".join(filter(None, parts))


your_leases = {"one a second": 17, "within a second": 1}

MISTAKES = [
    Mistake(
        "numbers",
        {"version": 4},
        "The version of a key that was deleted begins anew.",
    ),
    Mistake(
        "numbers",
        {"created": 2},
        "That was its first life. Which revision began the second?",
    ),
    Mistake(
        "numbers",
        {"revision": 5},
        "The deletion is a revision, too, and the store began at 1.",
    ),
    Mistake(
        "add_one",
        gives_up,
        "Nothing is overwritten any more, but most give up: they have to try again.",
        seen=lambda came: came["total"] < 10,
    ),
    Mistake(
        "watches",
        {4: True},
        "What was before the line is forgotten, however little before it.",
    ),
    Mistake(
        "watches",
        {6: False},
        "Everything that is newer than the compaction is still there.",
    ),
    Mistake(
        "key",
        without_groups,
        "The old names are right. What is missing is the group of those that came from"
        " another server.",
        seen=lambda missed: missed["all"] == missed["special"] > 0,
    ),
    Mistake(
        "key",
        every_group,
        "Most groups are not in a key: Deployments lie in `/registry/deployments/`.",
        seen=lambda missed: missed["all"] > missed["special"],
    ),
    Mistake(
        "leases",
        {"one a second": 1000},
        "Many keys may hang on one lease: Events of the same minute share it.",
    ),
    Mistake(
        "leases",
        {"one a second": 16},
        "A part of a minute needs a lease, too.",
    ),
]
