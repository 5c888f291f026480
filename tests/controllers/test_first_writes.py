"""What a controller writes first, in situations of every kind: what the real kube-controller-manager wrote, kept.

`python -m tests.controllers.record_situations` asks it again.
"""

from __future__ import annotations

import asyncio
import gzip
import json
from typing import Any

import pytest
from tests.controllers.alone import alone
from tests.controllers.first_writes import KEPT, VERBS, Kept, compared, shown
from tests.controllers.situations import SITUATIONS

from lifecycle.api.http.wire import Object
from lifecycle.api.loop.clock import run_virtual
from lifecycle.api.resources import find_resource
from lifecycle.controllers.manager import CONTROLLERS

ALL: dict[str, Kept] = {each["name"]: each for each in json.loads(gzip.decompress(KEPT.read_bytes()))}

QUIET = {
    "cronjob-somebody-has-the-name",
    "cronjob-too-late",
    "endpointslice-external",
    "job-somebody-else-s",
    "endpointslice-mirroring-of-a-selector",  # these slices are another controller's
    "persistentvolume-protection-new",  # admission has put the finalizer on
    "persistentvolume-binder-nobody-could-delete-it",  # it has been said
    "persistentvolumeclaim-protection-new",
    "persistentvolumeclaim-protection-of-one-that-has-ended",  # whose kubelet may not be done with it
    "persistentvolumeclaim-protection-of-one-that-is-going",
    "persistentvolumeclaim-protection-used",
    "ttl-after-finished-running",
}
"""Situations in which there is nothing to do."""


def theirs(kept: Kept) -> list[tuple[str, Object]]:
    found = []
    for each in kept["writes"]:
        about = each["about"]
        what = f"{about['resource']}.{about.get('apiGroup', '')}".rstrip(".")
        what += f"/{about['subresource']}" if about.get("subresource") else ""
        found.append(shown(each["verb"], what, about.get("name", ""), each["body"]))
    return found


def of_path(path: str) -> tuple[str, str]:
    """Resource with its subresource, and name."""
    parts = path.strip("/").split("/")
    group, version, rest = ("", parts[1], parts[2:]) if parts[0] == "api" else (parts[1], parts[2], parts[3:])
    if rest[0] == "namespaces" and len(rest) > 2 and find_resource(group, version, rest[2]):
        rest = rest[2:]
    name, sub = [*rest[1:], "", ""][:2]
    return f"{rest[0]}.{group}".rstrip(".") + (f"/{sub}" if sub else ""), name


def ours(kept: Kept) -> list[tuple[str, Object]]:
    found: list[tuple[str, Object]] = []

    async def main() -> None:
        make: Any = CONTROLLERS[kept["controller"]][1]
        objects = [(name, {**obj, "metadata": dict(obj["metadata"])}) for name, obj in kept["objects"]]
        async with alone(make, *objects, graceful=True) as stage:
            await asyncio.sleep(25)
            for method, path, body in stage.api.done:
                found.append(shown(VERBS[method], *of_path(path), body or {}))

    run_virtual(main())
    return found


@pytest.mark.parametrize("name", ALL)
def test_the_same_is_written_first(name: str) -> None:
    assert compared(ALL[name], ours(ALL[name])) == compared(ALL[name], theirs(ALL[name]))


def test_where_nothing_is_written_that_is_what_the_real_one_does() -> None:
    """A recording that failed would look the same."""
    assert {name for name, kept in ALL.items() if not compared(kept, theirs(kept))} == QUIET


def test_every_situation_is_kept() -> None:
    names = {f"{c.removesuffix('-controller')}-{name}" for c, situations in SITUATIONS.items() for name in situations}
    assert set(ALL) == names
