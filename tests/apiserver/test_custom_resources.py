"""Custom resources: pruned, defaulted, checked, printed and watched like any other."""

from __future__ import annotations

import asyncio
import copy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lifecycle.api.http.wire import Object, Request
from lifecycle.apiserver.apiextensions.cel_rules import validate_rules
from lifecycle.apiserver.apiextensions.defaulting import set_schema_defaults
from lifecycle.apiserver.apiextensions.pruning import prune
from lifecycle.apiserver.apiextensions.schema_validation import validate_value
from lifecycle.apiserver.cel.escaping import escaped
from tests.apiserver.custom_server import (
    APPLY,
    CRONTABS,
    DEFINITIONS,
    MERGE,
    SPEC_SCHEMA,
    Site,
    crontab,
    definition,
    on_server,
)

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 5) | st.text("abc", max_size=2),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["cronSpec", "image", "free", "hosts", "x"]), inner),
    max_leaves=12,
)  # fmt: skip


@given(st.dictionaries(st.sampled_from(["cronSpec", "labels", "free", "hosts", "x", "y"]), VALUES))
def test_pruning_again_finds_nothing(value: dict[str, Any]) -> None:
    prune(value, SPEC_SCHEMA, is_root=False)
    assert prune(value, SPEC_SCHEMA, is_root=False) == []
    assert set(value) <= set(SPEC_SCHEMA["properties"])


@given(st.dictionaries(st.sampled_from(["cronSpec", "image", "replicas"]), st.none() | st.integers(1, 9)))
def test_defaults_change_nothing_that_was_said(value: dict[str, Any]) -> None:
    before = dict(value)
    set_schema_defaults(value, SPEC_SCHEMA)
    assert {key: value[key] for key, was in before.items() if was is not None} == {
        k: v for k, v in before.items() if v is not None
    }
    again = dict(value)
    set_schema_defaults(again, SPEC_SCHEMA)
    assert again == value
    assert value["image"] is not None


@pytest.mark.parametrize(
    ("spec", "error"),
    [
        ({"replicas": "x"}, 'spec.replicas: Invalid value: "string": spec.replicas in body must be of type integer: "string"'),
        ({"replicas": 11}, "spec.replicas: Invalid value: 11: spec.replicas in body should be less than or equal to 10"),
        ({"cronSpec": None}, "spec.cronSpec: Required value"),
        ({"cronSpec": "x"}, "spec.cronSpec in body should match '^(\\S+\\s+){4}\\S+$'"),
        ({"port": True}, 'spec.port: Invalid value: "boolean": spec.port in body must be of type integer,string: "boolean"'),
        ({"hosts": ["a", "b", "a"]}, 'spec.hosts[2]: Duplicate value: "a"'),
        ({"labels": {"a": 1}}, 'spec.labels.a: Invalid value: "integer": spec.labels.a in body must be of type string: "integer"'),
    ],
)  # fmt: skip
def test_what_does_not_fit_the_schema_is_refused_in_the_servers_words(spec: dict[str, Any], error: str) -> None:
    async def scene(site: Site) -> None:
        await site.define(definition())
        refused = await site.ask("POST", CRONTABS, crontab(**spec))
        assert refused.status == 422
        assert error in refused.message

    on_server(scene)


@pytest.mark.parametrize(
    ("value", "schema", "errors"),
    [
        (5, {"type": "integer", "enum": [1, 2]}, ['<nil>: Unsupported value: 5: supported values: "1", "2"']),
        ([1, 2, 3], {"type": "array", "maxItems": 2, "items": {"type": "integer"}}, [": Too many: 3: must have at most 2 items"]),
        ("abcd", {"type": "string", "maxLength": 3}, ["<nil>: Too long: may not be more than 3 bytes"]),
        ("", {"type": "string", "minLength": 1}, [': Invalid value: "":  in body should be at least 1 chars long']),
        (7, {"type": "integer", "multipleOf": 2}, [": Invalid value: 7:  in body should be a multiple of 2"]),
        (3.0, {"type": "integer"}, []),
        (None, {"type": "string", "nullable": True}, []),
        ("x", {"anyOf": [{"minLength": 2}, {"maxLength": 0}]}, [
            '<nil>: Invalid value: "": "" must validate at least one schema (anyOf)',
            ': Invalid value: "x":  in body should be at least 2 chars long',
        ]),
        (1, {"oneOf": [{"minimum": 0}, {"maximum": 2}]}, [
            '<nil>: Invalid value: "": "" must validate one and only one schema (oneOf). Found 2 valid alternatives',
        ]),
        (1, {"not": {"minimum": 0}}, ['<nil>: Invalid value: "": "" must not validate the schema (not)']),
        ("2021-02-30", {"type": "string", "format": "date"}, [
            '<nil>: Invalid value: "2021-02-30":  in body must be of type date: "2021-02-30"',
        ]),
        ("anything", {"type": "string", "format": "nobody-knows"}, []),
    ],
)  # fmt: skip
def test_each_keyword_of_a_schema_has_its_words(value: Any, schema: dict[str, Any], errors: list[str]) -> None:
    assert [str(error) for error in validate_value(value, schema)] == errors


def test_what_was_wrong_before_and_is_unchanged_passes() -> None:
    schema = {"type": "object", "properties": {"a": {"type": "integer", "maximum": 3}, "b": {"type": "integer"}}}
    assert validate_value({"a": 9, "b": 2}, schema, "", {"a": 9, "b": 1}) == []
    assert len(validate_value({"a": 8, "b": 2}, schema, "", {"a": 9, "b": 1})) == 1


def test_unknown_fields_are_dropped_with_a_warning_or_refused() -> None:
    async def scene(site: Site) -> None:
        await site.define(definition())
        sent = crontab(foo=1, free={"any": {"thing": True}})
        made = await site.ask("POST", CRONTABS, sent)
        assert made.warnings == ['unknown field "spec.foo"']
        assert made.obj["spec"] == {
            "cronSpec": "* * * * *", "free": {"any": {"thing": True}}, "image": "nginx", "replicas": 1,
        }  # fmt: skip
        strict = await site.ask("POST", f"{CRONTABS}?fieldValidation=Strict", crontab("b", foo=1))
        assert strict.status == 400
        assert strict.message.endswith('strict decoding error: unknown field "spec.foo"')

    on_server(scene)


def test_a_default_added_later_shows_on_old_objects() -> None:
    async def scene(site: Site) -> None:
        old = copy.deepcopy(await site.define(definition()))
        await site.ask("POST", CRONTABS, crontab())
        old["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"]["properties"]["mood"] = {
            "type": "string", "default": "calm",
        }  # fmt: skip
        assert (await site.ask("PUT", f"{DEFINITIONS}/crontabs.stable.example.com", old)).status == 200
        assert (await site.ask("GET", f"{CRONTABS}/a")).obj["spec"]["mood"] == "calm"

    on_server(scene)


def rule(text: str, **more: Any) -> dict[str, Any]:
    return {"type": "object", "properties": {"a": {"type": "integer"}, "in": {"type": "string"}},
            "x-kubernetes-validations": [{"rule": text, **more}]}  # fmt: skip


@pytest.mark.parametrize(
    ("text", "more", "new", "old", "errors"),
    [
        ("self.a < 3", {}, {"a": 1}, None, []),
        ("self.a < 3", {}, {"a": 5}, None, ["<nil>: Invalid value: failed rule: self.a < 3"]),
        ("self.a < 3", {"message": "too many"}, {"a": 5}, None, ["<nil>: Invalid value: too many"]),
        ("self.a < 3", {"messageExpression": "'got ' + string(self.a)"}, {"a": 5}, None, ["<nil>: Invalid value: got 5"]),
        ("self.a < 3", {"fieldPath": ".a", "reason": "FieldValueForbidden"}, {"a": 5}, None, ["a: Forbidden: failed rule: self.a < 3"]),
        ("self.a >= oldSelf.a", {}, {"a": 1}, None, []),
        ("self.a >= oldSelf.a", {}, {"a": 1}, {"a": 2}, ["<nil>: Invalid value: failed rule: self.a >= oldSelf.a"]),
        ("oldSelf.hasValue()", {"optionalOldSelf": True}, {"a": 1}, None, ["<nil>: Invalid value: failed rule: oldSelf.hasValue()"]),
        ("oldSelf.hasValue()", {"optionalOldSelf": True}, {"a": 1}, {"a": 1}, []),
        ("self.__in__ == 'x'", {}, {"in": "x"}, None, []),
        ("self.a < 3", {}, {}, None, ['<nil>: Invalid value: "object": no such key: a evaluating rule: self.a < 3']),
        ("self.a < 3", {}, {"a": 5}, {"a": 5}, []),
    ],
)  # fmt: skip
def test_rules_judge_values_and_changes(text: str, more: dict[str, Any], new: Any, old: Any, errors: list[str]) -> None:
    given_old = {} if old is None else {"old": old}
    found = validate_rules(new, rule(text, **more), is_resource=False, **given_old)
    assert [str(error) for error in found] == errors


@pytest.mark.parametrize(("name", "written"), [("in", "__in__"), ("a-b", "a__dash__b"), ("a.b/c", "a__dot__b__slash__c")])  # fmt: skip
def test_names_that_cel_cannot_write_are_escaped(name: str, written: str) -> None:
    assert escaped(name) == written


def test_status_and_scale_are_ways_of_their_own() -> None:
    async def scene(site: Site) -> None:
        await site.define(definition())
        made = await site.ask("POST", CRONTABS, {**crontab(), "status": {"replicas": 7}})
        assert "status" not in made.obj
        patch = {"spec": {"replicas": 9}, "status": {"replicas": 2}}
        done = await site.ask("PATCH", f"{CRONTABS}/a/status", patch, content_type=MERGE)
        assert (done.obj["spec"]["replicas"], done.obj["status"]) == (1, {"replicas": 2})
        assert done.obj["metadata"]["generation"] == 1
        scale = (await site.ask("GET", f"{CRONTABS}/a/scale")).obj
        assert (scale["kind"], scale["spec"], scale["status"]) == ("Scale", {"replicas": 1}, {"replicas": 2})
        await site.ask("PATCH", f"{CRONTABS}/a/scale", {"spec": {"replicas": 4}}, content_type=MERGE)
        found = (await site.ask("GET", f"{CRONTABS}/a")).obj
        assert (found["spec"]["replicas"], found["metadata"]["generation"]) == (4, 2)

    on_server(scene)


def test_apply_owns_fields_and_a_strategic_patch_is_refused() -> None:
    async def scene(site: Site) -> None:
        await site.define(definition())
        mine = await site.ask("PATCH", f"{CRONTABS}/a?fieldManager=me", crontab(replicas=3), content_type=APPLY)
        assert mine.status == 201
        theirs = await site.ask("PATCH", f"{CRONTABS}/a?fieldManager=you", crontab(replicas=4), content_type=APPLY)
        assert theirs.status == 409
        assert [cause["field"] for cause in theirs.obj["details"]["causes"]] == [".spec.replicas"]
        smp = await site.ask("PATCH", f"{CRONTABS}/a", {}, content_type="application/strategic-merge-patch+json")
        assert smp.status == 415
        assert smp.message == (
            "the body of the request was in an unknown format - accepted media types include: "
            "application/json-patch+json, application/merge-patch+json, application/apply-patch+yaml"
        )

    on_server(scene)


def test_protobuf_is_not_spoken() -> None:
    async def scene(site: Site) -> None:
        await site.define(definition())
        protobuf = "application/vnd.kubernetes.protobuf"
        assert (await site.ask("GET", CRONTABS, wire=True, accept=protobuf)).status == 406
        assert (await site.ask("GET", CRONTABS, wire=True, accept=f"{protobuf}, application/json")).status == 200
        assert (await site.ask("POST", CRONTABS, b"k8s\0", wire=True, content_type=protobuf)).status == 415

    on_server(scene)


def test_columns_are_the_definitions_own() -> None:
    async def scene(site: Site) -> None:
        columns = [
            {"name": "Spec", "type": "string", "jsonPath": ".spec.cronSpec"},
            {"name": "Replicas", "type": "integer", "jsonPath": ".spec.replicas"},
        ]
        await site.define(definition(additionalPrinterColumns=columns))
        await site.ask("POST", CRONTABS, crontab())
        table = (await site.ask("GET", CRONTABS, wire=True, accept="application/json;as=Table;v=v1;g=meta.k8s.io")).obj
        assert [column["name"] for column in table["columnDefinitions"]] == ["Name", "Spec", "Replicas"]
        assert [row["cells"] for row in table["rows"]] == [["a", "* * * * *", 1]]

    on_server(scene)


def test_declared_fields_can_be_selected_by() -> None:
    async def scene(site: Site) -> None:
        await site.define(definition(selectableFields=[{"jsonPath": ".spec.image"}]))
        await site.ask("POST", CRONTABS, crontab("a"))
        await site.ask("POST", CRONTABS, crontab("b", image="redis"))
        found = (await site.ask("GET", f"{CRONTABS}?fieldSelector=spec.image%3Dredis")).obj["items"]
        assert [each["metadata"]["name"] for each in found] == ["b"]
        refused = await site.ask("GET", f"{CRONTABS}?fieldSelector=spec.replicas%3D1")
        assert (refused.status, refused.message) == (400, "field label not supported: spec.replicas")

    on_server(scene)


def test_every_served_version_shows_the_same_objects() -> None:
    async def scene(site: Site) -> None:
        new = definition()
        new["spec"]["versions"].append({**new["spec"]["versions"][0], "name": "v2beta1", "storage": False})
        await site.define(new)
        await site.ask("POST", CRONTABS, crontab())
        other = CRONTABS.replace("/v1/", "/v2beta1/")
        found = (await site.ask("GET", f"{other}/a")).obj
        assert found["apiVersion"] == "stable.example.com/v2beta1"
        await site.ask("POST", other, {**crontab("b"), "apiVersion": "stable.example.com/v2beta1"})
        assert (await site.ask("GET", f"{CRONTABS}/b")).obj["apiVersion"] == "stable.example.com/v1"
        kept = await site.server.store.get("/registry/stable.example.com/crontabs/default/b")
        assert kept is not None
        assert b'"apiVersion":"stable.example.com/v1"' in kept.value

    on_server(scene)


def test_a_watch_sees_changes_and_ends_with_the_definition() -> None:
    async def scene(site: Site) -> None:
        await site.define(definition())
        request = Request("GET", CRONTABS, query={"watch": ["true"]}, accepts_object=True)
        transport = site.server.in_process_transport(site._transport._user)
        stream = (await transport.round_trip(request)).stream
        assert stream is not None
        await site.ask("POST", CRONTABS, crontab())
        await site.ask("PATCH", f"{CRONTABS}/a", {"spec": {"image": "x"}}, content_type=MERGE)
        await site.ask("DELETE", f"{DEFINITIONS}/crontabs.stable.example.com")
        seen = [frame.type async for frame in stream]
        assert seen == ["ADDED", "MODIFIED", "DELETED"]

    on_server(scene)


def test_discovery_and_openapi_tell_of_it_while_it_is_established() -> None:
    async def scene(site: Site) -> None:
        group = "/apis/stable.example.com"
        assert (await site.ask("GET", group, wire=True)).status == 404
        await site.define(definition())
        listed = (await site.ask("GET", f"{group}/v1", wire=True)).obj
        assert [row["name"] for row in listed["resources"]] == ["crontabs", "crontabs/status", "crontabs/scale"]
        accept = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
        for kind, key in (("application/json", "groups"), (accept, "items")):
            names = [
                each.get("name") or each["metadata"]["name"]
                for each in (await site.ask("GET", "/apis", wire=True, accept=kind)).obj[key]
            ]
            assert "stable.example.com" in names
            assert "apps" in names
        index = (await site.ask("GET", "/openapi/v3", wire=True)).obj["paths"]
        url = index["apis/stable.example.com/v1"]["serverRelativeURL"]
        schemas = (await site.ask("GET", url, wire=True)).obj["components"]["schemas"]
        assert schemas["com.example.stable.v1.CronTab"]["properties"]["spec"]["properties"]["replicas"]["maximum"] == 10
        v2 = (await site.ask("GET", "/openapi/v2", wire=True)).obj
        assert "com.example.stable.v1.CronTabList" in v2["definitions"]
        assert "io.k8s.api.apps.v1.Deployment" in v2["definitions"]
        await site.ask("DELETE", f"{DEFINITIONS}/crontabs.stable.example.com")
        await asyncio.sleep(0.1)
        assert (await site.ask("GET", group, wire=True)).status == 404

    on_server(scene)


def test_a_schema_that_takes_everything_says_nothing_to_old_clients() -> None:
    async def scene(site: Site) -> Object:
        free = definition()
        free["spec"]["versions"][0]["schema"]["openAPIV3Schema"] = {
            "type": "object",
            "x-kubernetes-preserve-unknown-fields": True,
        }
        await site.define(free)
        v2 = (await site.ask("GET", "/openapi/v2", wire=True)).obj
        shown: Object = v2["definitions"]["com.example.stable.v1.CronTab"]
        return shown

    shown = on_server(scene)
    assert shown.pop("x-kubernetes-group-version-kind")
    assert shown == {"type": "object"}


def test_a_definition_that_comes_back_with_another_scope_is_served_in_that() -> None:
    everywhere = CRONTABS.replace("namespaces/default/", "")

    async def scene(site: Site) -> None:
        for scope, path in (("Namespaced", CRONTABS), ("Cluster", everywhere), ("Namespaced", CRONTABS)):
            await site.define(definition(scope=scope))
            created = await site.ask("POST", path, crontab())
            assert created.status == 201, created.message
            await site.ask("DELETE", f"{DEFINITIONS}/crontabs.stable.example.com")
            await asyncio.sleep(1)

    on_server(scene)


def anything_goes() -> Object:
    """A definition of a kind of which the schema says nothing."""
    new = definition()
    new["spec"]["versions"] = [
        {
            "name": "v1",
            "served": True,
            "storage": True,
            "schema": {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}},
        }
    ]
    return new


def test_who_wrote_what_no_schema_knows_is_noted_and_true_is_not_one() -> None:
    """Each value as the real server noted it."""

    def owners(found: Any) -> dict[str, Any]:
        return {entry["manager"]: entry["fieldsV1"]["f:any"] for entry in found.obj["metadata"]["managedFields"]}

    async def scene(site: Site) -> None:
        await site.define(anything_goes())
        new = {**crontab(), "any": {"x": 1, "y": [0], "z": 2}}
        new.pop("spec")
        created = await site.ask("POST", CRONTABS, new, user_agent="a/1")
        assert owners(created) == {"a": {".": {}, "f:x": {}, "f:y": {}, "f:z": {}}}
        url = f"{CRONTABS}/{new['metadata']['name']}"
        again = await site.ask("PATCH", url, {"any": {"x": 1}}, user_agent="b", content_type=MERGE)
        assert again.obj == created.obj
        for generation, change in enumerate(({"x": True}, {"y": [False]}, {"x": 1}), 2):
            changed = await site.ask("PATCH", url, {"any": change}, user_agent="b/1", content_type=MERGE)
            (name,) = change
            assert changed.obj["metadata"]["generation"] == generation
            assert f"f:{name}" in owners(changed)["b"]
            assert f"f:{name}" not in owners(changed)["a"]
            assert repr((await site.ask("GET", url)).obj["any"][name]) == repr(change[name])  # 1 is not True

    on_server(scene)


def test_a_number_without_a_fraction_is_printed_without_a_point() -> None:
    async def scene(site: Site) -> None:
        await site.define(anything_goes())
        sent = {"a": 1.0, "b": -2.0, "c": [1e3], "d": {"e": 1.5}, "f": 1e300, "g": "1.0]"}
        answer = await site.ask("POST", CRONTABS, {**crontab(), "any": sent}, wire=True)
        printed = {"a": 1, "b": -2, "c": [1000], "d": {"e": 1.5}, "f": 1e300, "g": "1.0]"}
        assert answer.status == 201
        assert repr(answer.obj["any"]) == repr(printed)

    on_server(scene)
