"""What all versions of a definition share is validated, and named, at the top; and what else custom resources have of their own."""

from __future__ import annotations

import asyncio
import copy
from collections.abc import Awaitable, Callable

import pytest

from lifecycle.api.http.wire import Object
from lifecycle.apiserver.apiextensions.internal_form import go_versions, internal_form
from lifecycle.apiserver.apiextensions.validation.definition import validate_definition
from tests.apiserver.asked_server import Asked, asked
from tests.apiserver.custom_server import CRONTABS, DEFINITIONS, crontab, definition

WITHOUT_TYPE: Object = {"properties": {"a": {"type": "string"}}}


def two_versions(*schemas: Object) -> Object:
    made = definition()
    first = made["spec"]["versions"][0]
    made["spec"]["versions"] = []
    for index, schema in enumerate(schemas):
        version = copy.deepcopy(first)
        version |= {"name": f"v{index + 1}", "storage": index == 0}
        version["schema"]["openAPIV3Schema"]["properties"]["spec"] = schema
        made["spec"]["versions"].append(version)
    names = made["spec"]["names"]
    names["listKind"] = f"{names['kind']}List"
    made["status"] = {"storedVersions": ["v1"]}
    return made


def fields(made: Object) -> list[str]:
    return [error.field for error in validate_definition(made)]


def test_an_error_in_what_all_versions_share_is_reported_once_and_at_the_top() -> None:
    below = "openAPIV3Schema.properties[spec].type"
    assert fields(two_versions(WITHOUT_TYPE)) == [f"spec.validation.{below}"]
    assert fields(two_versions(WITHOUT_TYPE, WITHOUT_TYPE)) == [f"spec.validation.{below}"]


def test_an_error_of_one_version_is_reported_there() -> None:
    below = "schema.openAPIV3Schema.properties[spec].type"
    assert fields(two_versions({"type": "object"}, WITHOUT_TYPE)) == [f"spec.versions[1].{below}"]


def test_columns_and_subresources_are_shared_by_themselves() -> None:
    made = two_versions({"type": "object"}, {"type": "object", "nullable": True})
    for version in made["spec"]["versions"]:
        version["additionalPrinterColumns"] = [{"name": "A", "type": "word", "jsonPath": ".spec.a"}]
        version["subresources"]["scale"]["specReplicasPath"] = "spec.replicas"
    assert fields(made) == ["spec.subresources.scale.specReplicasPath", "spec.additionalPrinterColumns[0].type"]
    made["spec"]["versions"][1]["additionalPrinterColumns"][0]["name"] = "B"
    assert "spec.versions[0].additionalPrinterColumns[0].type" in fields(made)


def test_versions_are_shown_in_the_inner_form() -> None:
    made = two_versions({"type": "object"}, {"type": "object"})
    shown = go_versions(internal_form(made["spec"])["versions"])
    assert [each["Name"] for each in shown] == ["v1", "v2"]
    assert all(each["Schema"] is each["Subresources"] is None for each in shown)
    (alone,) = go_versions(definition()["spec"]["versions"])
    spec = alone["Schema"]["OpenAPIV3Schema"]["Properties"]["spec"]
    assert spec["Required"] == ["cronSpec"]
    assert spec["Properties"]["hosts"]["Items"]["Schema"]["Type"] == "string"
    assert spec["Properties"]["labels"]["AdditionalProperties"]["Schema"]["Type"] == "string"
    assert alone["Subresources"]["Scale"]["LabelSelectorPath"] is None


@pytest.mark.parametrize(
    ("schema", "error"),
    [
        ({"type": "array", "items": [{"type": "string"}]}, "items: Forbidden: items must be a schema object and not an array"),
        ({"$ref": "#/a"}, "$ref: Forbidden: $ref is not supported"),
        (
            {"type": "word"},
            'type: Unsupported value: "word": supported values: "array", "boolean", "integer", "number", "object", "string"',
        ),
    ],
)  # fmt: skip
def test_what_a_structural_schema_has_no_place_for_is_the_only_thing_said(schema: Object, error: str) -> None:
    assert [str(each) for each in validate_definition(two_versions(schema))] == [
        f"spec.validation.openAPIV3Schema.properties[spec].{error}"
    ]


def scene_of(steps: Callable[[Asked], Awaitable[None]]) -> None:
    """Play it once the definition is served."""

    async def scene(ask: Asked) -> None:
        assert (await ask("POST", DEFINITIONS, definition()))[0] == 201
        await asyncio.sleep(10)
        await steps(ask)

    asked(scene)


def test_a_scale_can_be_replaced_and_is_checked_where_the_replicas_are_kept() -> None:
    async def steps(ask: Asked) -> None:
        await ask("POST", CRONTABS, crontab("a"))
        _, scale = await ask("GET", f"{CRONTABS}/a/scale")
        scale["spec"]["replicas"] = 4
        status, answer = await ask("PUT", f"{CRONTABS}/a/scale", scale)
        assert (status, answer["kind"], answer["spec"]) == (200, "Scale", {"replicas": 4})
        answer["spec"]["replicas"] = -1
        code, message = await ask.refused("PUT", f"{CRONTABS}/a/scale", answer)
        assert code == 422
        assert ".spec.replicas: Invalid value: -1: should be a non-negative integer" in message

    scene_of(steps)


def test_what_a_deleted_collection_held_says_what_it_was() -> None:
    async def steps(ask: Asked) -> None:
        await ask("POST", CRONTABS, crontab("a"))
        _, deleted = await ask("DELETE", CRONTABS)
        assert [(each["kind"], each["metadata"]["name"]) for each in deleted["items"]] == [("CronTab", "a")]

    scene_of(steps)


def test_the_kind_that_was_sent_is_the_one_that_is_refused() -> None:
    async def steps(ask: Asked) -> None:
        found = await ask.refused("POST", CRONTABS, {**crontab("a"), "kind": "Other"})
        why = 'Other.stable.example.com "a" is invalid: kind: Invalid value: "Other": must be CronTab'
        assert found == (422, why)

    scene_of(steps)


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", "/apis/stable.example.com/v9"),
        ("GET", "/apis/stable.example.com/v1/gizmos"),
        ("GET", "/apis/stable.example.com/v9/crontabs"),
        ("POST", "/apis/stable.example.com/v1/crontabs"),
    ],
)
def test_what_no_definition_serves_no_router_knows(method: str, path: str) -> None:
    async def steps(ask: Asked) -> None:
        body = crontab("a") if method == "POST" else None
        assert await ask(method, path, body) == (404, "404 page not found\n")

    scene_of(steps)
