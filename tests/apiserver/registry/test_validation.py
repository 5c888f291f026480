"""Validation: updates, and rules that the corpus does not reach."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lifecycle.api import fast_json
from lifecycle.api.field_errors import FieldError
from lifecycle.api.go.format import go_quote
from lifecycle.api.schema import decode
from tests.apiserver.registry.by_kind import (
    prepare_for_create,
    prepare_for_update,
    set_defaults,
    validate_create,
    validate_update,
    warnings_for,
    warnings_for_update,
)
from tests.apiserver.registry.recorded_creates import exchanges


def prepared(api_version: str, kind: str, spec: dict[str, Any] | None = None, **more: Any) -> dict[str, Any]:
    meta = {"name": "x", "namespace": "n", "uid": "u", **more.pop("metadata", {})}
    body = {"metadata": meta, **({} if spec is None else {"spec": spec}), **more}
    obj, _ = decode(body, api_version, kind)
    set_defaults(obj)
    prepare_for_create(obj)
    return obj


def errors_of(api_version: str, kind: str, spec: dict[str, Any] | None = None, **more: Any) -> list[str]:
    return [str(error) for error in validate_create(prepared(api_version, kind, spec, **more))]


CONTAINER = {"name": "c", "image": "i:1"}


def pod_errors(**spec: Any) -> list[str]:
    return errors_of("v1", "Pod", {"containers": [CONTAINER], **spec})


def test_a_minimal_pod_is_fine() -> None:
    assert pod_errors() == []


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ({"containers": []}, "spec.containers: Required value"),
        (
            {"containers": [{**CONTAINER, "image": " i"}]},
            'spec.containers[0].image: Invalid value: " i": must not have leading or trailing whitespace',
        ),
        ({"containers": [{**CONTAINER, "restartPolicy": "Sometimes"}]}, None),
        (
            {"containers": [{**CONTAINER, "volumeMounts": [{"name": "v", "mountPath": "/v"}]}]},
            'spec.containers[0].volumeMounts[0].name: Not found: "v"',
        ),
        ({"volumes": [{"name": "v", "configMap": {}}]}, "spec.volumes[0].configMap.name: Required value"),
        ({"dnsPolicy": "None"}, "spec.dnsConfig: Required value: must provide `dnsConfig` when `dnsPolicy` is None"),
        ({"hostname": "a.b"}, 'spec.hostname: Invalid value: "a.b": must not contain dots'),
        (
            {"tolerations": [{"operator": "Equal"}]},
            'spec.tolerations[0].operator: Invalid value: "Equal": operator must be Exists when `key` is empty, '
            'which means "match all values and all keys"',
        ),
        (
            {"tolerations": [{"key": "a", "operator": "Like"}]},
            'spec.tolerations[0].operator: Unsupported value: "Like": supported values: "Equal", "Exists"',
        ),
        *(
            (
                {"tolerations": [{"key": "a", "operator": operator, "value": "1"}]},
                f'spec.tolerations[0].operator: Unsupported value: "{operator}":'
                ' supported values: "Equal", "Exists", "Lt", "Gt"',
            )
            for operator in ("Lt", "Gt")
        ),
        (
            {"containers": [{**CONTAINER, "resources": {"limits": {"hugepages-2Mi": "3Mi"}}}]},
            'spec.containers[0].resources.limits[hugepages-2Mi]: Invalid value: "3Mi": 3Mi is not positive integer multiple of'
            " hugepages-2Mi",
        ),
        (
            {"containers": [{**CONTAINER, "resources": {"limits": {"gpu": "1"}}}]},
            'spec.containers[0].resources.limits[gpu]: Invalid value: "gpu": must be a standard resource for containers',
        ),
        (
            {"containers": [{**CONTAINER, "livenessProbe": {"successThreshold": 2, "tcpSocket": {"port": 80}}}]},
            "spec.containers[0].livenessProbe.successThreshold: Invalid value: 2: must be 1",
        ),
        (
            {"topologySpreadConstraints": [{"maxSkew": 0, "topologyKey": "z", "whenUnsatisfiable": "DoNotSchedule"}]},
            "spec.topologySpreadConstraints[0].maxSkew: Invalid value: 0: must be greater than zero",
        ),
    ],
)
def test_pod_rules(spec: dict[str, Any], message: str | None) -> None:
    found = pod_errors(**spec)
    if message is None:
        assert found
    else:
        assert message in found


@pytest.mark.parametrize("amount", ["2Mi", "6Mi", str(2**63), str(2**64)])
def test_huge_pages_are_counted_in_64_bits(amount: str) -> None:
    found = pod_errors(containers=[{**CONTAINER, "resources": {"limits": {"hugepages-2Mi": amount}}}])
    assert found == ["spec.containers[0].resources: Forbidden: HugePages require cpu or memory"]


def test_a_volumes_capacity_is_told_as_64_bits_see_it() -> None:
    spec = {"accessModes": ["ReadWriteOnce"], "hostPath": {"path": "/x"}, "capacity": {"storage": str(2**63)}}
    complaint = f"spec.capacity[storage]: Invalid value: {-(2**63)}: must be a valid resource quantity"
    assert complaint in errors_of("v1", "PersistentVolume", spec)


def test_a_missing_selector_is_reported_twice_as_upstream_does() -> None:
    template = {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [CONTAINER]}}
    assert errors_of("apps/v1", "Deployment", {"template": template}) == [
        "spec.selector: Required value",
        'spec.template.metadata.labels: Invalid value: {"a":"b"}: `selector` does not match template `labels`',
    ]


def test_metadata_rules() -> None:
    found = errors_of("v1", "ConfigMap", metadata={"name": "", "finalizers": ["mine"], "annotations": {"a/b/c": ""}})
    assert found[0] == "metadata.name: Required value: name or generateName is required"
    assert found[-1].startswith(
        'metadata.finalizers[0]: Invalid value: "mine": name is neither a standard finalizer name nor'
    )
    assert any("a valid label key must consist of" in message for message in found)


def test_a_pod_spec_cannot_change() -> None:
    old = prepared("v1", "Pod", {"containers": [CONTAINER]})
    new = fast_json.loads(fast_json.dumps(old))
    new["metadata"]["resourceVersion"] = "1"
    new["spec"]["containers"][0]["image"] = "other:2"
    assert validate_update(new, old) == []
    new["spec"]["hostname"] = "h"
    (error,) = validate_update(new, old)
    assert error.field == "spec"
    assert error.detail.startswith(
        "pod updates may not change fields other than `spec.containers[*].image`,`spec.initContainers[*].image`,"
    )


def test_an_update_must_name_its_resource_version_and_keep_its_identity() -> None:
    old = prepared("v1", "ConfigMap")
    new = fast_json.loads(fast_json.dumps(old))
    new["metadata"]["uid"] = "another"
    found = [str(error) for error in validate_update(new, old)]
    assert len(found) == 4  # the registry and the kind's own rule find the same, as upstream
    assert list(dict.fromkeys(found)) == [
        'metadata.resourceVersion: Invalid value: "": must be specified for an update',
        'metadata.uid: Invalid value: "another": field is immutable',
    ]


def test_the_recorded_change_of_a_selector_is_refused_in_the_same_words() -> None:
    rows = list(exchanges("kind-1.36.2/http/storage.jsonl"))
    refused = next(row for row in rows if row["note"] == "immutable selector")
    name = refused["path"].rpartition("/")[2]
    old = next(row["response"] for row in rows if row["path"].endswith(f"/deployments/{name}") and row["status"] == 200)
    new = fast_json.loads(fast_json.dumps(old))
    new["spec"]["selector"]["matchLabels"] = refused["body"]["spec"]["selector"]["matchLabels"]
    prepare_for_update(new, old)
    assert [error.cause() for error in validate_update(new, old)] == refused["response"]["details"]["causes"]


def test_terminated_containers_stay_terminated() -> None:
    old = prepared("v1", "Pod", {"containers": [CONTAINER], "restartPolicy": "Never"})
    old["status"]["containerStatuses"] = [{"name": "c", "state": {"terminated": {"exitCode": 0}}}]
    new = fast_json.loads(fast_json.dumps(old))
    new["metadata"]["resourceVersion"] = "1"
    new["status"]["containerStatuses"][0]["state"] = {"running": {}}
    found = [str(error) for error in validate_update(new, old, "status")]
    assert found == ["status.containerStatuses[0].state: Forbidden: may not be transitioned to non-terminated state"]


def test_error_values_are_printed_as_go_prints_them() -> None:
    assert FieldError("FieldValueInvalid", "f", True, "d").body() == "Invalid value: true: d"
    assert FieldError("FieldValueInvalid", "f", {"a": "<b>"}, "").body() == 'Invalid value: {"a":"\\u003cb\\u003e"}'
    assert FieldError("FieldValueRequired", "f").cause() == {
        "reason": "FieldValueRequired",
        "message": "Required value",
        "field": "f",
    }
    assert go_quote('a"\n\x01') == '"a\\"\\n\\x01"'


def test_warnings_of_ordinary_objects_are_none() -> None:
    assert warnings_for(prepared("v1", "Pod", {"containers": [CONTAINER]})) == []
    assert warnings_for(prepared("v1", "ConfigMap")) == []


_value = (
    st.none()
    | st.booleans()
    | st.integers(-2, 70000)
    | st.text(max_size=5)
    | st.sampled_from(["Always", "TCP", "10.0.0.1", "1Gi"])
)
_FIELDS = [
    "name",
    "image",
    "ports",
    "containerPort",
    "protocol",
    "type",
    "selector",
    "matchLabels",
    "template",
    "spec",
    "metadata",
]
_FIELDS += [
    "containers",
    "volumes",
    "env",
    "affinity",
    "strategy",
    "rollingUpdate",
    "maxSurge",
    "clusterIPs",
    "rules",
    "schedule",
]
_tree = st.recursive(
    _value,
    lambda inner: (
        st.lists(inner, max_size=2)
        | st.dictionaries(
            st.sampled_from(_FIELDS),
            inner,
            max_size=4,
        )
    ),
    max_leaves=15,
)
_KINDS = [
    ("v1", "Pod"),
    ("v1", "Service"),
    ("apps/v1", "Deployment"),
    ("apps/v1", "StatefulSet"),
    ("apps/v1", "DaemonSet"),
    ("batch/v1", "Job"),
    ("batch/v1", "CronJob"),
    ("networking.k8s.io/v1", "Ingress"),
    ("networking.k8s.io/v1", "NetworkPolicy"),
    ("rbac.authorization.k8s.io/v1", "RoleBinding"),
    ("autoscaling/v2", "HorizontalPodAutoscaler"),
    ("discovery.k8s.io/v1", "EndpointSlice"),
    ("v1", "LimitRange"),
    ("v1", "PersistentVolumeClaim"),
    ("apiextensions.k8s.io/v1", "CustomResourceDefinition"),
]


@settings(max_examples=300, deadline=None)
@given(
    st.sampled_from(_KINDS),
    st.dictionaries(st.sampled_from(["spec", "metadata", "endpoints", "roleRef", "subjects", "ports"]), _tree),
)
def test_no_input_that_decodes_can_crash_defaulting_or_validation(kind: tuple[str, str], body: dict[str, Any]) -> None:
    from lifecycle.api.status import StatusError

    try:
        obj, _ = decode(body, *kind)
    except StatusError:
        return
    set_defaults(obj)
    obj["metadata"]["uid"] = "u"
    prepare_for_create(obj)
    for error in validate_create(obj):
        assert error.cause()["field"] is not None
    warnings_for(obj)


# --- warnings ------------------------------------------------------------------------------------------------------------------------


def test_a_port_name_that_two_containers_have_is_warned_of() -> None:
    def named(name: str, number: int) -> dict[str, Any]:
        return {"name": name, "image": "i:1", "ports": [{"containerPort": number, "name": "http"}]}

    spec = {"initContainers": [named("i", 82)], "containers": [named("c", 80), named("d", 81)]}
    first = "spec.initContainers[0].ports[0]"  # init containers count, sidecars or not
    assert warnings_for(prepared("v1", "Pod", spec)) == [
        f'spec.containers[{index}].ports[0]: duplicate port name "http" with {first}, '
        f"services and probes that select ports by name will use {first}"
        for index in (0, 1)
    ]


def test_addresses_come_last_in_a_pods_warnings() -> None:
    spec = {"containers": [CONTAINER], "dnsConfig": {"nameservers": ["010.0.0.1"]}, "hostAliases": [{"ip": "01.1.1.1"}]}
    affinity = {"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [{"topologyKey": "z"}]}}
    found = warnings_for(prepared("v1", "Pod", {**spec, "affinity": affinity}))
    assert [text.split(":")[0].split(".")[1].split("[")[0] for text in found] == [
        "affinity",
        "dnsConfig",
        "hostAliases",
    ]


def test_an_update_warns_of_a_template_only_if_something_changed() -> None:
    template = {
        "metadata": {"labels": {"a": "b"}},
        "spec": {"containers": [CONTAINER], "terminationGracePeriodSeconds": -1},
    }
    spec = {"selector": {"matchLabels": {"a": "b"}}, "template": template}
    old = prepared("apps/v1", "StatefulSet", {**spec, "revisionHistoryLimit": -1})
    new = {**old, "metadata": {**old["metadata"], "generation": 2}}
    assert warnings_for_update(old, old) == []
    assert [text.partition(":")[0] for text in warnings_for_update(new, old)] == [
        "spec.template.spec.terminationGracePeriodSeconds",
        "spec.revisionHistoryLimit",
    ]
    pod = prepared("v1", "Pod", {"containers": [CONTAINER], "imagePullSecrets": [{}]})
    assert warnings_for(pod)
    assert warnings_for_update({**pod, "metadata": {**pod["metadata"], "generation": 2}}, pod) == []


def test_odd_addresses_are_warned_of() -> None:
    slice_ = prepared(
        "discovery.k8s.io/v1", "EndpointSlice", addressType="IPv4", endpoints=[{"addresses": ["010.0.0.1"]}]
    )
    address = 'non-standard IP address "010.0.0.1" is invalid: use "10.0.0.1"'
    assert warnings_for(slice_) == [f"endpoints[0].addresses[0]: {address}"]
    endpoints = prepared("v1", "Endpoints", subsets=[{"notReadyAddresses": [{"ip": "010.0.0.1"}]}])
    assert warnings_for(endpoints) == [f"subsets[0].notReadyAddresses[0].ip: {address}"]
    node = prepared("v1", "Node", {"externalID": "x", "configSource": {}}, metadata={"namespace": ""})
    assert [text.partition(":")[0] for text in warnings_for(node)] == ["spec.externalID"]  # the other one is dropped
