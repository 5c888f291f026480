"""Whose a field is after somebody else has applied it: with force theirs alone, and else nobody's but the first one's."""

from __future__ import annotations

import json
from typing import Any

import pytest

from lifecycle.agreements.apiserver.resource_handling import on_a_server
from lifecycle.api.http.wire import Request
from lifecycle.apiserver.server.generic_api_server import GenericAPIServer
from lifecycle.client.rest import Client

PATH = "/api/v1/namespaces/default/configmaps/m"
Applied = tuple[str, dict[str, str], bool]
"""Who applies, which data, and whether by force."""


def after(*applied: Applied) -> tuple[list[int], dict[str, str], dict[str, set[str]]]:
    """The codes; the data in the end, and which of it is whose."""

    async def scene(server: GenericAPIServer, client: Client) -> Any:
        codes = []
        for manager, data, force in applied:
            body = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "m"}, "data": data}
            query = {"fieldManager": [manager], **({"force": ["true"]} if force else {})}
            headers = {"content-type": "application/apply-patch+yaml"}
            request = Request("PATCH", PATH, query, headers, json.dumps(body).encode())
            codes.append((await client.transport.round_trip(request)).status)
        answer = await client.transport.round_trip(Request("GET", PATH))
        return codes, answer.obj or json.loads(answer.body or b"")

    codes, made = on_a_server(scene)
    owned = {
        entry["manager"]: {key.removeprefix("f:") for key in (entry["fieldsV1"].get("f:data") or {}) if key != "."}
        for entry in made["metadata"]["managedFields"]
    }
    return codes, made.get("data") or {}, owned


CASES: dict[str, tuple[list[Applied], list[int], dict[str, str], dict[str, set[str]]]] = {
    "the same twice": (
        [("a", {"x": "1"}, False), ("b", {"x": "1"}, False)], [201, 200], {"x": "1"}, {"a": {"x"}, "b": {"x"}},
    ),
    "another value": ([("a", {"x": "1"}, False), ("b", {"x": "2"}, False)], [201, 409], {"x": "1"}, {"a": {"x"}}),
    "by force": ([("a", {"x": "1"}, False), ("b", {"x": "2"}, True)], [201, 200], {"x": "2"}, {"b": {"x"}}),
    "by force, one of two": (
        [("a", {"x": "1", "y": "1"}, False), ("b", {"x": "2"}, True)],
        [201, 200], {"x": "2", "y": "1"}, {"a": {"y"}, "b": {"x"}},
    ),
    "by force, of two who had it": (
        [("a", {"x": "1", "y": "1"}, False), ("b", {"x": "1", "z": "1"}, False), ("c", {"x": "2"}, True)],
        [201, 200, 200], {"x": "2", "y": "1", "z": "1"}, {"a": {"y"}, "b": {"z"}, "c": {"x"}},
    ),
    "no longer said": (
        [("a", {"x": "1", "y": "1"}, False), ("a", {"x": "1"}, False)], [201, 200], {"x": "1"}, {"a": {"x"}},
    ),
    "no longer said, and somebody else's as well": (
        [("a", {"x": "1", "y": "1"}, False), ("b", {"y": "1"}, False), ("a", {"x": "1"}, False)],
        [201, 200, 200], {"x": "1", "y": "1"}, {"a": {"x"}, "b": {"y"}},
    ),
    "no longer said by its last owner": (
        [("a", {"x": "1", "y": "1"}, False), ("b", {"y": "2"}, True), ("b", {"z": "1"}, False)],
        [201, 200, 200], {"x": "1", "z": "1"}, {"a": {"x"}, "b": {"z"}},
    ),
    "taken back without force": (
        [("a", {"x": "1"}, False), ("b", {"x": "2"}, True), ("a", {"x": "1"}, False)],
        [201, 200, 409], {"x": "2"}, {"b": {"x"}},
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_a_field_is_of_all_who_say_the_same_and_by_force_of_the_last(case: str) -> None:
    """Upstream: `structured-merge-diff/merge/update.go` (`Apply`, `update`, `prune`)."""
    applied, codes, data, owned = CASES[case]
    assert after(*applied) == (codes, data, owned)
