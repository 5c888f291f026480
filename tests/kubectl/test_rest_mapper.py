"""Names people type, and what the server serves under them."""

from __future__ import annotations

import pytest

from lifecycle.api.loop.clock import run_virtual
from lifecycle.client.rest import Client
from lifecycle.kubectl.failures import CommandError
from lifecycle.kubectl.rest_mapper import RESTMapper, discover
from tests.kubectl.fake_server import FakeServer


@pytest.fixture(scope="module", params=[True, False], ids=["aggregated", "legacy"])
def mapper(request) -> RESTMapper:
    server = FakeServer(aggregated=request.param)
    found = run_virtual(discover(Client(server, "test")))
    assert len(server.discovered) == 2 if request.param else len(server.discovered) > 20
    return found


@pytest.mark.parametrize(
    ("typed", "api_version", "plural"),
    [
        ("deployments", "apps/v1", "deployments"),
        ("deploy", "apps/v1", "deployments"),
        ("Deployment", "apps/v1", "deployments"),
        ("deployments.apps", "apps/v1", "deployments"),
        ("deployments.v1.apps", "apps/v1", "deployments"),
        ("po", "v1", "pods"),
        ("svc", "v1", "services"),
        ("ev", "v1", "events"),
        ("events.events.k8s.io", "events.k8s.io/v1", "events"),
        ("events.events", "events.k8s.io/v1", "events"),
        ("hpa", "autoscaling/v2", "horizontalpodautoscalers"),
        ("horizontalpodautoscalers.v1.autoscaling", "autoscaling/v1", "horizontalpodautoscalers"),
        ("HorizontalPodAutoscaler.v1.autoscaling", "autoscaling/v1", "horizontalpodautoscalers"),
        # a short name becomes a long one, and the version behind it is forgotten (asked of kubectl 1.36)
        ("hpa.v1.autoscaling", "autoscaling/v2", "horizontalpodautoscalers"),
        ("hpa.v9.autoscaling", "autoscaling/v2", "horizontalpodautoscalers"),
        ("ev.v9.", "v1", "events"),
        ("ev.v1.events.k8s.io", "events.k8s.io/v1", "events"),
        ("no", "v1", "nodes"),
    ],
)
def test_words_become_resources(mapper, typed, api_version, plural):
    resource = mapper.resource_for(typed)
    assert (resource.api_version, resource.plural) == (api_version, plural)


def test_kinds_become_resources(mapper):
    assert mapper.for_kind("apps/v1", "Deployment").path("ns", "x") == "/apis/apps/v1/namespaces/ns/deployments/x"
    assert not mapper.for_kind("v1", "Node").namespaced
    with pytest.raises(CommandError, match='no matches for kind "Deployment" in version "extensions/v1beta1"'):
        mapper.for_kind("extensions/v1beta1", "Deployment")


def test_categories(mapper):
    assert [r.plural for r in mapper.category("all")] == [
        "pods", "replicationcontrollers", "services", "daemonsets", "deployments", "replicasets", "statefulsets",
        "horizontalpodautoscalers", "cronjobs", "jobs",
    ]  # fmt: skip
    assert mapper.category("pods") == []


@pytest.mark.parametrize(
    ("typed", "message"),
    [
        ("foo", 'the server doesn\'t have a resource type "foo"'),
        ("pods.apps", 'the server doesn\'t have a resource type "pods"'),
        ("pods.v1.apps", 'the server doesn\'t have a resource type "pods"'),
        (
            "horizontalpodautoscalers.v9.autoscaling",
            'the server doesn\'t have a resource type "horizontalpodautoscalers"',
        ),
        ("hpa.v1", 'the server doesn\'t have a resource type "hpa"'),
    ],
)
def test_what_is_not_served(mapper, typed, message):
    with pytest.raises(CommandError) as refused:
        mapper.resource_for(typed)
    assert str(refused.value) == message
