"""Whole bodies: a container with everything and with nothing, a sandbox of its own and on the host's network."""

from __future__ import annotations

from typing import Any

import pytest

from lifecycle.api import fast_json
from lifecycle.cri.apis.container import ContainerConfig, ContainerMetadata
from lifecycle.cri.apis.pod_sandbox import PodSandboxConfig, PodSandboxMetadata
from lifecycle.historical.kubelet.dockershim.docker_container import docker_create_config
from lifecycle.historical.kubelet.dockershim.docker_sandbox import checkpoint, dockershim_run_pod_sandbox
from lifecycle.historical.kubelet.dockershim.naming import make_container_name, make_sandbox_name, parse_name

METADATA = PodSandboxMetadata("web", "u-1", "ns", 3)
OURS = {
    "io.kubernetes.docker.type": "container", "io.kubernetes.container.logpath": "/logs/", "io.kubernetes.sandbox.id": "s",
}  # fmt: skip


def test_a_container_of_which_nothing_is_said() -> None:
    assert docker_create_config(ContainerConfig(ContainerMetadata("c", 0), "i"), "s", "/logs") == {
        "Entrypoint": [], "Cmd": [], "Env": [], "Image": "i", "WorkingDir": "", "Labels": OURS, "OpenStdin": False, "StdinOnce": False,
        "Tty": False, "Healthcheck": {"Test": ["NONE"]},
        "HostConfig": {
            "Binds": [], "NetworkMode": "container:s", "IpcMode": "container:s", "CpuShares": 0, "CpuPeriod": 0, "CpuQuota": 0,
            "Memory": 0, "OomScoreAdj": 0,
        },
    }  # fmt: skip


def test_a_container_of_which_everything_is_said() -> None:
    mounts: Any = [
        {"host_path": "/h", "container_path": "/c"},
        {"host_path": "/r", "container_path": "/o", "readonly": True},
    ]
    resources: Any = {
        "cpu_shares": 1, "cpu_period": 2, "cpu_quota": 3, "memory_limit_in_bytes": 4, "oom_score_adj": 5,
    }  # fmt: skip
    config = ContainerConfig(
        ContainerMetadata("c", 0), "i", command=["a"], args=["b"], working_dir="/w", envs=[("K", "v")], mounts=mounts,
        stdin=True, stdin_once=True, tty=True, log_path="c.log", linux={"resources": resources},
    )  # fmt: skip
    assert docker_create_config(config, "s", "/logs") == {
        "Entrypoint": ["a"], "Cmd": ["b"], "Env": ["K=v"], "Image": "i", "WorkingDir": "/w",
        "Labels": {**OURS, "io.kubernetes.container.logpath": "/logs/c.log"}, "OpenStdin": True, "StdinOnce": True, "Tty": True,
        "Healthcheck": {"Test": ["NONE"]},
        "HostConfig": {
            "Binds": ["/h:/c", "/r:/o:ro"], "NetworkMode": "container:s", "IpcMode": "container:s", "CpuShares": 1, "CpuPeriod": 2,
            "CpuQuota": 3, "Memory": 4, "OomScoreAdj": 5,
        },
    }  # fmt: skip


@pytest.mark.parametrize("host_network", [False, True])
def test_the_steps_of_a_sandbox_whole(host_network: bool) -> None:
    config = PodSandboxConfig(
        METADATA, hostname="h", labels={"a": "b"}, host_network=host_network, linux={"cgroup_parent": "/p"}
    )
    calls = [(call.what, call.details) for call in dockershim_run_pod_sandbox(config)]
    assert calls == [
        ("pull image if it is not here", "k8s.gcr.io/pause:3.2"),
        (
            "POST /containers/create?name=k8s_POD_web_ns_u-1_3",
            {
                "Image": "k8s.gcr.io/pause:3.2", "Hostname": "h", "Labels": {"a": "b", "io.kubernetes.docker.type": "podsandbox"},
                "HostConfig": {
                    "NetworkMode": "host" if host_network else "none", "CgroupParent": "/p", "OomScoreAdj": -998,
                },
            },
        ),
        ("write /var/lib/dockershim/sandbox/ID", checkpoint(config)), ("POST /containers/ID/start", None),
        *([] if host_network else [("run network plugin", {"name": "web", "namespace": "ns"})]),
    ]  # fmt: skip
    assert fast_json.loads(checkpoint(config)) == {
        "version": "v1", "name": "web", "namespace": "ns", "data": {"host_network": True} if host_network else {},
    }  # fmt: skip
    bare = dockershim_run_pod_sandbox(PodSandboxConfig(METADATA), "other")
    assert bare[0].details == "other"
    body: Any = bare[1].details
    assert (body["Image"], body["HostConfig"]["CgroupParent"]) == ("other", "")


def test_ports_of_the_checkpoint() -> None:
    ports: Any = [{"container_port": 53, "host_port": 1053, "protocol": "UDP"}, {"container_port": 1, "host_port": 0}]
    assert fast_json.loads(checkpoint(PodSandboxConfig(METADATA, port_mappings=ports)))["data"] == {
        "port_mappings": [{"protocol": "udp", "container_port": 53, "host_port": 1053}]
    }


@pytest.mark.parametrize(
    ("name", "parsed"),
    [
        ("k8s_c_web_ns_u_3", ("c", "web", "ns", "u", 3)), ("/k8s_POD_web_ns_u_0", ("POD", "web", "ns", "u", 0)),
        ("k8s_c_web_ns_u_3_a1b2", ("c", "web", "ns", "u", 3)), ("k8s_c_web_ns_u", None), ("k8s_c_web_ns_u_3_a_b", None),
        ("k9s_c_web_ns_u_3", None), ("", None),
    ],
)  # fmt: skip
def test_the_parts_of_a_name(name: str, parsed: Any) -> None:
    if parsed is not None:
        assert parse_name(name) == parsed
        return
    with pytest.raises(ValueError, match=r'^failed to parse the container name: ".*"$') as refused:
        parse_name(name)
    assert str(refused.value) == f'failed to parse the container name: "{name}"'


def test_names_of_a_sandbox_and_its_containers() -> None:
    sandbox = PodSandboxConfig(METADATA)
    assert make_sandbox_name(sandbox) == "k8s_POD_web_ns_u-1_3"
    assert make_container_name(sandbox, ContainerConfig(ContainerMetadata("c", 7), "i")) == "k8s_c_web_ns_u-1_7"
