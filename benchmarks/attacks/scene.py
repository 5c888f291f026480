"""What the attacks meet."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Sequence
from typing import Any

from benchmarks.attacks.attacker import Attacker
from benchmarks.attacks.bodies import MANY, MAPS, NAMESPACES, OPEN, WIDGETS, config_map, definition


async def prepare(who: Attacker) -> None:
    """What the attacks meet: a custom resource, a few objects, 40 MB of ConfigMaps."""
    schema = {
        "type": "object",
        "properties": {
            "any": OPEN,
            "word": {"type": "string", "pattern": "^(a+)+$"},
            "set": {"type": "array", "x-kubernetes-list-type": "set", "items": {"type": "string"}},
        },
    }
    definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
    assert await who.ask("POST", definitions, definition("widgets", schema)) == 201
    for _ in range(100):
        if await who.ask("GET", WIDGETS) == 200:
            break
        await asyncio.sleep(0.05)
    assert await who.ask("POST", MAPS, config_map("victim", data={"a": "b"})) == 201
    widget = {"apiVersion": "attack.example/v1", "kind": "Widget", "metadata": {"name": "w"}, "any": {"a": "b" * 1000}}
    assert await who.ask("POST", WIDGETS, widget) == 201
    space = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "big"}}
    assert await who.ask("POST", "/api/v1/namespaces", space) == 201
    for number in range(40):
        big = config_map(f"big-{number}", data={"k": "v" * 1_000_000})
        assert await who.ask("POST", "/api/v1/namespaces/big/configmaps", big) == 201


async def served(who: Attacker, path: str) -> None:
    for _ in range(60):
        if await who.ask("GET", path) == 200:
            return
        await asyncio.sleep(0.05)


async def many_maps(who: Attacker) -> None:
    space = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "many"}}
    if await who.ask("POST", NAMESPACES, space) != 201:
        return
    for start in range(0, 2_000, 50):
        bodies = [config_map(f"m{i}", metadata={"labels": {"a": f"v{i}"}}) for i in range(start, start + 50)]
        await asyncio.gather(*(who.ask("POST", MANY, body) for body in bodies))


async def in_portions(asked: Sequence[Coroutine[Any, Any, int]], portion: int = 50) -> set[int]:
    """Whatever is asked, so many at a time; the statuses."""
    statuses: set[int] = set()
    for first in range(0, len(asked), portion):
        statuses |= set(await asyncio.gather(*asked[first : first + portion]))
    return statuses
