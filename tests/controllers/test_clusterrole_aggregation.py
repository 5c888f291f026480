"""Roles made of others: empty when the server starts, filled by the controller, and again when a part comes, changes or goes."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import TypeVar
from unittest.mock import patch

from lifecycle.api import fast_json
from lifecycle.api.http.wire import Object
from lifecycle.api.resources import resource
from lifecycle.client.rest import Client
from lifecycle.cluster.rehearsal import RehearsedCluster, rehearse
from lifecycle.controllers.clusterrole_aggregation import FIELD_MANAGER
from lifecycle.inspector import open_recording

T = TypeVar("T")
ROLES = resource("clusterroles.rbac.authorization.k8s.io")
AGGREGATED = ("admin", "edit", "view")


def played(scene: Callable[[Client], Awaitable[T]], without: Sequence[str] = ()) -> T:
    """What a scene tells that somebody plays with a cluster that has no nodes."""

    async def whole(cluster: RehearsedCluster) -> T:
        return await scene(cluster.client("me"))

    return rehearse(whole, without=("kubelet", "scheduler", *without))


def test_the_three_roles_are_empty_until_the_controller_fills_them() -> None:
    async def rules(client: Client) -> list[object]:
        return [(await client.get(ROLES, name))["rules"] for name in AGGREGATED]

    assert played(rules, without=["controllers"]) == [None, None, None]


def test_they_are_filled_with_the_recorded_rules_in_the_recorded_order_under_the_recorded_name() -> None:
    (recorded,) = (
        {item["metadata"]["name"]: item for item in exchange.response["items"]}
        for exchange in open_recording().exchanges("authz")
        if exchange.path == "/apis/rbac.authorization.k8s.io/v1/clusterroles"
    )

    def essence(role: Object) -> Object:
        managers = [(entry["manager"], entry["operation"]) for entry in role["metadata"]["managedFields"]]
        return {"rules": role["rules"], "managers": managers, "labels": role["metadata"]["labels"]}

    async def filled(client: Client) -> dict[str, Object]:
        await asyncio.sleep(5)
        return {name: essence(await client.get(ROLES, name)) for name in AGGREGATED}

    found = played(filled)
    assert found == {name: essence(recorded[name]) for name in AGGREGATED}
    assert all((FIELD_MANAGER, "Apply") in role["managers"] for role in found.values())


def test_a_part_that_comes_changes_or_goes_is_followed_through_all_that_hold_it() -> None:
    """`view` is a part of `edit`, and `edit` of `admin`."""
    label = {"rbac.authorization.k8s.io/aggregate-to-view": "true"}
    rule = {"verbs": ["get"], "apiGroups": ["stable.example.com"], "resources": ["crontabs"]}
    other = {**rule, "verbs": ["list"]}

    async def follow(client: Client) -> list[list[bool]]:
        async def held(wanted: Object) -> list[bool]:
            await asyncio.sleep(5)
            return [wanted in (await client.get(ROLES, name))["rules"] for name in AGGREGATED]

        part = await client.create(ROLES, {"metadata": {"name": "crontabs", "labels": label}, "rules": [rule]})
        seen = [await held(rule)]
        await client.update(ROLES, {**part, "rules": [other]})
        seen += [await held(rule), await held(other)]
        await client.delete(ROLES, "crontabs")
        return [*seen, await held(other)]

    assert played(follow) == [[True] * 3, [False] * 3, [True] * 3, [False] * 3]


def test_many_rules_are_told_apart_by_their_text_not_compared_with_one_another() -> None:
    """Each is written down once, whoever else has it, and the first to have one gives its place."""
    label = {"rbac.authorization.k8s.io/aggregate-to-view": "true"}
    rules = [{"verbs": ["get"], "apiGroups": ["x"], "resources": [f"r{number}"]} for number in range(500)]

    async def aggregated(client: Client) -> tuple[list[Object], int]:
        await asyncio.sleep(5)
        with patch.object(fast_json, "dumps", wraps=fast_json.dumps) as written:
            for name, some in (("one", rules[:400]), ("two", rules[300:])):
                await client.create(ROLES, {"metadata": {"name": name, "labels": label}, "rules": some})
            await asyncio.sleep(5)
        told = sum(call.args[0] in rules for call in written.call_args_list)
        return [rule for rule in (await client.get(ROLES, "view"))["rules"] if rule in rules], told

    found, told = played(aggregated)
    assert found == rules
    assert told < 20 * len(rules)
