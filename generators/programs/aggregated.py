"""What an API server says of added servers that are not there."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

from generators.programs.answer import Answer
from generators.programs.connection import Connection
from generators.programs.control_plane import ControlPlane
from lifecycle.agreements.apiserver.aggregated_servers import (
    API_SERVICES,
    condition,
    listed,
    questions,
    told,
)

WHO = "kube-apiserver v1.36.2"
Object = dict[str, Any]
SERVICES = "/api/v1/namespaces/default/services"
SLICES = "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices"
SETTLED = 3.0


def service(name: str, port: int = 443, **spec: Any) -> tuple[str, Object]:
    """One with a port named https."""
    ports = [{"name": "https", "port": port}]
    meta = {"name": name}
    body = {"apiVersion": "v1", "kind": "Service", "metadata": meta}
    return SERVICES, {**body, "spec": {"ports": ports, **spec}}


def slices(name: str, *endpoints: Object, port: str = "https") -> tuple[str, Object]:
    """One of a Service's."""
    return SLICES, {
        "apiVersion": "discovery.k8s.io/v1",
        "kind": "EndpointSlice",
        "metadata": {
            "name": f"{name}-1",
            "labels": {"kubernetes.io/service-name": name},
        },
        "addressType": "IPv4",
        "ports": [{"name": port, "port": 8443, "protocol": "TCP"}],
        "endpoints": list(endpoints),
    }


ADDRESS = {"addresses": ["198.51.100.40"]}
SLEEPS = {**ADDRESS, "conditions": {"ready": False}}
ENDS = {**ADDRESS, "conditions": {"ready": False, "serving": True, "terminating": True}}
SERVERS: tuple[tuple[str, tuple[tuple[str, Object], ...]], ...] = (
    ("no-service", ()),
    ("another-port", (service("another-port", 8443),)),
    ("no-slices", (service("no-slices"),)),
    ("an-empty-slice", (service("an-empty-slice"), slices("an-empty-slice"))),
    ("not-ready", (service("not-ready"), slices("not-ready", SLEEPS))),
    ("on-its-way-out", (service("on-its-way-out"), slices("on-its-way-out", ENDS))),
    (
        "a-port-of-another-name",
        (
            service("a-port-of-another-name"),
            slices("a-port-of-another-name", ADDRESS, port="http"),
        ),
    ),
    (
        "no-cluster-address",
        (service("no-cluster-address", clusterIP="None"),),
    ),
)
"""What is there of each, beside its APIService."""


def answers(plane: ControlPlane) -> Iterator[Answer]:
    """All of it, of an API server with a part of etcd for itself."""
    flags = ("--etcd-prefix=/aggregated", "--enable-aggregator-routing=true")
    admin = plane.api_server("aggregated", *flags).admin
    for name, objects in SERVERS:
        group = f"{name}.example"
        api_service = {
            "apiVersion": "apiregistration.k8s.io/v1",
            "kind": "APIService",
            "metadata": {"name": f"v1.{group}"},
            "spec": {
                "group": group,
                "version": "v1",
                "groupPriorityMinimum": 1000,
                "versionPriority": 10,
                "insecureSkipTLSVerify": True,
                "service": {"name": name, "namespace": "default"},
            },
        }
        everything = [*objects, (API_SERVICES, api_service)]
        for path, obj in everything:
            made = admin("POST", path, obj)
            if made.status != 201:
                raise ValueError(f"{name}: {made.message}")
        time.sleep(SETTLED)
        yield Answer(
            f"aggregated/{name}",
            WHO,
            "an APIService whose server cannot be reached: its condition, answers about"
            " its group, its place in the list of groups, and what is left without it",
            {
                "objects": everything,
                "group": group,
                "name": f"v1.{group}",
                "answers": _answers(admin, group, f"v1.{group}"),
            },
        )


def _answers(admin: Connection, group: str, name: str) -> Object:
    def ask(path: str, method: str = "GET") -> tuple[int, Any]:
        reply = admin(method, path)
        return reply.status, reply.body

    seen: Object = {"condition": condition(ask(f"{API_SERVICES}/{name}"))}
    for what, path in questions(group).items():
        seen[what] = told(ask(path))
    seen["listed"] = listed(group, ask("/apis"))
    ask(f"{API_SERVICES}/{name}", "DELETE")
    time.sleep(SETTLED)
    seen["gone"] = told(ask(f"/apis/{group}/v1/things"))
    return seen
