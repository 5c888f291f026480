"""What the registry keeps, resets and counts."""

from __future__ import annotations

from lifecycle.api.schema import decode
from lifecycle.apiserver.registry.strategies import strategy_for
from tests.apiserver.registry.by_kind import (
    canonicalize,
    prepare_for_create,
    prepare_for_update,
    set_defaults,
)


def test_a_job_gets_a_selector_of_its_own() -> None:
    template = {"spec": {"containers": [{"name": "c", "image": "i:1"}], "restartPolicy": "Never"}}
    job, _ = decode({"metadata": {"name": "j", "uid": "u"}, "spec": {"template": template}}, "batch/v1", "Job")
    set_defaults(job)
    prepare_for_create(job)
    canonicalize(job)
    assert job["spec"]["selector"] == {"matchLabels": {"batch.kubernetes.io/controller-uid": "u"}}
    assert job["metadata"]["labels"]["job-name"] == "j"


def test_a_job_without_labels_shares_those_of_its_template() -> None:
    pod = {"containers": [{"name": "c", "image": "i:1"}], "restartPolicy": "Never"}
    template = {"metadata": {"labels": {"x": "y"}}, "spec": pod}
    for metadata, expected in (({}, "j"), ({"labels": {"x": "y"}}, None)):
        body = {"metadata": {"name": "j", "uid": "u", **metadata}, "spec": {"template": template}}
        job, _ = decode(body, "batch/v1", "Job")
        set_defaults(job)
        prepare_for_create(job)
        canonicalize(job)
        assert job["metadata"]["labels"]["x"] == "y"
        assert job["metadata"]["labels"].get("job-name") == expected


def test_an_empty_list_comes_back_from_the_store_as_nothing() -> None:
    role, _ = decode({"metadata": {"name": "r"}, "rules": []}, "rbac.authorization.k8s.io/v1", "Role")
    prepare_for_create(role)
    canonicalize(role)
    assert role["rules"] is None
    slice_, _ = decode(
        {"metadata": {"name": "s"}, "addressType": "IPv4", "endpoints": [{"addresses": []}], "ports": []},
        "discovery.k8s.io/v1",
        "EndpointSlice",
    )
    prepare_for_update(slice_, {"metadata": {"name": "s"}})
    assert (slice_["endpoints"], slice_["ports"]) == ([{"addresses": None, "conditions": {}}], None)


def test_what_is_stored_as_json_keeps_its_empty_lists() -> None:
    spec = {"group": "g", "names": {"plural": "p", "kind": "K"}, "scope": "Cluster", "versions": []}
    definition, _ = decode({"metadata": {}, "spec": spec}, "apiextensions.k8s.io/v1", "CustomResourceDefinition")
    canonicalize(definition)
    assert definition["spec"]["versions"] == []


def test_facts_about_kinds() -> None:
    lease, pod = strategy_for("coordination.k8s.io/v1", "Lease"), strategy_for("v1", "Pod")
    assert lease.allow_create_on_update
    assert not pod.allow_create_on_update
    assert not lease.allow_unconditional_update
    assert strategy_for("v1", "ConfigMap").allow_unconditional_update


def test_field_selectors() -> None:
    config_map = strategy_for("v1", "ConfigMap").field_labels
    assert config_map.labels == ("metadata.name", "metadata.namespace")
    assert (
        config_map.unsupported("data.k")
        == '"data.k" is not a known field selector: only "metadata.name", "metadata.namespace"'
    )
