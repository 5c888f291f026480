"""A sync that remembers what it wrote before writes what one that remembers nothing would, and works less."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lifecycle.proxy.iptables import sync_proxy_rules as module
from lifecycle.proxy.iptables.config import ProxierConfig
from lifecycle.proxy.iptables.service_rules import ServiceRules
from lifecycle.proxy.iptables.sync_proxy_rules import sync_proxy_rules
from lifecycle.proxy.iptables.written_service import WrittenServices
from tests.proxy.shapes import NODE, both_maps, endpoint, endpoint_slice, everything, service

LOCAL = {"type": "NodePort", "node_port": 30001, "externalTrafficPolicy": "Local"}
IPS = st.lists(st.sampled_from(["10.244.1.5", "10.244.2.6", "10.244.2.7"]), unique=True)
STEPS = st.lists(
    st.tuples(
        st.integers(0, 3),
        st.one_of(
            st.tuples(st.just("service"), st.sampled_from([{}, LOCAL, {"internalTrafficPolicy": "Local"}])),
            st.tuples(st.just("endpoints"), IPS),
            st.tuples(st.just("no service"), st.none()),
            st.tuples(st.just("no endpoints"), st.none()),
        ),
        st.sampled_from(["partial", "partial", "full", "listed"]),
    ),
    max_size=12,
)


@given(STEPS)
def test_each_sync_writes_what_one_without_a_memory_writes(steps: list[Any]) -> None:
    services, endpoints = both_maps(
        [service("s0", "10.96.0.1")], [endpoint_slice("s0", [endpoint("10.244.1.5", "here")])], NODE
    )
    written: WrittenServices = {}

    kernel: set[str] = set()

    def same(**options: Any) -> None:
        told = (services, endpoints, NODE, ProxierConfig())
        expected = sync_proxy_rules(*told, **options)
        assert sync_proxy_rules(*told, written=written, **options) == expected
        kernel.update(line[1:].split()[0] for line in expected.nat_chains)

    same()
    for number, (what, said), kind in steps:
        name = f"s{number}"
        if what == "service":
            services.update(service(name, f"10.96.0.{number + 1}", **said))
        elif what == "endpoints":
            ends = [endpoint(ip, "here" if ip == "10.244.1.5" else "there") for ip in said]
            endpoints.update(endpoint_slice(name, ends))
        elif what == "no service":
            services.remove(service(name, ""))
        else:
            endpoints.remove(endpoint_slice(name, []))
        chains = kernel if kind == "listed" else ()
        same(changed=None if kind == "full" else {("ns", name)}, existing_nat_chains=tuple(chains))


def test_one_change_is_the_work_of_one_service(monkeypatch: pytest.MonkeyPatch) -> None:
    services, endpoints = both_maps(*everything(), NODE)
    worked_out: list[str] = []

    class Counted(ServiceRules):
        def __init__(self, service: Any, *arguments: Any, **options: Any) -> None:
            worked_out.append(service.name.name)
            super().__init__(service, *arguments, **options)

    monkeypatch.setattr(module, "ServiceRules", Counted)
    written: WrittenServices = {}
    told = (services, endpoints, NODE, ProxierConfig())
    sync_proxy_rules(*told, written=written)
    assert len(worked_out) == len(written) == len(services)
    worked_out.clear()
    endpoints.update(endpoint_slice("plain", [endpoint("10.244.1.9")]))
    sync_proxy_rules(*told, changed={("ns", "plain")}, written=written)
    assert worked_out == ["plain"]
    services.remove(service("gone", ""))
    sync_proxy_rules(*told, written=written)
    assert len(written) == len(services)  # what is gone is not remembered beyond the next full sync
