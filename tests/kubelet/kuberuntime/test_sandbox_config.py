"""What a runtime is told of a pod's next sandbox."""

from __future__ import annotations

from typing import Any

import pytest

from lifecycle.cri.apis.pod_sandbox import PodSandboxConfig
from lifecycle.kubelet.kuberuntime.container_config import generate_pod_sandbox_config


def sandbox(*ports: dict[str, Any], told: dict[str, Any] | None = None, **spec: Any) -> PodSandboxConfig:
    meta = {"name": "p", "namespace": "ns", "uid": "u", "labels": {"a": "b"}, "annotations": {"c": "d"}}
    container = {"name": "c", "image": "i", **({"ports": list(ports)} if ports else {})}
    return generate_pod_sandbox_config(
        {"metadata": meta, "spec": {"containers": [container], **spec}}, 3, **(told or {})
    )


@pytest.mark.parametrize(
    ("spec", "told", "hostname"),
    [
        ({}, {}, "p"),
        ({"hostname": "h"}, {}, "h"),
        ({"hostname": "h"}, {"hostname": "given"}, "given"),
        ({"hostNetwork": True, "hostname": "h"}, {"hostname": "given"}, ""),
    ],
)
def test_a_sandbox_has_the_pods_name_or_the_nodes(spec: dict[str, Any], told: dict[str, Any], hostname: str) -> None:
    made = sandbox(told=told, **spec)
    assert made.hostname == hostname
    assert (made.metadata.name, made.metadata.uid, made.metadata.namespace, made.metadata.attempt) == (
        "p",
        "u",
        "ns",
        3,
    )


@pytest.mark.parametrize(
    ("context", "sysctls"),
    [
        (None, None),
        ({}, None),
        ({"sysctls": []}, None),
        ({"sysctls": [{"name": "net.core.somaxconn", "value": "10"}, {"name": "kernel.x", "value": "1"}]},
         {"net.core.somaxconn": "10", "kernel.x": "1"}),
    ],
)  # fmt: skip
def test_settings_of_the_kernel_are_named_only_if_there_are_some(context: Any, sysctls: Any) -> None:
    assert sandbox(securityContext=context).linux.get("sysctls") == sysctls


def test_ports_are_all_and_some_are_lent_by_the_node() -> None:
    made = sandbox(
        {"containerPort": 80},
        {"containerPort": 80, "hostPort": 8080},
        {"containerPort": 53, "hostPort": 53, "protocol": "UDP", "hostIP": "10.0.0.1"},
    )
    assert list(made.port_mappings) == [
        {"protocol": "TCP", "container_port": 80, "host_port": 0, "host_ip": ""},
        {"protocol": "TCP", "container_port": 80, "host_port": 8080, "host_ip": ""},
        {"protocol": "UDP", "container_port": 53, "host_port": 53, "host_ip": "10.0.0.1"},
    ]
    assert list(sandbox().port_mappings) == []


def test_it_stands_below_the_pods_group_if_there_is_one() -> None:
    assert "cgroup_parent" not in sandbox().linux
    assert sandbox(told={"cgroup_parent": "/kubepods/x"}).linux["cgroup_parent"] == "/kubepods/x"
