"""CustomResourceDefinitions in `v1beta1`: what they may leave out, what they may not say, and what is served."""

from __future__ import annotations

from typing import Any

import pytest

from lifecycle.api.http.wire import Object
from tests.apiserver.emulation.test_emulator import ask, old
from tests.apiserver.https_site import Site

DEFINITIONS = "/apis/apiextensions.k8s.io/v1beta1/customresourcedefinitions"
THINGS = "/apis/example.org/v1/namespaces/default/things"


def definition(**spec: Any) -> Object:
    names = {"plural": "things", "kind": "Thing"}
    return {
        "apiVersion": "apiextensions.k8s.io/v1beta1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": "things.example.org"},
        "spec": {"group": "example.org", "version": "v1", "names": names, **spec},
    }


async def established(site: Site) -> None:
    while (await ask(site, "GET", THINGS))[0] != 200:  # it will be there in a moment
        pass


def test_a_definition_without_versions_and_schema_keeps_what_it_is_given() -> None:
    async def body(site: Site) -> None:
        status, made = await ask(site, "POST", DEFINITIONS, definition())
        assert (status, made["apiVersion"]) == (201, "apiextensions.k8s.io/v1beta1"), made
        assert made["spec"] == {
            "group": "example.org",
            "version": "v1",
            "names": {"plural": "things", "singular": "thing", "kind": "Thing", "listKind": "ThingList"},
            "scope": "Namespaced",
            "versions": [{"name": "v1", "served": True, "storage": True}],
            "conversion": {"strategy": "None"},
            "preserveUnknownFields": True,
        }
        await established(site)
        thing = {"apiVersion": "example.org/v1", "kind": "Thing", "metadata": {"name": "t"}, "spec": {"a": [1, "b"]}}
        status, kept = await ask(site, "POST", THINGS, thing)
        assert (status, kept["spec"]) == (201, thing["spec"])
        status, patched = await ask(
            site,
            "PATCH",
            f"{THINGS}/t?fieldManager=m&force=true",
            {**thing, "spec": {"c": {"d": 1}}},
            Content_Type="application/apply-patch+yaml",
        )
        assert (status, patched["spec"]) == (200, {"a": [1, "b"], "c": {"d": 1}})
        _, document = await ask(site, "GET", "/openapi/v2")
        thing = document["definitions"]["org.example.v1.Thing"]
        assert (thing["type"], "properties" in thing) == ("object", False)

    old(body)


def test_a_schema_without_structure_judges_and_is_named_in_a_condition() -> None:
    async def body(site: Site) -> None:
        loose = {"properties": {"spec": {"properties": {"size": {"type": "integer", "maximum": 3}}}}}
        status, made = await ask(site, "POST", DEFINITIONS, definition(validation={"openAPIV3Schema": loose}))
        assert (status, made["spec"]["validation"]) == (201, {"openAPIV3Schema": loose}), made
        await established(site)
        thing = {"apiVersion": "example.org/v1", "kind": "Thing", "metadata": {"name": "t"}, "spec": {"size": 4}}
        status, refused = await ask(site, "POST", THINGS, thing)
        assert (status, refused["details"]["causes"][0]["field"]) == (422, "spec.size")
        status, made = await ask(site, "POST", THINGS, {**thing, "spec": {"size": 2, "other": True}})
        assert (status, made["spec"]) == (201, {"size": 2, "other": True})
        conditions: list[Object] = []
        while not any(each["type"] == "NonStructuralSchema" for each in conditions):  # its controller is quick
            _, stored = await ask(site, "GET", f"{DEFINITIONS}/things.example.org")
            conditions = stored["status"]["conditions"]
        # today's version takes what is stored, if something else is changed
        today = DEFINITIONS.replace("v1beta1", "v1") + "/things.example.org"
        patch = {"metadata": {"labels": {"a": "b"}}}
        status, patched = await ask(site, "PATCH", today, patch, Content_Type="application/merge-patch+json")
        assert (status, patched["metadata"]["labels"]) == (200, {"a": "b"}), patched
        assert patched["spec"]["preserveUnknownFields"] is True

    old(body)


def test_a_version_s_own_schema_stays_with_it() -> None:
    async def body(site: Site) -> None:
        one, two = ({"type": "object", "required": [name]} for name in "ab")
        versions = [
            {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": one}},
            {"name": "v2", "served": True, "storage": False, "schema": {"openAPIV3Schema": two}},
        ]
        status, made = await ask(site, "POST", DEFINITIONS, definition(versions=versions))
        assert (status, made["spec"]["versions"]) == (201, versions), made
        patch = [{"op": "add", "path": "/spec/names/shortNames", "value": ["th"]}]
        named = f"{DEFINITIONS}/things.example.org"
        status, patched = await ask(site, "PATCH", named, patch, Content_Type="application/json-patch+json")
        assert (status, patched["spec"]["names"]["shortNames"]) == (200, ["th"]), patched
        assert patched["spec"]["versions"] == versions

    old(body)


_OBJECT = {"openAPIV3Schema": {"type": "object"}}
_BOTH = [{"name": name, "served": True, "storage": name == "v1", "schema": _OBJECT} for name in ("v1", "v2")]


@pytest.mark.parametrize(
    ("spec", "field", "why"),
    [
        (
            {"validation": _OBJECT, "versions": _BOTH},
            "spec.validation",
            "Forbidden: top-level and per-version schemas are mutually exclusive",
        ),
        (
            {"versions": _BOTH},
            "spec.versions",
            "per-version schemas may not all be set to identical values (top-level validation should be used instead)",
        ),
        (
            {"version": "v2", "versions": [{"name": "v1", "served": True, "storage": True}]},
            "spec.version",
            'Invalid value: "v2": must match the first version in spec.versions',
        ),
        (
            {"validation": {"openAPIV3Schema": {"type": "object", "properties": {"a": {"default": 1}}}}},
            "spec.validation.openAPIV3Schema.properties[a].default",
            "Forbidden: must not be set",
        ),
        (
            {"preserveUnknownFields": False},
            "spec.versions[0].schema.openAPIV3Schema",
            "Required value: because otherwise all fields are pruned",
        ),
        (
            {"conversion": {"strategy": "Webhook", "webhookClientConfig": {"url": "https://example.org"}}},
            "spec.conversion.strategy",
            "must be None if spec.preserveUnknownFields is true",
        ),
    ],
)
def test_what_an_old_definition_may_not_say(spec: Object, field: str, why: str) -> None:
    async def body(site: Site) -> None:
        status, refused = await ask(site, "POST", DEFINITIONS, definition(**spec))
        assert (status, refused["reason"]) == (422, "Invalid"), refused
        assert refused["message"].startswith('CustomResourceDefinition.apiextensions.k8s.io "things.example.org"')
        (cause,) = [each for each in refused["details"]["causes"] if each["field"] == field]
        assert why in cause["message"]

    old(body)
