"""Request info: the translation from URL to verb and resource, rule by rule."""

from __future__ import annotations

from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lifecycle.apiserver.filters.request_info import RequestInfoFactory, UnknownRequestError, is_long_running

FACTORY = RequestInfoFactory()


def info(method: str, url: str) -> Any:
    split = urlsplit(url)
    return FACTORY.new_request_info(method, split.path, parse_qs(split.query, keep_blank_values=True))


@pytest.mark.parametrize(
    ("method", "url", "verb", "prefix", "group", "version", "namespace", "resource", "subresource", "name", "parts"),
    [
        # resource paths, as upstream's own table has them
        ("GET", "/api/v1/namespaces", "list", "api", "", "v1", "", "namespaces", "", "", 1),
        ("GET", "/api/v1/namespaces/other", "get", "api", "", "v1", "other", "namespaces", "", "other", 2),
        ("GET", "/api/v1/namespaces/other/pods", "list", "api", "", "v1", "other", "pods", "", "", 1),
        ("GET", "/api/v1/namespaces/other/pods/foo", "get", "api", "", "v1", "other", "pods", "", "foo", 2),
        ("HEAD", "/api/v1/namespaces/other/pods/foo", "get", "api", "", "v1", "other", "pods", "", "foo", 2),
        ("GET", "/api/v1/pods", "list", "api", "", "v1", "", "pods", "", "", 1),
        ("HEAD", "/api/v1/pods", "list", "api", "", "v1", "", "pods", "", "", 1),
        # special verbs in the path
        ("GET", "/api/v1/proxy/namespaces/other/pods/foo", "proxy", "api", "", "v1", "other", "pods", "", "foo", 2),
        ("GET", "/api/v1/proxy/namespaces/o/pods/foo/s/x", "proxy", "api", "", "v1", "o", "pods", "", "foo", 4),
        ("GET", "/api/v1/watch/pods", "watch", "api", "", "v1", "", "pods", "", "", 1),
        ("GET", "/api/v1/watch/namespaces/other/pods", "watch", "api", "", "v1", "other", "pods", "", "", 1),
        # watches and pinned names
        ("GET", "/api/v1/pods?watch=true", "watch", "api", "", "v1", "", "pods", "", "", 1),
        ("GET", "/api/v1/pods?watch=false", "list", "api", "", "v1", "", "pods", "", "", 1),
        ("GET", "/api/v1/pods?watch=0", "list", "api", "", "v1", "", "pods", "", "", 1),
        ("GET", "/api/v1/pods?watch=1", "watch", "api", "", "v1", "", "pods", "", "", 1),
        ("GET", "/api/v1/namespaces/o/pods?fieldSelector=metadata.name%3Dfoo", "list", "api", "", "v1", "o", "pods", "", "foo", 1),
        ("GET", "/api/v1/pods?fieldSelector=metadata.name=..", "list", "api", "", "v1", "", "pods", "", "", 1),
        ("GET", "/api/v1/pods?fieldSelector=metadata.name!=foo", "list", "api", "", "v1", "", "pods", "", "", 1),
        ("GET", "/api/v1/pods?fieldSelector=%ZZ", "list", "api", "", "v1", "", "pods", "", "", 1),
        ("GET", "/api/v1/ns?watch=1&fieldSelector=metadata.name=a,x=y", "watch", "api", "", "v1", "", "ns", "", "a", 1),
        # subresources, of namespaces too
        ("GET", "/api/v1/namespaces/other/pods/foo/status", "get", "api", "", "v1", "other", "pods", "status", "foo", 3),
        ("PUT", "/api/v1/namespaces/other/finalize", "update", "api", "", "v1", "other", "namespaces", "finalize", "other", 3),
        ("PUT", "/api/v1/namespaces/other/status", "update", "api", "", "v1", "other", "namespaces", "status", "other", 3),
        # the other verbs
        ("PATCH", "/api/v1/namespaces/other/pods/foo", "patch", "api", "", "v1", "other", "pods", "", "foo", 2),
        ("DELETE", "/api/v1/namespaces/other/pods/foo", "delete", "api", "", "v1", "other", "pods", "", "foo", 2),
        ("POST", "/api/v1/namespaces/other/pods", "create", "api", "", "v1", "other", "pods", "", "", 1),
        ("DELETE", "/api/v1/nodes", "deletecollection", "api", "", "v1", "", "nodes", "", "", 1),
        ("DELETE", "/api/v1/namespaces", "deletecollection", "api", "", "v1", "", "namespaces", "", "", 1),
        ("DELETE", "/api/v1/namespaces/other/pods", "deletecollection", "api", "", "v1", "other", "pods", "", "", 1),
        ("OPTIONS", "/api/v1/pods", "", "api", "", "v1", "", "pods", "", "", 1),
        # groups
        ("POST", "/apis/extensions/v1/namespaces/other/pods", "create", "apis", "extensions", "v1", "other", "pods", "", "", 1),
        ("PUT", "/apis/apps/v1/namespaces/o/deployments/d/scale/", "update", "apis", "apps", "v1", "o", "deployments", "scale", "d", 3),
    ],
)  # fmt: skip
def test_a_resource_path_is_understood(
    method: str, url: str, verb: str, prefix: str, group: str, version: str, namespace: str, resource: str,
    subresource: str, name: str, parts: int,
) -> None:  # fmt: skip
    found = info(method, url)
    assert found.is_resource_request
    assert (found.verb, found.api_prefix, found.group, found.version) == (verb, prefix, group, version)
    assert (found.namespace, found.resource, found.subresource, found.name) == (namespace, resource, subresource, name)
    assert len(found.parts) == parts


@pytest.mark.parametrize(
    "path",
    ["/", "", "/api", "/api/v1", "/apis", "/apis/apps", "/apis/apps/v1", "/healthz", "/version", "/foo/bar/baz/qux"],
)
def test_other_paths_are_no_resource_requests(path: str) -> None:
    found = info("GET", path)
    assert not found.is_resource_request
    assert (found.verb, found.path) == ("get", path)


@pytest.mark.parametrize("path", ["/api/v1/watch", "/apis/apps/v1/proxy"])
def test_a_special_verb_needs_something_to_apply_to(path: str) -> None:
    with pytest.raises(UnknownRequestError):
        info("GET", path)


def test_selectors_are_kept_for_the_verbs_that_have_them() -> None:
    listed = info("GET", "/api/v1/pods?fieldSelector=spec.nodeName%3Da&labelSelector=x")
    assert (listed.field_selector, listed.label_selector) == ("spec.nodeName=a", "x")
    assert info("DELETE", "/api/v1/namespaces/a/pods?labelSelector=x").label_selector == "x"
    assert info("GET", "/api/v1/namespaces/a/pods/b?labelSelector=x").label_selector == ""
    assert info("GET", "/api/v1/watch/pods?labelSelector=x").label_selector == ""


def test_the_memory_of_paths_does_not_leak_between_queries() -> None:
    assert info("GET", "/api/v1/pods?watch=1").verb == "watch"
    assert info("GET", "/api/v1/pods").verb == "list"
    assert info("GET", "/api/v1/pods?limit=5").verb == "list"


def test_watches_and_streams_are_long_running() -> None:
    assert is_long_running(info("GET", "/api/v1/pods?watch=1"))
    assert is_long_running(info("GET", "/api/v1/namespaces/a/pods/b/log"))
    assert is_long_running(info("POST", "/api/v1/namespaces/a/pods/b/exec"))
    assert not is_long_running(info("GET", "/api/v1/pods"))
    assert not is_long_running(info("GET", "/healthz"))


@given(st.text(alphabet="/abnmespacwthv1.%?=", max_size=40), st.sampled_from(["GET", "POST", "DELETE", "PUT", "BREW"]))
def test_no_path_is_misread(path: str, method: str) -> None:
    try:
        found = FACTORY.new_request_info(method, "/" + path, {})
    except UnknownRequestError:
        return
    assert found.path == "/" + path
    if found.is_resource_request:
        assert found.resource == found.parts[0]
        assert path.split("/")  # what is not understood as a resource stays a plain path
    else:
        assert found.verb == method.lower()


def test_the_leases_of_five_thousand_nodes_are_looked_at_once() -> None:
    factory = RequestInfoFactory()
    paths = [f"/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/n{number}" for number in range(5000)]
    first = [factory.new_request_info("PUT", path, {}) for path in paths]
    again = [factory.new_request_info("PUT", path, {}) for path in paths]
    assert all(one is other for one, other in zip(first, again, strict=True))
