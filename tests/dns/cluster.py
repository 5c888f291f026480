"""A cluster small enough to know by heart, and DNS for it."""

from __future__ import annotations

from typing import Any

from lifecycle.api.http.wire import Object
from lifecycle.dns.answering import Answerer
from lifecycle.dns.kubernetes_plugin import KubernetesPlugin
from lifecycle.dns.service_index import ServiceIndex


def service(name: str, ip: str = "", *, namespace: str = "shop", **spec: Any) -> Object:
    ports = spec.pop("ports", [{"name": "http", "port": 80, "protocol": "TCP"}])
    addresses = {"clusterIP": ip, "clusterIPs": [ip]} if ip else {}
    return {
        "metadata": {"name": name, "namespace": namespace},
        "spec": {"type": "ClusterIP", "ports": ports, **addresses, **spec},
    }


def slice_of(name: str, *endpoints: Object, ports: list[Object] | None = None) -> Object:
    labels = {"kubernetes.io/service-name": name}
    found = [{"name": "http", "port": 8080, "protocol": "TCP"}] if ports is None else ports
    return {
        "metadata": {"name": f"{name}-1", "namespace": "shop", "labels": labels},
        "addressType": "IPv4",
        "endpoints": list(endpoints),
        "ports": found,
    }


SERVICES = [
    service("web", "10.96.0.5"),
    service("both", "10.96.0.6", clusterIPs=["10.96.0.6", "fd00::6"]),
    service("db", "None"),
    service("portless", "None", ports=[]),
    service("waiting", "None"),
    service("out", type="ExternalName", externalName="example.com"),
    service("in", type="ExternalName", externalName="WEB.shop.svc.cluster.local"),
    service("round", type="ExternalName", externalName="round.shop.svc.cluster.local"),
    service("nowhere", type="ExternalName", externalName="gone.shop.svc.cluster.local"),
    service("number", type="ExternalName", externalName="192.0.2.1"),
    service("kube-dns", "10.96.0.10", namespace="kube-system"),
]
SLICES = [
    slice_of("db", {"addresses": ["10.244.1.2"], "hostname": "db-0"}, {"addresses": ["10.244.1.3"]}),
    slice_of("portless", {"addresses": ["10.244.1.4"]}, ports=[]),
    slice_of("waiting", {"addresses": ["10.244.1.5"], "conditions": {"ready": False}}),
    slice_of("web", {"addresses": ["10.244.1.2"]}),
]


def answerer(modified: int = 1795226175) -> Answerer:
    index = ServiceIndex.of(SERVICES, SLICES, ["shop", "kube-system", "empty"], modified)
    return Answerer(KubernetesPlugin(index))
