"""Tokens for pods: what is asked for, how long one serves, and when the next is asked for."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

import pytest

from lifecycle.api.http.wire import Object
from lifecycle.api.loop.clock import Clock, format_time, run_virtual
from lifecycle.api.resources import Resource
from lifecycle.api.status import StatusError, forbidden
from lifecycle.kubelet.token.token_manager import TokenManager

HOUR = 3600


class Issuer:
    """Stands for the API server: numbers its tokens, and may refuse."""

    def __init__(self, clock: Clock) -> None:
        self.clock = clock
        self.asked: list[tuple[str, str, Object]] = []
        self.refuses = False

    async def create(self, row: Resource, request: Object, namespace: str, *, name: str, subresource: str) -> Object:
        assert (row.plural, subresource) == ("serviceaccounts", "token")
        if self.refuses:
            raise refusal()
        self.asked.append((namespace, name, request["spec"]))
        seconds = request["spec"]["expirationSeconds"]
        expires = format_time(self.clock.now() + seconds)
        return {**request, "status": {"token": f"token-{len(self.asked)}", "expirationTimestamp": expires}}


def refusal() -> StatusError:
    return forbidden("serviceaccounts", "default", "no")


def pod(uid: str = "u-1", account: str = "", name: str = "p") -> Object:
    spec = {"serviceAccountName": account} if account else {}
    return {"metadata": {"name": name, "namespace": "shop", "uid": uid}, "spec": spec}


Scene = Callable[[TokenManager, Issuer], Coroutine[Any, Any, None]]


def play(scene: Scene) -> None:
    async def main() -> None:
        clock = Clock()
        issuer = Issuer(clock)
        await scene(TokenManager(issuer, clock), issuer)  # type: ignore[arg-type]

    run_virtual(main())


def test_it_is_bound_to_its_pod_and_for_whom_it_is_wished() -> None:
    async def scene(tokens: TokenManager, issuer: Issuer) -> None:
        await tokens.get_service_account_token(pod(account="robot"), "vault", 600)
        await tokens.get_service_account_token(pod(), "", HOUR)
        reference = {"apiVersion": "v1", "kind": "Pod", "name": "p", "uid": "u-1"}
        assert issuer.asked == [
            ("shop", "robot", {"audiences": ["vault"], "expirationSeconds": 600, "boundObjectRef": reference}),
            ("shop", "default", {"audiences": [], "expirationSeconds": HOUR, "boundObjectRef": reference}),
        ]

    play(scene)


def test_one_serves_only_who_asks_for_the_same() -> None:
    async def scene(tokens: TokenManager, issuer: Issuer) -> None:
        first = await tokens.get_service_account_token(pod(), "a", HOUR)
        assert await tokens.get_service_account_token(pod(), "a", HOUR) == first
        others = [
            await tokens.get_service_account_token(pod("u-2"), "a", HOUR),  # of the same name
            await tokens.get_service_account_token(pod(account="robot"), "a", HOUR),
            await tokens.get_service_account_token(pod(), "b", HOUR),
            await tokens.get_service_account_token(pod(), "a", 2 * HOUR),
        ]
        assert len({first, *others}) == 5

    play(scene)


@pytest.mark.parametrize(
    ("lifetime", "serves"),
    [(HOUR, 0.8 * HOUR), (10 * HOUR, 8 * HOUR), (40 * HOUR, 24 * HOUR), (365 * 24 * HOUR, 24 * HOUR)],
)
def test_another_is_asked_for_after_four_fifths_of_its_life_or_a_day(lifetime: int, serves: float) -> None:
    async def scene(tokens: TokenManager, issuer: Issuer) -> None:
        begun = issuer.clock.now()
        assert tokens.refresh_at("u-1") is None
        await tokens.get_service_account_token(pod(), "", lifetime)
        assert tokens.refresh_at("u-1") == pytest.approx(begun + serves, abs=1)
        await asyncio.sleep(serves - 2)
        assert await tokens.get_service_account_token(pod(), "", lifetime) == "token-1"
        await asyncio.sleep(4)
        assert await tokens.get_service_account_token(pod(), "", lifetime) == "token-2"

    play(scene)


def test_where_no_other_is_to_be_had_the_old_one_serves_as_long_as_it_is_valid() -> None:
    async def scene(tokens: TokenManager, issuer: Issuer) -> None:
        await tokens.get_service_account_token(pod(), "", HOUR)
        issuer.refuses = True
        await asyncio.sleep(HOUR - 5)
        assert await tokens.get_service_account_token(pod(), "", HOUR) == "token-1"
        await asyncio.sleep(10)
        with pytest.raises(LookupError, match=r'serviceaccounts "default" is forbidden: no$'):
            await tokens.get_service_account_token(pod(), "", HOUR)
        with pytest.raises(LookupError, match=r'serviceaccounts "default" is forbidden: no$'):
            await tokens.get_service_account_token(pod("u-2"), "", HOUR)

    play(scene)


def test_the_first_that_ages_decides_and_what_is_gone_is_forgotten() -> None:
    async def scene(tokens: TokenManager, issuer: Issuer) -> None:
        begun = issuer.clock.now()
        for uid, lifetime in (("u-1", 2 * HOUR), ("u-1", HOUR), ("u-2", 600)):
            await tokens.get_service_account_token(pod(uid), "", lifetime)
        assert tokens.refresh_at("u-1") == pytest.approx(begun + 0.8 * HOUR, abs=1)
        tokens.delete_for_pod("u-1")
        assert tokens.refresh_at("u-1") is None
        assert tokens.refresh_at("u-2") is not None
        assert await tokens.get_service_account_token(pod(), "", HOUR) == "token-4"

    play(scene)


def test_when_a_pods_token_wants_to_be_replaced_is_known_without_looking_at_other_pods() -> None:
    class Uid(str):
        compared = 0
        __hash__ = str.__hash__

        def __eq__(self, other: object) -> bool:
            Uid.compared += 1
            return str.__eq__(self, other)

    async def scene(tokens: TokenManager, issuer: Issuer) -> None:
        for number in range(100):
            await tokens.get_service_account_token(pod(Uid(f"u-{number}")), "", HOUR)
        Uid.compared = 0
        assert tokens.refresh_at(Uid("u-7")) is not None
        tokens.delete_for_pod(Uid("u-7"))
        assert tokens.refresh_at(Uid("u-7")) is None
        assert Uid.compared <= 5

    play(scene)
