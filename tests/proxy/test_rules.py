"""What the rules of a Service are, shape by shape, and how many."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lifecycle.proxy.iptables.chains import ServiceChains, endpoint_chain
from lifecycle.proxy.iptables.config import ProxierConfig
from lifecycle.proxy.iptables.tables import RestoreError, Tables
from lifecycle.proxy.service_port_name import ServicePortName
from tests.proxy.shapes import endpoint, endpoint_slice, everything, rules, service


def _cluster(services: int, endpoints: int, **spec: object) -> tuple[list[dict], list[dict]]:
    found = [service(f"svc{i}", f"10.0.{i // 250}.{i % 250 + 1}", port=80 + i, **spec) for i in range(services)]
    ends = [endpoint(f"172.16.{j // 250}.{j % 250 + 1}") for j in range(endpoints)]
    return found, [endpoint_slice(f"svc{i}", ends) for i in range(services)]


@given(services=st.integers(0, 12), endpoints=st.integers(0, 12))
def test_the_number_of_rules_grows_with_services_times_endpoints(services: int, endpoints: int) -> None:
    """Upstream's law (`number_generated_rules_test.go`), with the localnet guard that its fake proxier has switched off."""
    found = rules(*_cluster(services, endpoints))
    assert found.filter_rule_count == 4 + (services if not endpoints else 0)
    assert found.nat_rule_count == 5 + (services * (2 + 3 * endpoints) if endpoints else 0)


LOAD_BALANCER = {
    "type": "LoadBalancer",
    "externalIPs": ["1.2.3.4"],
    "loadBalancerSourceRanges": [" 1.2.3.4/28"],
    "node_port": 30000,
    "status": {"loadBalancer": {"ingress": [{"ip": "1.2.3.4"}]}},
}


@given(services=st.integers(0, 12), endpoints=st.integers(0, 12))
def test_the_number_of_rules_of_load_balancers(services: int, endpoints: int) -> None:
    """Per Service: four addresses to recognise, five rules of masquerading and source ranges, three for each endpoint."""
    config = ProxierConfig(localhost_node_ports=False)
    found = rules(*_cluster(services, endpoints, **LOAD_BALANCER), config=config)
    assert found.filter_rule_count == 3 + services * (1 if endpoints else 4)
    assert found.nat_rule_count == 5 + (services * (9 + 3 * endpoints) if endpoints else 0)


def test_the_names_of_chains_are_the_recorded_ones() -> None:
    dns = ServicePortName("kube-system", "kube-dns", "dns", "UDP")
    assert ServiceChains.of(dns).cluster == "KUBE-SVC-TCOU7JCQXEZGVUNU"
    assert endpoint_chain(dns, "10.244.0.2:53") == "KUBE-SEP-YIL6JZP7A3QYXJU2"
    assert max(map(len, ServiceChains.of(dns))) <= 28


@given(st.integers(1, 40))
def test_each_endpoint_gets_the_same_share(count: int) -> None:
    ends = [endpoint(f"10.244.3.{i + 1}") for i in range(count)]
    found = rules([service("s", "10.96.0.9")], [endpoint_slice("s", ends)])
    chain = ServiceChains.of(ServicePortName("ns", "s", "", "TCP")).cluster
    left, shares = 1.0, []
    for rule in found.nat_rules:
        if rule.startswith(f"-A {chain} ") and "KUBE-SEP" in rule:
            taken = float(rule.split("--probability ")[1].split()[0]) if "--probability" in rule else 1.0
            shares.append(left * taken)
            left *= 1 - taken
    assert len(shares) == count
    assert all(abs(share - 1 / count) < 1e-8 for share in shares)


def _lines(table: str, about: str) -> list[str]:
    tables = Tables()
    tables.restore(rules(*everything()).text())
    return [line for line in tables.save(table).splitlines() if about in line and line.startswith("-A")]


def test_without_endpoints_traffic_is_refused_wherever_it_comes_in() -> None:
    lines = _lines("filter", "ns/gone has no endpoints")
    assert [line.split()[1] for line in lines] == [
        "KUBE-EXTERNAL-SERVICES",
        "KUBE-EXTERNAL-SERVICES",
        "KUBE-SERVICES",
    ]
    assert all(line.endswith("-j REJECT --reject-with icmp-port-unreachable") for line in lines)
    assert _lines("nat", "ns/gone ") == []


def test_without_local_endpoints_external_traffic_is_dropped_and_pods_still_pass() -> None:
    dropped = _lines("filter", "ns/away has no local endpoints")
    assert len(dropped) == 2
    assert all(line.endswith("-j DROP") for line in dropped)
    chains = ServiceChains.of(ServicePortName("ns", "away", "", "TCP"))
    external = [line for line in _lines("nat", "") if line.startswith(f"-A {chains.external} ")]
    assert len(external) == 3  # pods, and the node itself; nothing for others
    assert external[0].startswith(f"-A {chains.external} -s 10.244.0.0/16 ")
    assert all("KUBE-SVL" not in line for line in external)


def test_internal_policy_local_uses_local_endpoints_only() -> None:
    chains = ServiceChains.of(ServicePortName("ns", "inside", "", "TCP"))
    jumps = [line for line in _lines("nat", chains.local) if "KUBE-SEP" in line]
    assert len(jumps) == 1
    assert "10.244.1.5:8080" in jumps[0]
    assert len(_lines("filter", "ns/inside-away has no local endpoints")) == 1


def test_source_ranges_fence_a_load_balancer() -> None:
    chains = ServiceChains.of(ServicePortName("ns", "fenced", "", "TCP"))
    lines = [line for line in _lines("nat", "") if line.startswith(f"-A {chains.firewall} ")]
    assert ["198.51.100.0/24" in lines[0], "172.19.0.0/16" in lines[1]] == [True, True]
    assert "-s 203.0.113.9/32" in lines[2]  # the node is in a range: its own packets come from the balancer's address
    assert "-j" not in lines[3].split()
    assert _lines("filter", f"traffic not accepted by {chains.firewall}")[0].endswith("-j DROP")


def test_a_local_load_balancer_opens_its_health_check_port() -> None:
    (line,) = _lines("filter", "health check node port")
    assert "--dport 30099 -j ACCEPT" in line


def test_a_partial_sync_leaves_out_what_did_not_change() -> None:
    services, slices = everything()
    whole = rules(services, slices)
    part = rules(services, slices, changed={("ns", "plain")})
    assert part.nat_rule_count == whole.nat_rule_count
    assert part.filter_rules == whole.filter_rules
    own = {line for line in part.nat_chains if line.startswith((":KUBE-SVC", ":KUBE-SEP", ":KUBE-EXT"))}
    assert len(own) == 3  # the chain of `plain` and its two endpoints
    tables = Tables()
    tables.restore(whole.text())
    before = tables.save()
    tables.restore(part.text())
    assert tables.save() == before


def test_stale_chains_are_emptied_and_removed() -> None:
    services, slices = everything()
    tables = Tables()
    tables.restore(rules(services, slices).text())
    tables.restore(rules([], [], existing_nat_chains=tables.chains("nat")).text())
    empty = Tables()
    empty.restore(rules([], []).text())
    assert tables.save() == empty.save()


def test_a_large_cluster_goes_without_comments_at_its_endpoints() -> None:
    config = ProxierConfig(large_cluster_endpoints=3)
    found = rules(*_cluster(2, 2), config=config)
    assert not any("->" in rule for rule in found.nat_rules)
    assert found.nat_rule_count == 5 + 2 * (2 + 3 * 2)


def test_a_jump_to_nowhere_is_refused_and_changes_nothing() -> None:
    tables = Tables()
    with pytest.raises(RestoreError, match=r"line 4 failed: COMMIT: no chain KUBE-NOWHERE$"):
        tables.restore("*nat\n:A - [0:0]\n-A A -j KUBE-NOWHERE\nCOMMIT\n")
    assert tables.save() == ""
