"""The table that discovery publishes: rows, their addresses, and how they are found."""

from __future__ import annotations

from unittest.mock import patch

import pytest

from lifecycle.api import resources
from lifecycle.api.resources import Resource, all_resources, find_resource, resource, resource_for_kind


def test_a_resource_is_found_by_its_name_its_url_and_its_kind() -> None:
    pods, deployments = resource("pods"), resource("deployments.apps")
    assert (pods.group, pods.version, pods.plural, pods.kind, pods.singular) == ("", "v1", "pods", "Pod", "pod")
    assert pods.namespaced
    assert pods.short_names == ("po",)
    assert pods.categories == ("all",)
    assert "deletecollection" in pods.verbs
    assert pods.storage_version_hash
    assert find_resource("", "v1", "pods") is pods
    assert find_resource("apps", "v1", "deployments") is deployments
    assert resource_for_kind("apps/v1", "Deployment") is deployments
    assert find_resource("apps", "v1", "pods") is find_resource("", "v2", "pods") is None
    assert resource_for_kind("v1", "Deployment") is None
    for name in ("deployments", "pods.apps", "nothing", ""):
        with pytest.raises(KeyError, match=f"^'{name}'$"):
            resource(name)


def test_a_resource_without_namespaces_says_so() -> None:
    nodes = resource("nodes")
    assert not nodes.namespaced
    assert nodes.path("ns", "n1") == "/api/v1/nodes/n1"


def test_paths_lead_to_collections_objects_and_subresources() -> None:
    pods, deployments = resource("pods"), resource("deployments.apps")
    assert (pods.api_version, pods.prefix) == ("v1", "/api/v1")
    assert (deployments.api_version, deployments.prefix) == ("apps/v1", "/apis/apps/v1")
    assert pods.path() == "/api/v1/pods"
    assert pods.path("ns") == "/api/v1/namespaces/ns/pods"
    assert pods.path("ns", "web", "log") == "/api/v1/namespaces/ns/pods/web/log"
    assert deployments.path("ns", "web") == "/apis/apps/v1/namespaces/ns/deployments/web"


def test_a_subresource_may_speak_another_groups_kind() -> None:
    scale = resource("deployments.apps").subresource("scale")
    assert scale is not None
    assert (scale.name, scale.group, scale.version, scale.kind) == ("scale", "autoscaling", "v1", "Scale")
    assert scale.verbs == ("get", "patch", "update")
    status = resource("deployments.apps").subresource("status")
    assert status is not None
    assert (status.group, status.version, status.kind) == ("apps", "v1", "Deployment")
    assert resource("deployments.apps").subresource("none") is None
    assert all("/" not in row.plural for row in all_resources())


def test_the_preferred_version_comes_first_and_later_ones_have_a_store_key_of_their_own() -> None:
    preferred = resource("horizontalpodautoscalers.autoscaling")
    assert preferred.version == "v2"
    assert preferred.store_key == ("autoscaling", "horizontalpodautoscalers")
    older = find_resource("autoscaling", "v1", "horizontalpodautoscalers")
    assert older is not None
    assert older.store_key == ("autoscaling/v1", "horizontalpodautoscalers")


def test_every_row_is_found_again_and_equal_rows_hash_alike() -> None:
    rows = all_resources()
    assert len(rows) == len(set(rows)) > 60
    for row in rows:
        assert find_resource(row.group, row.version, row.plural) is row
        assert resource_for_kind(row.api_version, row.kind) is not None
    twin = Resource("g", "v", "p", "K", "k", True, ())
    assert hash(twin) == hash(Resource("g", "v", "p", "Other", "k", False, ("get",)))
    assert hash(twin) != hash(Resource("g", "v2", "p", "K", "k", True, ()))


def test_a_name_that_nobody_has_is_not_looked_for_in_every_row() -> None:
    resource("pods")
    with patch.object(resources, "all_resources") as rows:
        for number in range(3):
            with pytest.raises(KeyError, match=f"r{number}.example.com"):
                resource(f"r{number}.example.com")
    rows.assert_not_called()
