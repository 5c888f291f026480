"""What a pod asks of its network, on the way from the kubelet's words to the plugins'."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from lifecycle.api.loop.clock import run_virtual
from lifecycle.cluster.linux.pod_network import NodePodNetwork, described
from lifecycle.cni.errors import CNIError
from lifecycle.cni.pod_network import PodNetwork
from lifecycle.kubelet.kuberuntime.container_config import generate_pod_sandbox_config


def sandbox(*ports: dict[str, Any], **told: Any) -> Any:
    pod = {
        "metadata": {"name": "p", "namespace": "ns", "uid": "u", "annotations": {"c": "d"}},
        "spec": {"containers": [{"name": "c", "image": "i", "ports": list(ports)}]},
    }
    return generate_pod_sandbox_config(pod, 0, **told)


def test_a_port_of_the_node_is_lent_at_the_address_and_for_the_protocol_that_the_pod_named() -> None:
    asked = sandbox(
        {"containerPort": 80, "hostPort": 8080},
        {"containerPort": 53, "hostPort": 5353, "protocol": "UDP", "hostIP": "10.0.0.1"},
    )
    assert described("s", asked).port_mappings == [
        {"hostPort": 8080, "containerPort": 80, "protocol": "TCP", "hostIP": ""},
        {"hostPort": 5353, "containerPort": 53, "protocol": "UDP", "hostIP": "10.0.0.1"},
    ]


@pytest.mark.parametrize(
    ("dns", "told"),
    [
        ({}, {}),
        ({"servers": ["10.96.0.10"], "searches": [], "options": []}, {"Servers": ["10.96.0.10"]}),
        (
            {"servers": ["1.1.1.1"], "searches": ["a", "b"], "options": ["ndots:5"]},
            {"Servers": ["1.1.1.1"], "Searches": ["a", "b"], "Options": ["ndots:5"]},
        ),
    ],
)
def test_of_dns_a_plugin_hears_what_there_is(dns: dict[str, Any], told: dict[str, Any]) -> None:
    assert described("s", sandbox(dns_config=dns)).dns == told


def test_a_plugin_hears_whose_sandbox_it_is() -> None:
    told = described("s", sandbox(cgroup_parent="/kubepods/x"))
    assert (told.id, told.name, told.namespace, told.uid) == ("s", "p", "ns", "u")
    assert (told.annotations, told.cgroup_path) == ({"c": "d"}, "/kubepods/x")
    assert described("s", sandbox()).cgroup_path == ""


def test_what_a_plugin_refuses_is_said_once_and_a_node_without_a_configuration_says_why(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def refuses(network: PodNetwork, *_: Any) -> None:
        raise CNIError('failed to setup network for sandbox "s": no address left')

    monkeypatch.setattr(PodNetwork, "set_up_pod", refuses)
    monkeypatch.setattr(PodNetwork, "tear_down_pod", refuses)

    async def main() -> None:
        network = NodePodNetwork(tmp_path, tmp_path, "/proc/1/ns/net")
        assert await network.ready() != ""
        with pytest.raises(RuntimeError, match=r"^no address left$"):
            await network.add("s", "/ns", sandbox())
        with pytest.raises(RuntimeError, match=r"^failed to setup .* no address left$"):
            await network.remove("s", "/ns", sandbox())

    run_virtual(main())
