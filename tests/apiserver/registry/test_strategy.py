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


def test_a_service_sent_back_without_its_addresses_keeps_them() -> None:
    old = {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {},
        "spec": {
            "type": "NodePort",
            "clusterIP": "10.96.0.1",
            "clusterIPs": ["10.96.0.1"],
            "ports": [{"port": 80, "protocol": "TCP", "nodePort": 30080}],
        },
    }
    new = {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {},
        "spec": {"type": "NodePort", "ports": [{"port": 80, "protocol": "TCP"}]},
    }
    prepare_for_update(new, old)
    assert new["spec"]["clusterIPs"] == ["10.96.0.1"]
    assert new["spec"]["ports"][0]["nodePort"] == 30080
    plain = {"apiVersion": "v1", "kind": "Service", "metadata": {}, "spec": {**old["spec"], "type": "ClusterIP"}}
    prepare_for_update(plain, old)
    assert "nodePort" not in plain["spec"]["ports"][0]


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


def test_endpoints_are_repacked() -> None:
    first = {"addresses": [{"ip": "10.0.0.2"}], "ports": [{"name": "a", "port": 1}]}
    second = {"addresses": [{"ip": "10.0.0.1"}], "ports": [{"name": "a", "port": 1}]}
    endpoints = {"apiVersion": "v1", "kind": "Endpoints", "metadata": {}, "subsets": [first, second]}
    canonicalize(endpoints)
    addresses = [{"ip": "10.0.0.1"}, {"ip": "10.0.0.2"}]
    assert endpoints["subsets"] == [{"addresses": addresses, "ports": [{"name": "a", "port": 1}]}]


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


def test_a_service_account_keeps_only_the_names_of_its_secrets() -> None:
    account, _ = decode(
        {"metadata": {}, "secrets": [{"name": "s", "kind": "Secret"}, {"kind": "X"}]}, "v1", "ServiceAccount"
    )
    prepare_for_create(account)
    assert account["secrets"] == [{"name": "s"}, {}]


def test_the_older_pod_network_of_a_node_has_the_last_word() -> None:
    node, _ = decode({"metadata": {}, "spec": {"podCIDR": "10.0.0.0/24", "podCIDRs": ["10.1.0.0/24"]}}, "v1", "Node")
    set_defaults(node)
    assert node["spec"]["podCIDRs"] == ["10.0.0.0/24"]


def test_a_driver_counts_only_what_may_change() -> None:
    driver, _ = decode({"metadata": {"name": "d"}, "spec": {}}, "storage.k8s.io/v1", "CSIDriver")
    set_defaults(driver)
    prepare_for_create(driver)
    assert "generation" not in driver["metadata"]
    for field, generation in (("podInfoOnMount", None), ("requiresRepublish", 1)):
        new = {**driver, "metadata": dict(driver["metadata"]), "spec": {**driver["spec"], field: True}}
        prepare_for_update(new, driver)
        assert new["metadata"].get("generation") == generation


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
