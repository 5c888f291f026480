"""Updates of Services: what was allocated stays, unless the type gives it up."""

from __future__ import annotations

from lifecycle.apiserver.registry.core.service.strategy import STRATEGY
from lifecycle.apiserver.registry.rest.update import before_update


def test_a_service_sent_back_without_its_addresses_keeps_them() -> None:
    old = {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {},
        "spec": {
            "type": "NodePort",
            "clusterIP": "10.96.0.1",
            "clusterIPs": ["10.96.0.1"],
            "ports": [{"port": 80, "protocol": "TCP", "nodePort": 30080}],
        },
    }
    new = {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {},
        "spec": {"type": "NodePort", "ports": [{"port": 80, "protocol": "TCP"}]},
    }
    before_update(STRATEGY, new, old)
    assert new["spec"]["clusterIPs"] == ["10.96.0.1"]
    assert new["spec"]["ports"][0]["nodePort"] == 30080
    plain = {"apiVersion": "v1", "kind": "Service", "metadata": {}, "spec": {**old["spec"], "type": "ClusterIP"}}
    before_update(STRATEGY, plain, old)
    assert "nodePort" not in plain["spec"]["ports"][0]
