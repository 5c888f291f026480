"""What thousands of containers are told in the same words is held once."""

from __future__ import annotations

from typing import Any

from lifecycle.api.http.wire import Object
from lifecycle.kubelet.kuberuntime.container_config import generate_container_config, generate_pod_sandbox_config


def pod(name: str, **spec: Any) -> Object:
    container = {"name": "c", "image": "i", "securityContext": {"runAsUser": 0}}
    return {"metadata": {"name": name, "namespace": "ns", "uid": name}, "spec": {"containers": [container], **spec}}


def linux(name: str, resources: Object, **spec: Any) -> Any:
    made = pod(name, **spec)
    return generate_container_config(made, made["spec"]["containers"][0], 0, resources=resources).linux


def test_containers_that_are_told_the_same_about_linux_share_it() -> None:
    first = linux("a", {"cpu_shares": 2})
    assert linux("b", {"cpu_shares": 2}) is first
    assert first["resources"] == {"cpu_shares": 2}
    assert linux("c", {"cpu_shares": 3}) == {**first, "resources": {"cpu_shares": 3}}
    assert linux("d", {"cpu_shares": 2}, hostIPC=True)["security_context"]["namespace_options"]["ipc"] == "NODE"
    assert linux("e", {"cpu_shares": 2}) is first


def test_and_so_do_their_sandboxes() -> None:
    first, second = (generate_pod_sandbox_config(pod(name), 0).linux for name in ("a", "b"))
    assert first is second
    assert generate_pod_sandbox_config(pod("c"), 0, cgroup_parent="/c").linux == {**first, "cgroup_parent": "/c"}
