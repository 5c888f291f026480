"""`lifecycle run dns` against our own API server."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import dns.message
import dns.query
import dns.rcode
import pytest
import yaml

from lifecycle.api.resources import resource
from lifecycle.cluster.background import BackgroundCluster
from lifecycle.cluster.cluster_config import ClusterConfig
from tests.cli.run.lone_component import PATIENCE, LoneComponent


@pytest.fixture(scope="module")
def cluster() -> Iterator[BackgroundCluster]:
    with BackgroundCluster(
        ClusterConfig(without=("scheduler", "controllers", "kubelet", "proxy", "dns"))
    ) as background:
        yield background


@pytest.fixture
def kubeconfig(cluster: BackgroundCluster, tmp_path: Path) -> Path:
    path = tmp_path / "kubeconfig"
    path.write_text(yaml.safe_dump(cluster.kubeconfig))
    return path


@pytest.mark.parametrize("ask", [dns.query.udp, dns.query.tcp])
def test_it_answers_for_services_and_hears_of_new_ones(cluster: BackgroundCluster, kubeconfig: Path, ask) -> None:  # type: ignore[no-untyped-def]
    assert cluster.cluster is not None
    client = cluster.cluster.client("kubectl")
    words = ("dns", "--kubeconfig", kubeconfig, "--port", "0", "--cluster-domain", "example.org")
    with LoneComponent(*words, program=ask is dns.query.udp) as lone:
        port = int(lone.hear(r"^dns: 127\.0\.0\.1:(\d+) "))

        def addresses(name: str) -> list[str]:
            query = dns.message.make_query(name, "A")
            answer = ask(query, "127.0.0.1", port=port, timeout=PATIENCE)
            return [row.address for rrset in answer.answer for row in rrset]

        assert addresses("kubernetes.default.svc.example.org.") == ["10.96.0.1"]
        assert addresses("kubernetes.default.svc.cluster.local.") == []
        name = f"web-{ask.__name__}"
        spec = {"clusterIP": "10.96.7.7" if name == "web-tcp" else "10.96.7.8", "ports": [{"port": 80}]}
        cluster.run(client.create(resource("services"), {"metadata": {"name": name}, "spec": spec}, "default"))
        for _ in range(1000):  # it hears of it in its own time
            if found := addresses(f"{name}.default.svc.example.org."):
                break
        assert found == [spec["clusterIP"]]
        assert lone.get("/readyz?verbose")[1] == "[+]ping ok\n[+]kubernetes ok\nreadyz check passed\n"
        text = lone.get("/metrics")[1]
        labels = f'server="dns://127.0.0.1:{port}",zone="example.org."'
        assert f'coredns_dns_responses_total{{rcode="SERVFAIL",{labels}}} 1\n' in text
        assert f'coredns_dns_responses_total{{rcode="NOERROR",{labels}}}' in text
        assert lone.stop() == 0
    assert [line for line in lone.said if not line.startswith("dns: ")] == []
