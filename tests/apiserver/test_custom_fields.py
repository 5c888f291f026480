"""Fields of custom resources as the real server takes and refuses them: each answer here is one of its own."""

from __future__ import annotations

from typing import Any

import pytest

from lifecycle.api.http.wire import Object
from tests.apiserver.custom_server import CRONTABS, MERGE, Site, crontab, definition, on_server

SPEC: Object = {
    "type": "object",
    "properties": {
        "replicas": {"type": "integer", "minimum": 0},
        "ratio": {"type": "number", "multipleOf": 0.5},
        "note": {"type": "string", "format": "byte"},
        "level": {"type": "number", "enum": [1.0, 2]},
        "free": {"type": "object", "x-kubernetes-preserve-unknown-fields": True},
        "inner": {"type": "object", "x-kubernetes-embedded-resource": True, "x-kubernetes-preserve-unknown-fields": True},
    },
}  # fmt: skip


def shop() -> Object:
    """A definition of a kind with such fields, and with a scale."""
    new = definition()
    (version,) = new["spec"]["versions"]
    version["schema"] = {
        "openAPIV3Schema": {"type": "object", "properties": {"spec": SPEC, "status": {"type": "object"}}}
    }
    version["subresources"] = {
        "scale": {"specReplicasPath": ".spec.replicas", "statusReplicasPath": ".status.replicas"}
    }
    version.pop("additionalPrinterColumns", None)
    version.pop("selectableFields", None)
    return new


def sent(**spec: Any) -> Object:
    """An object of the kind."""
    return {**crontab(), "spec": spec}


INNER = {"apiVersion": "v1", "kind": "Pod"}


@pytest.mark.parametrize(
    ("spec", "code", "says"),
    [
        ({"inner": {}}, 422, "[spec.inner.apiVersion: Required value, spec.inner.kind: Required value]"),
        ({"inner": {"apiVersion": -1}}, 400, "spec.inner.apiVersion: Invalid value: -1: must be a string"),
        ({"inner": {**INNER, "kind": ""}}, 422, 'spec.inner.kind: Invalid value: "": must not be empty'),
        ({"inner": {**INNER, "apiVersion": "a/b/c"}}, 422, 'spec.inner.apiVersion: Invalid value: "a/b/c": unexpected GroupVersion'),
        ({"inner": {**INNER, "kind": "A b"}}, 422, 'spec.inner.kind: Invalid value: "A b": may have mixed case, but should'),
        ({"inner": {**INNER, "metadata": {"name": "a/b"}}}, 422, "spec.inner.metadata.name: Invalid value: \"a/b\": may not contain '/'"),
        ({"inner": {**INNER, "metadata": {"labels": {"a": "?"}}}}, 422, 'spec.inner.metadata.labels: Invalid value: "?"'),
        ({"inner": {**INNER, "metadata": {"labels": 3}}}, 400, "spec.inner.metadata: Invalid value: "),
        ({"inner": {**INNER, "metadata": {"name": "p", "x": 1}, "spec": {"y": 1}}}, 201, ""),
        ({"ratio": 2}, 422, "spec.ratio: Invalid value: 0: factor MultipleOf declared for spec.ratio must be positive: 0"),
        ({"ratio": 2.25}, 422, "spec.ratio: Invalid value: 2.25: spec.ratio in body should be a multiple of 0.5"),
        ({"ratio": 2.5}, 201, ""),
        ({"note": 0}, 422, 'spec.note: Invalid value: "int64": spec.note in body must be of type byte: "int64"'),
        ({"note": []}, 201, ""),  # of a text with a format the type is not asked
        ({"level": 1}, 201, ""),
        ({"level": 2.0}, 201, ""),
        ({"level": 3.0}, 422, 'spec.level: Unsupported value: 3: supported values: "1", "2"'),
    ],
)  # fmt: skip
def test_what_a_field_may_be(spec: dict[str, Any], code: int, says: str) -> None:
    async def scene(site: Site) -> None:
        await site.define(shop())
        answer = await site.ask("POST", CRONTABS, sent(**spec))
        assert answer.status == code, answer.obj
        assert code == 201 or says in answer.message

    on_server(scene)


def test_metadata_of_an_object_inside_is_brought_to_its_normal_form() -> None:
    async def scene(site: Site) -> None:
        await site.define(shop())
        inside = {**INNER, "metadata": {"name": "p", "labels": {"b": "1", "a": "2"}, "x": 1, "creationTimestamp": None}}
        stored = (await site.ask("POST", CRONTABS, sent(inner=inside))).obj["spec"]["inner"]
        assert stored["metadata"] == {"name": "p", "labels": {"a": "2", "b": "1"}}

    on_server(scene)


def test_a_null_at_the_top_is_taken_away_like_any_other() -> None:
    async def scene(site: Site) -> None:
        await site.define(shop())
        made = await site.ask("POST", CRONTABS, {**crontab(), "spec": None, "status": None})
        assert (made.status, made.obj.keys() & {"spec", "status"}) == (201, set())

    on_server(scene)


@pytest.mark.parametrize(
    ("before", "after", "owned"),
    [
        ({"a": {"b": 2}}, "text", {}),
        ({"a": {"b": 2}}, "", {}),
        ("text", {"a": {"b": 2}}, {".": {}, "f:a": {".": {}, "f:b": {}}}),
        ([1], {"a": 1}, {".": {}, "f:a": {}}),
        ({"a": 1}, [1], {}),
    ],
)
def test_who_makes_another_kind_of_value_of_a_field_owns_it_and_what_is_in_it(
    before: Any, after: Any, owned: dict[str, Any]
) -> None:
    async def scene(site: Site) -> None:
        await site.define(shop())
        await site.ask("POST", CRONTABS, sent(free={"x": before}), user_agent="first")
        changed = await site.ask(
            "PATCH", f"{CRONTABS}/a", {"spec": {"free": {"x": after}}}, content_type=MERGE, user_agent="second"
        )
        entries = {entry["manager"]: entry["fieldsV1"] for entry in changed.obj["metadata"]["managedFields"]}
        assert entries["second"] == {"f:spec": {"f:free": {"f:x": owned}}}
        assert entries["first"] == {"f:spec": {".": {}, "f:free": {}}}

    on_server(scene)


@pytest.mark.parametrize(
    ("spec", "says"),
    [
        (True, "Invalid value: 0: .spec.replicas accessor error: true is of the type bool, expected map[string]interface{}"),
        ([1, "a"], ".spec.replicas accessor error: [1 a] is of the type []interface {}, expected map[string]interface{}"),
        ({"replicas": False}, ".spec.replicas accessor error: false is of the type bool, expected int64"),
        ({"replicas": {"a": 1}}, ".spec.replicas accessor error: map[] is of the type map[string]interface {}, expected int64"),
    ],
)  # fmt: skip
def test_a_path_to_replicas_leads_to_an_integer(spec: Any, says: str) -> None:
    async def scene(site: Site) -> None:
        await site.define(shop())
        answer = await site.ask("POST", CRONTABS, {**crontab(), "spec": spec})
        assert answer.status == 422
        assert says in answer.message

    on_server(scene)


def test_a_scale_may_be_written_without_a_revision_and_says_what_is_wrong_with_it() -> None:
    async def scene(site: Site) -> None:
        await site.define(shop())
        await site.ask("POST", CRONTABS, sent(replicas=1))
        url = f"{CRONTABS}/a/scale"
        written = await site.ask("PUT", url, {"metadata": {"name": "a"}, "spec": {"replicas": 3}})
        assert (written.status, written.obj["spec"]) == (200, {"replicas": 3})
        assert (await site.ask("GET", f"{CRONTABS}/a")).obj["spec"]["replicas"] == 3
        refused = await site.ask("PUT", url, {"metadata": {"name": "a"}, "spec": {"replicas": -1}})
        assert refused.status == 422
        assert 'CronTab.stable.example.com "a" is invalid: [spec.replicas: Invalid value: -1:' in refused.message
        assert ".spec.replicas: Invalid value: -1: should be a non-negative integer" in refused.message
        stale = await site.ask("PUT", url, {"metadata": {"name": "a", "resourceVersion": "1"}, "spec": {"replicas": 4}})
        assert stale.status == 409
        unread = await site.ask("PUT", url, {"spec": {"replicas": "x"}})
        assert (unread.status, unread.message) == (
            400,
            'no kind is registered for the type v1.Scale in scheme "pkg/apiserver/customresource_handler.go:781"',
        )

    on_server(scene)
