"""What may be wished of a write, and how a wish is refused that nobody knows; and how many writers are remembered."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from lifecycle.agreements.apiserver.resource_handling import on_a_server
from lifecycle.agreements.claim_checks.etcd import MAPS, config_map
from lifecycle.api.http.wire import Request
from lifecycle.apiserver.server.generic_api_server import GenericAPIServer
from lifecycle.client.rest import Client

ALL = "/api/v1/namespaces/default/configmaps"
MANIFEST = {**config_map("m"), "data": {"k": "new"}}
WRITES: dict[str, tuple[str, str, str]] = {
    "CreateOptions": ("POST", ALL, "application/json"),
    "UpdateOptions": ("PUT", f"{ALL}/m", "application/json"),
    "PatchOptions": ("PATCH", f"{ALL}/m", "application/merge-patch+json"),
}


def answered(kind: str, **query: str) -> tuple[int, str, bool]:
    """The code, the message, and whether the object is another afterwards."""

    async def scene(server: GenericAPIServer, client: Client) -> tuple[int, str, bool]:
        method, path, media_type = WRITES[kind]
        if method != "POST":
            await client.create(MAPS, config_map("m"), "default")
        parts = {key: [value] for key, value in query.items()}
        body = json.dumps(MANIFEST).encode()
        answer = await client.transport.round_trip(Request(method, path, parts, {"content-type": media_type}, body))
        said = answer.obj or json.loads(answer.body or b"{}")
        there = (await client.list(MAPS, "default"))["items"]
        return answer.status, str(said.get("message", "")), any(each.get("data") == {"k": "new"} for each in there)

    return on_a_server(scene)


REFUSED: list[tuple[dict[str, str], str]] = [
    ({"dryRun": "Some"}, "dryRun: Unsupported value: "),
    ({"dryRun": "all"}, "dryRun: Unsupported value: "),
    ({"fieldValidation": "Maybe"}, 'fieldValidation: Unsupported value: "Maybe": supported values: '),
    ({"fieldManager": "m" * 129}, "fieldManager: Too long: may not be more than 128 bytes"),
    ({"fieldManager": "tab\t"}, "fieldManager: Invalid value: "),
]


@pytest.mark.parametrize("kind", WRITES)
@pytest.mark.parametrize(("query", "why"), REFUSED)
def test_a_wish_that_nobody_knows_is_refused_whatever_is_written(kind: str, query: dict[str, str], why: str) -> None:
    """Upstream: `metav1/validation` (`ValidateCreateOptions`, `ValidateUpdateOptions`, `ValidatePatchOptions`)."""
    code, message, changed = answered(kind, **query)
    assert (code, changed) == (422, False)
    assert f'{kind}.meta.k8s.io "" is invalid: ' in message
    assert why in message


@pytest.mark.parametrize("kind", WRITES)
@pytest.mark.parametrize(
    ("query", "changed"),
    [
        ({"dryRun": "All"}, False),
        ({}, True),
        ({"fieldManager": "m" * 128}, True),
        ({"fieldValidation": "Ignore"}, True),
        ({"fieldValidation": "Strict"}, True),
    ],
)
def test_a_wish_that_is_known_is_fulfilled(kind: str, query: dict[str, str], changed: bool) -> None:
    code, _, found = answered(kind, **query)
    assert (code, found) == (201 if kind == "CreateOptions" else 200, changed)


@pytest.mark.parametrize(("writers", "ancient"), [(3, 0), (10, 0), (11, 2), (12, 3), (15, 6)])
def test_ten_writers_are_remembered_and_those_before_them_as_one(writers: int, ancient: int) -> None:
    """Upstream: `managedfields/internal/capmanagers.go` (`capUpdateManagers`): the oldest are merged first."""

    async def scene(server: GenericAPIServer, client: Client) -> list[Any]:
        for number in range(writers):
            await asyncio.sleep(2)
            body = json.dumps({"data": {f"k{number}": "v"}}).encode()
            headers = {"content-type": "application/merge-patch+json"}
            query = {"fieldManager": [f"w{number}"]}
            request = Request("PATCH", f"{ALL}/m", query, headers, body)
            if not number:
                made = {**json.loads(body), "kind": "ConfigMap", "apiVersion": "v1", "metadata": {"name": "m"}}
                headers = {"content-type": "application/json"}
                request = Request("POST", ALL, query, headers, json.dumps(made).encode())
            await client.transport.round_trip(request)
        return list((await client.get(MAPS, "m", "default"))["metadata"]["managedFields"])

    owned = {
        entry["manager"]: {key for key in entry["fieldsV1"].get("f:data", {}) if key != "."}
        for entry in on_a_server(scene)
        if entry["fieldsV1"].get("f:data")
    }
    old = {f"f:k{number}" for number in range(ancient)}
    assert owned.pop("ancient-changes", set()) == old
    assert owned == {f"w{number}": {f"f:k{number}"} for number in range(ancient, writers)}
