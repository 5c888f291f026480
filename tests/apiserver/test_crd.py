"""CustomResourceDefinitions: what is refused, which names are given, how a definition goes."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from lifecycle.apiserver.apiextensions.structural import validate_structural
from lifecycle.apiserver.apiextensions.validation.definition import validate_definition, validate_definition_update
from tests.apiserver.custom_server import CRONTABS, DEFINITIONS, Site, crontab, definition, on_server

SCHEMA = "spec.validation.openAPIV3Schema"


def errors_of(schema: dict[str, Any]) -> list[str]:
    new = definition(schema=schema)
    names = new["spec"]["names"]
    names["listKind"] = f"{names['kind']}List"
    new["status"] = {"storedVersions": ["v1"]}
    return [str(error) for error in validate_definition(new)]


@pytest.mark.parametrize(
    ("schema", "error"),
    [
        ({}, f"{SCHEMA}.properties[spec].type: Required value: must not be empty for specified object fields"),
        ({"type": "array"}, f"{SCHEMA}.properties[spec].items: Required value: must be specified"),
        (
            {"type": "object", "properties": {"a": {"type": "string"}}, "additionalProperties": {"type": "string"}},
            f"{SCHEMA}.properties[spec].additionalProperties: Forbidden: additionalProperties and properties are mutual exclusive",
        ),
        (
            {"type": "object", "properties": {"a": {"type": "integer"}}, "oneOf": [{"properties": {"a": {"type": "integer"}}}]},
            f"{SCHEMA}.properties[spec].oneOf[0].properties[a].type: Forbidden: must be empty to be structural",
        ),
        (
            {"type": "object", "properties": {"a": {"type": "integer", "default": "x"}}},
            f'{SCHEMA}.properties[spec].properties[a].default: Invalid value: "string":  in body must be of type integer: "string"',
        ),
        (
            {"type": "object", "default": {"b": 1}, "properties": {"a": {"type": "integer"}}},
            f'{SCHEMA}.properties[spec].default: Invalid value: {{"b":1}}: must not have unknown fields',
        ),
        (
            {"type": "array", "items": {"type": "object", "properties": {"k": {"type": "string"}}}, "x-kubernetes-list-type": "map"},
            f"{SCHEMA}.properties[spec].x-kubernetes-list-map-keys: Required value: "
            "must not be empty if x-kubernetes-list-type is map",
        ),
        (
            {"type": "object", "x-kubernetes-validations": [{"rule": ""}]},
            f"{SCHEMA}.properties[spec].x-kubernetes-validations[0].rule: Required value: rule is not specified",
        ),
        (
            {"type": "array", "items": {"type": "integer", "x-kubernetes-validations": [{"rule": "self > oldSelf"}]}},
            f'{SCHEMA}.properties[spec].items.x-kubernetes-validations[0].rule: Invalid value: "self > oldSelf": '
            f"oldSelf cannot be used on the uncorrelatable portion of the schema within {SCHEMA}.properties[spec]",
        ),
    ],
)  # fmt: skip
def test_a_schema_that_could_not_be_served_is_refused(schema: dict[str, Any], error: str) -> None:
    assert error in errors_of(schema)


def test_a_rule_that_does_not_compile_is_refused_with_the_compilers_words() -> None:
    (error,) = errors_of({"type": "object", "x-kubernetes-validations": [{"rule": "self.a >"}]})
    assert error.startswith(f"{SCHEMA}.properties[spec].x-kubernetes-validations[0].rule: Invalid value:")
    assert "compilation failed: ERROR: <input>:1:" in error


def test_logic_may_not_bring_new_fields() -> None:
    schema = {"type": "object", "anyOf": [{"properties": {"b": {"minimum": 1}}}]}
    assert [str(error) for error in validate_structural(schema, "s")] == [
        "s.properties[b]: Required value: because it is defined in s.anyOf[0].properties[b]"
    ]


def test_int_or_string_has_its_two_exceptions() -> None:
    either = [{"type": "integer"}, {"type": "string"}]
    good = {"type": "object", "properties": {"p": {"x-kubernetes-int-or-string": True, "anyOf": either}}}
    assert validate_structural(good, "s") == []
    bad = {"type": "object", "properties": {"p": {"type": "string", "anyOf": [{"type": "string"}]}}}
    assert [str(error) for error in validate_structural(bad, "s")] == [
        "s.properties[p].anyOf[0].type: Forbidden: must be empty to be structural"
    ]


def test_names_group_and_versions_are_checked() -> None:
    new = definition()
    new["metadata"]["name"] = "other"
    new["spec"]["group"] = "nodots"
    new["spec"]["names"] |= {"listKind": "CronTab", "plural": "Cron_Tabs"}
    new["spec"]["versions"] += [{**new["spec"]["versions"][0]}]
    found = {str(error).partition(": ")[0]: str(error) for error in validate_definition(new)}
    assert found["metadata.name"].endswith('must be spec.names.plural+"."+spec.group')
    assert found["spec.group"].endswith("should be a domain with at least one dot")
    assert found["spec.names.listKind"].endswith("kind and listKind may not be the same")
    assert found["spec.versions"].endswith("must have exactly one version marked as storage version")
    assert "status.storedVersions" in found


def test_groups_of_the_community_want_an_approval() -> None:
    new = definition()
    new["spec"]["group"] = "stable.k8s.io"
    new["metadata"]["name"] = "crontabs.stable.k8s.io"
    (error,) = [str(e) for e in validate_definition(new) if "annotations" in e.field]
    assert "Required value: protected groups must have approval annotation" in error
    new["metadata"]["annotations"] = {"api-approved.kubernetes.io": "https://github.com/kubernetes/kubernetes/pull/1"}
    assert not [e for e in validate_definition(new) if "annotations" in e.field]


def test_scope_and_kind_are_fixed_once_established() -> None:
    async def scene(site: Site) -> None:
        old = await site.define(definition())
        new = {**old, "spec": {**old["spec"], "scope": "Cluster"}}
        assert [str(e) for e in validate_definition_update(new, old)] == [
            'spec.scope: Invalid value: "Cluster": field is immutable'
        ]

    on_server(scene)


def conditions(obj: dict[str, Any]) -> dict[str, tuple[str, str]]:
    return {each["type"]: (each["status"], each["reason"]) for each in obj["status"]["conditions"]}


def test_a_definition_is_established_when_its_names_are_accepted() -> None:
    async def scene(site: Site) -> None:
        found = await site.define(definition())
        assert conditions(found) == {
            "NamesAccepted": ("True", "NoConflicts"), "Established": ("True", "InitialNamesAccepted"),
        }  # fmt: skip
        assert found["status"]["acceptedNames"] == {
            "plural": "crontabs", "singular": "crontab", "shortNames": ["cr"], "kind": "CronTab", "listKind": "CronTabList",
        }  # fmt: skip
        assert found["status"]["storedVersions"] == ["v1"]

    on_server(scene)


def test_who_comes_second_waits_for_the_name() -> None:
    async def scene(site: Site) -> None:
        await site.define(definition())
        second = definition("Cronjobs")
        second["spec"]["names"]["kind"] = "CronTab"
        found = await site.define(second)
        assert conditions(found) == {
            "NamesAccepted": ("False", "ListKindConflict"),
            "Established": ("False", "NotAccepted"),
        }
        (message,) = [c["message"] for c in found["status"]["conditions"] if c["type"] == "NamesAccepted"]
        assert message == '"CronTabList" is already in use'  # the last conflict is the one that is told
        assert (await site.ask("GET", "/apis/stable.example.com/v1/cronjobss")).status == 404
        await site.ask("DELETE", f"{DEFINITIONS}/crontabs.stable.example.com")
        await asyncio.sleep(0.1)
        found = (await site.ask("GET", f"{DEFINITIONS}/{second['metadata']['name']}")).obj
        assert conditions(found)["Established"][0] == "True"

    on_server(scene)


def test_a_definition_takes_its_objects_along() -> None:
    async def scene(site: Site) -> None:
        await site.define(definition())
        held = crontab("held")
        held["metadata"]["finalizers"] = ["example.com/hold"]
        assert (await site.ask("POST", CRONTABS, held)).status == 201
        assert (await site.ask("POST", CRONTABS, crontab("free"))).status == 201
        gone = await site.ask("DELETE", f"{DEFINITIONS}/crontabs.stable.example.com")
        assert gone.obj["metadata"]["finalizers"] == ["customresourcecleanup.apiextensions.k8s.io"]
        await asyncio.sleep(0.1)
        found = (await site.ask("GET", f"{DEFINITIONS}/crontabs.stable.example.com")).obj
        assert conditions(found)["Terminating"] == ("True", "InstanceDeletionInProgress")
        listed = (await site.ask("GET", CRONTABS)).obj["items"]
        assert [each["metadata"]["name"] for each in listed] == ["held"]
        refused = await site.ask("POST", CRONTABS, crontab("late"))
        assert refused.status == 403
        assert refused.message.endswith("create not allowed while custom resource definition is terminating")
        patch = {"metadata": {"finalizers": None}}
        await site.ask("PATCH", f"{CRONTABS}/held", patch, content_type="application/merge-patch+json")
        await asyncio.sleep(6)
        assert (await site.ask("GET", f"{DEFINITIONS}/crontabs.stable.example.com")).status == 404
        assert (await site.ask("GET", CRONTABS)).status == 404

    on_server(scene)


def test_the_storage_version_is_remembered_when_it_moves_on() -> None:
    async def scene(site: Site) -> None:
        old = await site.define(definition())
        first = old["spec"]["versions"][0]
        versions = [{**first, "storage": False}, {**first, "name": "v2", "storage": True}]
        new = {**old, "spec": {**old["spec"], "versions": versions}}
        done = await site.ask("PUT", f"{DEFINITIONS}/crontabs.stable.example.com", new)
        assert done.obj["status"]["storedVersions"] == ["v1", "v2"]
        gone = {**done.obj, "spec": {**done.obj["spec"], "versions": versions[1:]}}
        refused = await site.ask("PUT", f"{DEFINITIONS}/crontabs.stable.example.com", gone)
        assert "v1 was previously a storage version, and must remain in spec.versions" in refused.message

    on_server(scene)


def test_others_have_their_turn_between_the_versions_and_who_goes_leaves_no_cache_behind() -> None:
    """A definition may have thousands of versions, each with a cache of its own."""
    many = definition()
    first = many["spec"]["versions"][0]
    many["spec"]["versions"] = [{**first, "name": f"v{i}", "storage": i == 1} for i in range(1, 21)]

    def followers() -> int:
        return sum(task.get_name() == "cacher crontabs" for task in asyncio.all_tasks())

    async def scene(site: Site) -> None:
        await site.define(many)
        asking = asyncio.ensure_future(site.ask("GET", CRONTABS))
        seen = set()
        while followers() < 10:
            await asyncio.sleep(0)
            seen.add(followers())
        assert seen >= set(range(1, 10))
        asking.cancel()
        await asyncio.gather(asking, return_exceptions=True)
        await asyncio.sleep(1)
        assert followers() == 0
        assert (await site.ask("GET", CRONTABS)).status == 200
        assert followers() == 20

    on_server(scene)
