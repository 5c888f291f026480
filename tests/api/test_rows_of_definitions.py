"""The row of discovery that a definition makes."""

from __future__ import annotations

from typing import Any

import pytest

from lifecycle.api.custom_resources import is_established, resource_of, served_resource, storage_version, version_hash
from lifecycle.api.resources import resource

NAMES = {"plural": "things", "kind": "Thing"}
ESTABLISHED = {"conditions": [{"type": "NamesAccepted", "status": "False"}, {"type": "Established", "status": "True"}]}


def definition(*versions: dict[str, Any], status: Any = ESTABLISHED, scope: str = "Namespaced", **names: Any) -> Any:
    spec = {"group": "example.org", "scope": scope, "names": {**NAMES, **names}, "versions": list(versions)}
    return {"spec": spec, "status": status}


OLD, NEW = {"name": "v1", "served": True}, {"name": "v2", "served": True, "storage": True}


def test_a_row_has_what_the_definition_says() -> None:
    row = resource_of(definition(OLD, NEW, singular="thing", shortNames=["th"], categories=["all"]), OLD)
    assert (row.group, row.version, row.plural, row.kind, row.singular) == (
        "example.org",
        "v1",
        "things",
        "Thing",
        "thing",
    )
    assert (row.short_names, row.categories, row.namespaced, row.subresources) == (("th",), ("all",), True, ())
    assert {"create", "deletecollection", "watch"} <= set(row.verbs)
    assert row.storage_version_hash == version_hash("example.org", "v2", "Thing")
    bare = resource_of(definition(NEW, scope="Cluster"), NEW)
    assert (bare.singular, bare.short_names, bare.categories, bare.namespaced) == ("", (), (), False)


def test_a_hash_is_what_a_real_server_gives() -> None:
    """As discovery of the recorded cluster has them."""
    assert version_hash("apps", "v1", "Deployment") == "8aSe+NMegvE="
    assert resource("deployments.apps").storage_version_hash == version_hash("apps", "v1", "Deployment")


def test_the_accepted_names_count_once_there_are_some() -> None:
    accepted = {"acceptedNames": {"plural": "others", "kind": "Other"}}
    assert resource_of(definition(NEW, status=accepted), NEW).plural == "others"
    assert resource_of(definition(NEW, status={"acceptedNames": {"plural": "", "kind": ""}}), NEW).plural == "things"
    assert resource_of(definition(NEW, status=None), NEW).kind == "Thing"


@pytest.mark.parametrize(
    ("subresources", "names"),
    [({}, []), ({"status": {}}, ["status"]), ({"scale": {}}, ["scale"]), ({"status": {}, "scale": {}}, ["status", "scale"]),
     (None, [])],
)  # fmt: skip
def test_a_version_has_the_subresources_that_it_names(subresources: Any, names: list[str]) -> None:
    version = {**NEW, "subresources": subresources}
    row = resource_of(definition(version), version)
    assert [each.name for each in row.subresources] == names
    kinds = {each.name: (each.group, each.version, each.kind, each.verbs) for each in row.subresources}
    verbs = ("get", "patch", "update")
    expected = {"status": ("example.org", "v2", "Thing", verbs), "scale": ("autoscaling", "v1", "Scale", verbs)}
    assert kinds == {name: expected[name] for name in names}


def test_the_version_that_is_kept_is_served_first_and_without_one_the_next() -> None:
    assert storage_version(definition(OLD, NEW)) == "v2"
    assert storage_version(definition(OLD)) == ""
    served = served_resource(definition(OLD, NEW))
    assert served is not None
    assert served.version == "v2"
    kept = served_resource(definition(OLD, {**NEW, "served": False}))
    assert kept is not None
    assert kept.version == "v1"
    assert served_resource(definition({**NEW, "served": False})) is None


@pytest.mark.parametrize(
    "status",
    [None, {}, {"conditions": [{"type": "Established", "status": "False"}, {"type": "Other", "status": "True"}]}],
)
def test_before_it_is_established_nothing_is_found(status: Any) -> None:
    assert not is_established(definition(NEW, status=status))
    assert served_resource(definition(NEW, status=status)) is None
    assert is_established(definition(NEW))
