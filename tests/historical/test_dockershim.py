"""What Docker was told instead of what CRI says."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lifecycle.api import fast_json
from lifecycle.cri.apis.container import ContainerConfig, ContainerMetadata
from lifecycle.cri.apis.pod_sandbox import PodSandboxConfig, PodSandboxMetadata
from lifecycle.historical.kubelet.dockershim.docker_container import docker_create_config
from lifecycle.historical.kubelet.dockershim.docker_sandbox import checkpoint, dockershim_run_pod_sandbox
from lifecycle.historical.kubelet.dockershim.naming import make_container_name, make_sandbox_name, parse_name

METADATA = PodSandboxMetadata("web", "u-1", "default", 0)


@given(st.from_regex(r"[a-z0-9-]{1,20}", fullmatch=True), st.integers(0, 1000))
def test_docker_names_can_be_read_back(name: str, attempt: int) -> None:
    sandbox = PodSandboxConfig(PodSandboxMetadata(name, "u-1", "default", attempt))
    assert parse_name(make_sandbox_name(sandbox)) == ("POD", name, "default", "u-1", attempt)
    container = ContainerConfig(ContainerMetadata("c", attempt), "image")
    assert parse_name("/" + make_container_name(sandbox, container)) == ("c", name, "default", "u-1", attempt)


@pytest.mark.parametrize("name", ["web", "k8s_POD_web_default_u-1", "other_POD_web_default_u-1_0"])
def test_names_that_kubernetes_did_not_give_are_refused(name: str) -> None:
    with pytest.raises(ValueError, match=r'^failed to parse the container name: ".*"$'):
        parse_name(name)


def test_a_sandbox_is_checkpointed_before_it_starts_and_networked_after() -> None:
    steps = [call.what.partition("?")[0] for call in dockershim_run_pod_sandbox(PodSandboxConfig(METADATA))]
    assert steps == [
        "pull image if it is not here",
        "POST /containers/create",
        "write /var/lib/dockershim/sandbox/ID",
        "POST /containers/ID/start",
        "run network plugin",
    ]


def test_on_the_hosts_network_no_plugin_runs_and_the_checkpoint_says_so() -> None:
    config = PodSandboxConfig(METADATA, host_network=True)
    assert [call.what for call in dockershim_run_pod_sandbox(config)][-1] == "POST /containers/ID/start"
    assert fast_json.loads(checkpoint(config))["data"] == {"host_network": True}


def test_the_checkpoint_keeps_host_ports_and_no_others() -> None:
    ports: Any = ({"container_port": 80, "host_port": 8080}, {"container_port": 53, "protocol": "UDP"})
    kept = fast_json.loads(checkpoint(PodSandboxConfig(METADATA, port_mappings=ports)))["data"]
    assert kept == {"port_mappings": [{"protocol": "tcp", "container_port": 80, "host_port": 8080}]}


def test_three_labels_and_prefixed_annotations_make_up_for_what_docker_does_not_know() -> None:
    config = ContainerConfig(
        ContainerMetadata("c", 0), "image", labels={"a": "1"}, annotations={"b": "2"}, log_path="c/0.log"
    )
    body = docker_create_config(config, "sandbox-id", "/var/log/pods/x")
    assert body["Labels"] == {
        "a": "1",
        "annotation.b": "2",
        "io.kubernetes.docker.type": "container",
        "io.kubernetes.container.logpath": "/var/log/pods/x/c/0.log",
        "io.kubernetes.sandbox.id": "sandbox-id",
    }
    assert body["HostConfig"]["NetworkMode"] == body["HostConfig"]["IpcMode"] == "container:sandbox-id"
