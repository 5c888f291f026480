"""A Service whose endpoints all go: who is served to the end, who is refused, and who is remembered."""

from __future__ import annotations

from typing import Any

import pytest

from lifecycle.api.http.wire import Object
from lifecycle.proxy.endpoints_map import Endpoint
from lifecycle.proxy.iptables.config import ProxierConfig
from lifecycle.proxy.iptables.restore_input import RestoreInput
from lifecycle.proxy.iptables.service_rules import ServiceRules
from lifecycle.proxy.service_map import ServicePort, service_ports
from lifecycle.proxy.topology import Categories, categorize_endpoints

HERE, THERE = Endpoint("10.0.0.1", 80, is_local=True), Endpoint("10.0.0.2", 80)
GOING_HERE = Endpoint("10.0.0.3", 80, is_local=True, ready=False, serving=True, terminating=True)
GOING_THERE = Endpoint("10.0.0.4", 80, ready=False, serving=True, terminating=True)
GONE_THERE = Endpoint("10.0.0.5", 80, ready=False, serving=False, terminating=True)
ILL_THERE = Endpoint("10.0.0.6", 80, ready=False, serving=False, terminating=False)
LOCAL = {"externalTrafficPolicy": "Local"}
INSIDE = {"type": "ClusterIP", "internalTrafficPolicy": "Local"}
BOTH = {**LOCAL, "internalTrafficPolicy": "Local"}


def port(**spec: Any) -> ServicePort:
    ports: Object = {"port": 80, "protocol": "TCP"}
    if spec.get("type", "NodePort") == "NodePort":
        ports["nodePort"] = 30080
    ip = "10.96.0.5"
    body = {"type": "NodePort", "clusterIP": ip, "clusterIPs": [ip], "ports": [ports], **spec}
    meta = {"name": "web", "namespace": "shop"}
    [found] = service_ports({"metadata": meta, "spec": body, "status": {"loadBalancer": {}}}, "IPv4")
    return found


def rules(service: ServicePort, endpoints: Categories) -> RestoreInput:
    """Those of one port."""
    config, out = ProxierConfig(cluster_cidr="10.0.0.0/16"), RestoreInput()
    writer = ServiceRules(service, endpoints, config=config, node_ip="172.19.0.2", localhost_counter=False)
    writer.write_captures(out)
    writer.write_own_chains(out)
    return out


@pytest.mark.parametrize("spec", [{}, LOCAL, INSIDE, BOTH], ids=["cluster", "outside", "inside", "both"])
@pytest.mark.parametrize(
    ("ends", "served"),
    [
        ([], False),
        ([THERE], True),
        ([HERE], True),
        ([GOING_THERE], True),
        ([GOING_HERE], True),
        ([GOING_THERE, ILL_THERE], True),
        ([GONE_THERE], False),
        ([ILL_THERE], False),
        ([GONE_THERE, ILL_THERE], False),
    ],
)
def test_a_service_has_somebody_as_long_as_anybody_anywhere_serves(
    spec: dict[str, Any], ends: list[Endpoint], served: bool
) -> None:
    assert categorize_endpoints(ends, port(**spec), "here", {}).has_any is served


@pytest.mark.parametrize(
    ("spec", "ends", "refusals"),
    [
        ({}, [GOING_THERE], []),
        ({}, [GONE_THERE], ["REJECT", "REJECT"]),
        # nobody here: a packet from outside is lost, so that the balancer looks elsewhere; inside it is served
        (LOCAL, [GOING_THERE], ["DROP"]),
        (LOCAL, [THERE], ["DROP"]),
        (LOCAL, [GOING_HERE], []),
        (LOCAL, [GONE_THERE], ["REJECT", "REJECT"]),
        (INSIDE, [GOING_THERE], ["DROP"]),
        (INSIDE, [GOING_HERE, THERE], []),
        (INSIDE, [ILL_THERE], ["REJECT"]),
        (BOTH, [GOING_THERE], ["DROP", "DROP"]),
    ],
)
def test_who_asks_where_nobody_is_here_is_told_nothing_and_where_nobody_is_at_all_is_refused(
    spec: dict[str, Any], ends: list[Endpoint], refusals: list[str]
) -> None:
    service = port(**spec)
    out = rules(service, categorize_endpoints(ends, service, "here", {}))
    assert [line.rpartition(" ")[2] for line in out.filter_rules] == refusals


STICKY = {"sessionAffinity": "ClientIP", "sessionAffinityConfig": {"clientIP": {"timeoutSeconds": 60}}}


@pytest.mark.parametrize("sticky", [True, False])
@pytest.mark.parametrize("spec", [{}, LOCAL, INSIDE, BOTH], ids=["cluster", "outside", "inside", "both"])
def test_who_is_to_be_found_again_is_written_down_under_every_policy(spec: dict[str, Any], sticky: bool) -> None:
    service = port(**spec, **(STICKY if sticky else {}))
    out = rules(service, categorize_endpoints([HERE, GOING_HERE], service, "here", {}))
    written = [line for line in out.nat_rules if "DNAT" in line]
    looked_up = [line for line in out.nat_rules if "--rcheck --seconds 60 --reap" in line]
    assert len(written) == 1
    assert ["--set" in line for line in written] == [sticky]
    names = {line.partition("--name ")[2].split()[0] for line in [*written, *looked_up]} if sticky else set()
    assert len(names) == int(sticky), "what is written down is what is looked up"
    chains = {line.split()[1] for line in looked_up}
    assert len(chains) == (0 if not sticky else 2 if spec is LOCAL or spec is BOTH else 1)
