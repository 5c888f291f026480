"""Hints narrow what goes to the whole cluster, and nothing else."""

from __future__ import annotations

from typing import Any

import pytest

from lifecycle.proxy.endpoints_map import Endpoint
from lifecycle.proxy.service_map import ServicePort, service_ports
from lifecycle.proxy.topology import LABEL_TOPOLOGY_ZONE, categorize_endpoints

NEAR, FAR = frozenset({"a"}), frozenset({"b"})
HERE_FOR_OTHERS = Endpoint("10.0.0.1", 80, is_local=True, zone_hints=FAR)
THERE_FOR_US = Endpoint("10.0.0.2", 80, zone_hints=NEAR)
GOING_HERE = Endpoint("10.0.0.3", 80, is_local=True, ready=False, terminating=True, zone_hints=FAR)


def _port(**spec: Any) -> ServicePort:
    [port] = service_ports(
        {
            "metadata": {"name": "web", "namespace": "shop"},
            "spec": {
                "type": "NodePort",
                "clusterIP": "10.96.0.5",
                "clusterIPs": ["10.96.0.5"],
                "ports": [{"port": 80, "protocol": "TCP", "nodePort": 30080}],
                **spec,
            },
            "status": {"loadBalancer": {}},
        },
        "IPv4",
    )
    return port


@pytest.mark.parametrize(
    ("spec", "ends", "cluster", "local"),
    [
        ({}, [HERE_FOR_OTHERS, THERE_FOR_US], [THERE_FOR_US], []),
        ({"externalTrafficPolicy": "Local"}, [HERE_FOR_OTHERS, THERE_FOR_US], [THERE_FOR_US], [HERE_FOR_OTHERS]),
        ({"externalTrafficPolicy": "Local"}, [GOING_HERE, THERE_FOR_US], [THERE_FOR_US], [GOING_HERE]),
        ({"externalTrafficPolicy": "Local"}, [THERE_FOR_US], [THERE_FOR_US], []),
        (
            # a pod that asks at an outer address is served by all
            {"externalTrafficPolicy": "Local", "internalTrafficPolicy": "Local"},
            [HERE_FOR_OTHERS, THERE_FOR_US],
            [THERE_FOR_US],
            [HERE_FOR_OTHERS],
        ),
        (
            {"type": "ClusterIP", "ports": [{"port": 80, "protocol": "TCP"}], "internalTrafficPolicy": "Local"},
            [HERE_FOR_OTHERS, THERE_FOR_US],
            [],
            [HERE_FOR_OTHERS],
        ),
    ],
)
def test_who_is_here_serves_local_traffic_whomever_it_is_hinted_for(
    spec: dict[str, Any], ends: list[Endpoint], cluster: list[Endpoint], local: list[Endpoint]
) -> None:
    found = categorize_endpoints(ends, _port(**spec), "here", {LABEL_TOPOLOGY_ZONE: "a"})
    assert (list(found.cluster), list(found.local)) == (cluster, local)
    assert set(found.reachable) == {*cluster, *local}


def test_those_of_both_kinds_are_told_in_the_order_of_their_addresses() -> None:
    """And each once, though it is of both."""
    ends = [Endpoint(f"10.0.0.{n}", 80, is_local=n % 2 == 0) for n in (3, 2, 9, 4, 1)]
    found = categorize_endpoints(ends, _port(externalTrafficPolicy="Local"), "n", {})
    assert [e.ip for e in found.cluster] == [e.ip for e in ends]
    assert [e.ip for e in found.local] == ["10.0.0.2", "10.0.0.4"]
    assert [e.ip for e in found.reachable] == sorted(e.ip for e in ends)
