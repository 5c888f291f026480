"""The table of attacks: a name, and what somebody does. An attack returns the statuses that it got."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from benchmarks.attacks.attacker import Attacker

Attack = Callable[[Attacker], Awaitable[Any]]
ATTACKS: dict[str, Attack] = {}


def attack(name: str) -> Callable[[Attack], Attack]:
    """Enter an attack in the table."""

    def enter(do: Attack) -> Attack:
        ATTACKS[name] = do
        return do

    return enter


def request(name: str, times: int, method: str, path: str, make: Callable[[], Any] = bytes, **headers: str) -> None:
    """Enter one request, sent `times` times at once. `make` makes its body when the attack begins."""

    async def do(who: Attacker) -> Any:
        return await who.many(times, method, path, make(), **headers)

    ATTACKS[name] = do
