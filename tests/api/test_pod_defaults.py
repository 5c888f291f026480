"""What a pod has that nobody wrote, as `defaults.go` and the `+default` markers have it."""

from __future__ import annotations

from typing import Any

import pytest

from lifecycle.api.defaults.pods import (
    image_tag,
    pull_policy,
    set_claim_spec_defaults,
    set_pod_defaults,
    set_pod_spec_defaults,
    set_pod_template_defaults,
    set_probe_defaults,
    set_volume_defaults,
)
from lifecycle.api.defaults.resource_lists import round_up_resource_list

DIGEST = "sha256:" + "a" * 64


@pytest.mark.parametrize(
    ("image", "tag"),
    [
        ("nginx", "latest"), ("nginx:1.27", "1.27"), ("nginx:latest", "latest"), ("library/nginx", "latest"),
        ("localhost:5000/nginx", "latest"), ("localhost:5000/nginx:v1", "v1"), ("registry.k8s.io/pause:3.10", "3.10"),
        (f"nginx@{DIGEST}", ""), (f"nginx:1.27@{DIGEST}", "1.27"), ("", ""), ("Nginx", ""), ("nginx:", ""),
        ("ngi nx", ""), ("a" * 64, ""), ("a" * 63, "latest"), ("UPPER.io/nginx", "latest"), ("a//b", ""),
        ("a__b", "latest"), ("a___b", ""), ("a--b", "latest"), (f"nginx:{'a' * 128}", "a" * 128),
        (f"nginx:{'a' * 129}", ""), ("x" * 247, "latest"), ("x" * 248, ""),
        ("localhost/" + "x" * 255, "latest"), ("localhost/" + "x" * 256, ""),
        ("a.io/" + "x" * 255, "latest"), ("a.io/" + "x" * 256, ""), ("me/" + "x" * 252, "latest"),
        ("me/" + "x" * 253, ""),
    ],
)  # fmt: skip
def test_an_images_tag_is_latest_unless_it_says_another_or_a_digest(image: str, tag: str) -> None:
    assert image_tag(image) == tag
    assert image_tag(image) == tag, "and when it is asked again"


def test_only_the_tag_latest_is_always_pulled() -> None:
    assert pull_policy("nginx") == pull_policy("nginx:latest") == "Always"
    assert pull_policy("nginx:1.27") == pull_policy(f"nginx@{DIGEST}") == pull_policy("NGINX") == "IfNotPresent"


SPEC = {
    "dnsPolicy": "ClusterFirst", "restartPolicy": "Always", "securityContext": {}, "terminationGracePeriodSeconds": 30,
    "schedulerName": "default-scheduler",
}  # fmt: skip
CONTAINER = {
    "imagePullPolicy": "IfNotPresent", "terminationMessagePath": "/dev/termination-log",
    "terminationMessagePolicy": "File",
}  # fmt: skip


def test_a_pod_has_service_links_and_a_template_has_not() -> None:
    pod: dict[str, Any] = {}
    set_pod_defaults(pod)
    assert pod == {"spec": {**SPEC, "enableServiceLinks": True}}
    template: dict[str, Any] = {}
    set_pod_template_defaults(template)
    assert template == {"spec": SPEC}


def test_what_is_said_already_stays() -> None:
    said = {
        "dnsPolicy": "None", "restartPolicy": "Never", "securityContext": {"runAsUser": 0},
        "terminationGracePeriodSeconds": 0, "schedulerName": "mine", "enableServiceLinks": False,
    }  # fmt: skip
    pod = {"spec": dict(said)}
    set_pod_defaults(pod)
    assert pod["spec"] == said


def test_a_negative_grace_period_becomes_one_second_in_a_pod_and_stays_in_a_template() -> None:
    pod, template = ({"spec": {"terminationGracePeriodSeconds": -1}} for _ in range(2))
    set_pod_defaults(pod)
    set_pod_template_defaults(template)
    assert pod["spec"]["terminationGracePeriodSeconds"] == 1
    assert template["spec"]["terminationGracePeriodSeconds"] == -1


@pytest.mark.parametrize("group", ["initContainers", "containers", "ephemeralContainers"])
def test_every_kind_of_container_has_its_defaults(group: str) -> None:
    spec: dict[str, Any] = {
        group: [
            {
                "image": "nginx:1",
                "ports": [{"containerPort": 80}, {"containerPort": 53, "protocol": "UDP"}],
                "env": [
                    {"name": "a", "value": "b"},
                    {"name": "c", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}},
                    {"name": "d", "valueFrom": {"fieldRef": {"apiVersion": "v2", "fieldPath": "x"}}},
                    {"name": "e", "valueFrom": {"fileKeyRef": {"key": "k"}}},
                    {"name": "f", "valueFrom": {"fileKeyRef": {"key": "k", "optional": True}}},
                ],
                "resources": {"limits": {"cpu": "100u"}, "requests": {"cpu": "1n"}},
                "lifecycle": {
                    "postStart": {"httpGet": {"port": 80}},
                    "preStop": {"httpGet": {"port": 80, "path": "/x", "scheme": "HTTPS"}},
                },
                "startupProbe": {"exec": {}},
                "readinessProbe": {"grpc": {"port": 1}},
                "livenessProbe": {"httpGet": {"port": 80}},
            }
        ]
    }
    set_pod_spec_defaults(spec)
    times = {"timeoutSeconds": 1, "periodSeconds": 10, "successThreshold": 1, "failureThreshold": 3}
    assert spec[group] == [
        {
            "image": "nginx:1",
            **CONTAINER,
            "ports": [{"containerPort": 80, "protocol": "TCP"}, {"containerPort": 53, "protocol": "UDP"}],
            "env": [
                {"name": "a", "value": "b"},
                {"name": "c", "valueFrom": {"fieldRef": {"apiVersion": "v1", "fieldPath": "metadata.name"}}},
                {"name": "d", "valueFrom": {"fieldRef": {"apiVersion": "v2", "fieldPath": "x"}}},
                {"name": "e", "valueFrom": {"fileKeyRef": {"key": "k", "optional": False}}},
                {"name": "f", "valueFrom": {"fileKeyRef": {"key": "k", "optional": True}}},
            ],
            "resources": {"limits": {"cpu": "1m"}, "requests": {"cpu": "1m"}},
            "lifecycle": {
                "postStart": {"httpGet": {"port": 80, "path": "/", "scheme": "HTTP"}},
                "preStop": {"httpGet": {"port": 80, "path": "/x", "scheme": "HTTPS"}},
            },
            "startupProbe": {"exec": {}, **times},
            "readinessProbe": {"grpc": {"port": 1, "service": ""}, **times},
            "livenessProbe": {"httpGet": {"port": 80, "path": "/", "scheme": "HTTP"}, **times},
        }
    ]


def test_what_a_container_says_itself_stays() -> None:
    said = {
        "imagePullPolicy": "Never",
        "terminationMessagePath": "/x",
        "terminationMessagePolicy": "FallbackToLogsOnError",
    }
    spec = {"containers": [dict(said)]}
    set_pod_spec_defaults(spec)
    assert spec["containers"] == [said]
    probe = {
        "timeoutSeconds": 2,
        "periodSeconds": 3,
        "successThreshold": 4,
        "failureThreshold": 5,
        "grpc": {"service": "s"},
    }
    set_probe_defaults(before := dict(probe))
    assert before == probe


@pytest.mark.parametrize("group", ["containers", "initContainers"])
def test_a_limit_without_a_request_is_the_request(group: str) -> None:
    pod: dict[str, Any] = {
        "spec": {group: [
            {"resources": {"limits": {"cpu": "2", "memory": "1Gi"}, "requests": {"cpu": "1"}}},
            {"resources": {"limits": {"cpu": "3"}}},
            {"resources": {"requests": {"cpu": "4"}}},
        ]},
    }  # fmt: skip
    set_pod_defaults(pod)
    assert [container["resources"].get("requests") for container in pod["spec"][group]] == [
        {"cpu": "1", "memory": "1Gi"}, {"cpu": "3"}, {"cpu": "4"},
    ]  # fmt: skip
    assert "limits" not in pod["spec"][group][2]["resources"]


@pytest.mark.parametrize("group", ["containers", "initContainers"])
def test_on_the_hosts_network_each_port_is_the_hosts(group: str) -> None:
    ports = [{"containerPort": 80}, {"containerPort": 81, "hostPort": 8081}, {"name": "none"}]
    pods = [
        {"spec": {"hostNetwork": host, group: [{"ports": [dict(port) for port in ports]}]}} for host in (True, False)
    ]
    for pod in pods:
        set_pod_defaults(pod)
    host, own = ([port.get("hostPort") for port in pod["spec"][group][0]["ports"]] for pod in pods)
    assert host == [80, 8081, None]
    assert own == [None, 8081, None]


@pytest.mark.parametrize("field", ["serviceAccount", "serviceAccountName"])
def test_a_service_account_is_shown_under_both_names(field: str) -> None:
    spec: dict[str, Any] = {field: "ann"}
    set_pod_spec_defaults(spec)
    assert (spec["serviceAccount"], spec["serviceAccountName"]) == ("ann", "ann")
    both: dict[str, Any] = {"serviceAccount": "old", "serviceAccountName": "new"}
    set_pod_spec_defaults(both)
    assert (both["serviceAccount"], both["serviceAccountName"]) == ("new", "new")


@pytest.mark.parametrize(
    ("source", "defaults"),
    [
        ({"secret": {}}, {"secret": {"defaultMode": 420}}),
        ({"configMap": {"defaultMode": 0}}, {"configMap": {"defaultMode": 0}}),
        ({"configMap": {}}, {"configMap": {"defaultMode": 420}}),
        ({"hostPath": {"path": "/x"}}, {"hostPath": {"path": "/x", "type": ""}}),
        ({"iscsi": {}}, {"iscsi": {"iscsiInterface": "default"}}),
        ({"rbd": {"pool": "p"}}, {"rbd": {"pool": "p", "user": "admin", "keyring": "/etc/ceph/keyring"}}),
        ({"rbd": {}}, {"rbd": {"pool": "rbd", "user": "admin", "keyring": "/etc/ceph/keyring"}}),
        ({"azureDisk": {}},
         {"azureDisk": {"cachingMode": "ReadWrite", "fsType": "ext4", "readOnly": False, "kind": "Shared"}}),
        ({"scaleIO": {}}, {"scaleIO": {"storageMode": "ThinProvisioned", "fsType": "xfs"}}),
        ({"downwardAPI": {"items": [{"fieldRef": {"fieldPath": "x"}}, {"path": "y"}]}},
         {"downwardAPI": {"items": [{"fieldRef": {"fieldPath": "x", "apiVersion": "v1"}}, {"path": "y"}],
                          "defaultMode": 420}}),
        ({"projected": {"sources": [
            {"serviceAccountToken": {"path": "t"}}, {"serviceAccountToken": {"path": "u", "expirationSeconds": 900}},
            {"downwardAPI": {"items": [{"fieldRef": {"fieldPath": "x"}}]}}, {"secret": {}},
        ]}},
         {"projected": {"sources": [
            {"serviceAccountToken": {"path": "t", "expirationSeconds": 3600}},
            {"serviceAccountToken": {"path": "u", "expirationSeconds": 900}},
            {"downwardAPI": {"items": [{"fieldRef": {"fieldPath": "x", "apiVersion": "v1"}}]}}, {"secret": {}},
         ], "defaultMode": 420}}),
        ({"ephemeral": {"volumeClaimTemplate": {}}},
         {"ephemeral": {"volumeClaimTemplate": {"spec": {"volumeMode": "Filesystem"}}}}),
        ({"image": {"reference": "models"}}, {"image": {"reference": "models", "pullPolicy": "Always"}}),
        ({"image": {"reference": "models:1"}}, {"image": {"reference": "models:1", "pullPolicy": "IfNotPresent"}}),
        ({"image": {"reference": "models", "pullPolicy": "Never"}},
         {"image": {"reference": "models", "pullPolicy": "Never"}}),
        ({"nfs": {}}, {"nfs": {}}),
        ({}, {"emptyDir": {}}),
    ],
)  # fmt: skip
def test_a_volume_has_the_defaults_of_its_source(source: dict[str, Any], defaults: dict[str, Any]) -> None:
    volume = {"name": "v", **source}
    set_volume_defaults(volume)
    assert volume == {"name": "v", **defaults}


def test_amounts_are_rounded_up_to_whole_thousandths_wherever_they_stand() -> None:
    amounts: Any = {"cpu": "1n", "memory": "1001u", "half": "500m", "plain": 3}
    round_up_resource_list(amounts)
    assert amounts == {"cpu": "1m", "memory": "2m", "half": "500m", "plain": 3}
    round_up_resource_list(None)
    spec: dict[str, Any] = {
        "overhead": {"cpu": "1u"}, "resources": {"limits": {"cpu": "1u"}, "requests": {"cpu": "1u"}},
    }  # fmt: skip
    set_pod_spec_defaults(spec)
    assert (spec["overhead"], spec["resources"]) == (
        {"cpu": "1m"},
        {"limits": {"cpu": "1m"}, "requests": {"cpu": "1m"}},
    )
    claim: dict[str, Any] = {"resources": {"limits": {"storage": "1u"}, "requests": {"storage": "1u"}}}
    set_claim_spec_defaults(claim)
    assert claim == {
        "volumeMode": "Filesystem", "resources": {"limits": {"storage": "1m"}, "requests": {"storage": "1m"}},
    }  # fmt: skip
    set_claim_spec_defaults(block := {"volumeMode": "Block"})
    assert block == {"volumeMode": "Block"}


def level(spec_resources: dict[str, Any], *containers: dict[str, Any]) -> dict[str, Any]:
    pod: dict[str, Any] = {
        "spec": {"resources": spec_resources, "containers": [{"resources": each} for each in containers]}
    }
    set_pod_defaults(pod)
    return pod["spec"]["resources"]


def test_a_pods_own_limit_takes_the_containers_requests_or_itself_as_request() -> None:
    container = {"requests": {"cpu": "100m"}}
    assert level({"limits": {"cpu": "1", "memory": "1Gi"}}, container, container) == {
        "limits": {"cpu": "1", "memory": "1Gi"}, "requests": {"cpu": "200m", "memory": "1Gi"},
    }  # fmt: skip
    assert level({"limits": {"cpu": "1"}, "requests": {"cpu": "500m"}}, container)["requests"] == {"cpu": "500m"}


def test_a_pods_own_request_takes_the_sum_of_the_limits_if_every_container_has_one() -> None:
    limited = {"limits": {"cpu": "1"}, "requests": {"cpu": "1m"}}
    assert level({"requests": {"cpu": "100m"}}, limited, limited)["limits"] == {"cpu": "2"}
    assert "limits" not in level({"requests": {"cpu": "100m"}}, limited, {})


def test_huge_pages_of_the_containers_are_the_pods_limit_and_request() -> None:
    pages = {"limits": {"hugepages-2Mi": "4Mi"}}
    assert level({"requests": {"cpu": "1"}}, pages, pages) == {
        "limits": {"hugepages-2Mi": "8Mi"}, "requests": {"cpu": "1", "hugepages-2Mi": "8Mi"},
    }  # fmt: skip
