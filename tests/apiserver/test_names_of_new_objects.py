"""Nothing is stored that could not be asked for by its name."""

from __future__ import annotations

from typing import Any

import pytest

from lifecycle.api.resources import all_resources
from tests.apiserver.custom_server import Site, on_server

EVENTS = "/api/v1/namespaces/default/events"
REQUIRED = "metadata.name: Required value: name or generateName is required"


def event(**metadata: Any) -> dict[str, Any]:
    about = {"kind": "Pod", "name": "x", "namespace": "default"}
    return {"apiVersion": "v1", "kind": "Event", "metadata": metadata, "involvedObject": about, "reason": "r"}


@pytest.mark.parametrize(
    ("name", "error"),
    [
        (None, f'Event "" is invalid: {REQUIRED}'),
        ("", f'Event "" is invalid: {REQUIRED}'),
        ("A/b", 'Event "A/b" is invalid: metadata.name: Invalid value: "A/b": may not contain \'/\''),
        ("x%y", 'Event "x%y" is invalid: metadata.name: Invalid value: "x%y": may not contain \'%\''),
        ("..", 'Event ".." is invalid: metadata.name: Invalid value: "..": may not be \'..\''),
    ],
)
def test_an_event_needs_a_name_that_fits_into_a_path(name: str | None, error: str) -> None:
    async def scene(site: Site) -> None:
        metadata = {} if name is None else {"name": name}
        refused = await site.ask("POST", EVENTS, event(**metadata), wire=True, content_type="application/json")
        assert (refused.status, refused.message) == (422, error)
        assert (await site.ask("POST", EVENTS, event(name="A_b C"), wire=True)).status == 201  # no more is asked of it
        assert (await site.ask("POST", EVENTS, event(generateName="made-"), wire=True)).status == 201
        listed = await site.ask("GET", EVENTS, wire=True)
        assert [item["metadata"]["name"][:5] for item in listed.obj["items"]] == ["A_b C", "made-"]

    on_server(scene)


def test_no_kind_is_stored_without_a_name() -> None:
    async def scene(site: Site) -> None:
        asked = 0
        for row in all_resources():
            if not {"create", "list"} <= set(row.verbs) or row.kind == "LimitRange":  # whose strategy names it
                continue
            prefix = f"/apis/{row.api_version}" if "/" in row.api_version else f"/api/{row.api_version}"
            path = f"{prefix}/{'namespaces/default/' if row.namespaced else ''}{row.plural}"
            obj = {"apiVersion": row.api_version, "kind": row.kind, "metadata": {}}
            refused = await site.ask("POST", path, obj, wire=True, content_type="application/json")
            assert refused.status in (400, 403, 404, 422), (row, refused.obj)
            asked += 1
        assert asked > 50

    on_server(scene)
