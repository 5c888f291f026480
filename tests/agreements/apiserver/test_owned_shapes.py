"""What a real server notes about owners fits the schema it publishes; a note that does not fit is found."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from lifecycle.agreements.apiserver.owned_shapes import NAMES, owned_shapes
from lifecycle.inspector import Recording
from tests.conftest import RECORDINGS


def recorded(fields: dict[str, Any], kind: str = "Deployment", version: str = "apps/v1") -> Any:
    entry = {"apiVersion": version, "fieldsV1": fields}
    obj = {"metadata": {"managedFields": [entry]}}
    answer = {"kind": f"{kind}List", "items": [obj]}
    return SimpleNamespace(exchanges=lambda name: [SimpleNamespace(response=answer)] if name == "journey" else [])


def containers(element: str, inner: dict[str, Any]) -> Any:
    return recorded({"f:spec": {"f:template": {"f:spec": {"f:containers": {element: inner}}}}})


def test_all_notes_of_a_recorded_server_fit_its_schema() -> None:
    counts, misfits = owned_shapes(Recording(RECORDINGS / "kind-1.36.2"))
    assert misfits == []
    assert set(counts) == set(NAMES.values())
    assert min(counts.values()) > 0
    assert counts["items of a keyed list"] > 100


def test_an_item_is_named_by_the_keys_of_its_list() -> None:
    counts, misfits = owned_shapes(containers('k:{"name":"nginx"}', {"f:image": {}}))
    assert (counts["items of a keyed list"], misfits) == (1, [])
    for element in ('k:{"image":"nginx"}', 'k:{"name":"nginx","image":"nginx"}', 'v:"nginx"', "f:nginx"):
        counts, misfits = owned_shapes(containers(element, {}))
        assert misfits == [f"Deployment f:spec f:template f:spec f:containers {element}"]
        assert counts["items of a keyed list"] == 0


def test_nothing_stands_below_a_value_with_one_owner() -> None:
    _, misfits = owned_shapes(containers('k:{"name":"nginx"}', {"f:command": {'v:"sleep"': {}}}))
    assert len(misfits) == 1
    assert misfits[0].endswith('f:command v:"sleep"')
    assert owned_shapes(recorded({"f:spec": {"f:selector": {}}}))[1] == []


def test_answers_that_are_no_objects_are_passed_over() -> None:
    answers = [SimpleNamespace(response=answer) for answer in ("ok", None, {"paths": []}, {"kind": "Status"})]
    assert owned_shapes(SimpleNamespace(exchanges=lambda _: answers)) == ({}, [])  # type: ignore[arg-type]
