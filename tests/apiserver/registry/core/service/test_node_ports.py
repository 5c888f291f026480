"""Ports on every node: one number, one Service; TCP and UDP of the same port share it."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest

from lifecycle.api.http.wire import Object
from lifecycle.api.resources import resource
from lifecycle.api.status import StatusError
from lifecycle.apiserver.registry.core.service.node_ports import (
    NODE_PORTS,
    PortOperation,
    PortRefusedError,
    ports_offset,
)
from lifecycle.client.rest import Client
from lifecycle.cluster.rehearsal import RehearsedCluster, rehearse

SERVICES = resource("services")
DNS = [{"name": "udp", "port": 53, "protocol": "UDP"}, {"name": "tcp", "port": 53, "protocol": "TCP"}]
RANGE = "provided port is not in the valid range. The range of valid ports is 30000-32767"


def played(scene: Any) -> Any:
    return rehearse(scene, without=("kubelet", "scheduler", "controllers"))


def service(name: str, kind: str = "NodePort", **spec: Any) -> Object:
    return {"metadata": {"name": name}, "spec": {"type": kind, "ports": [{"port": 80}], **spec}}


async def refusal(client: Client, obj: Object) -> tuple[int, str]:
    with pytest.raises(StatusError) as refused:
        await client.create(SERVICES, obj, "default")
    return refused.value.code, refused.value.message


def numbers(made: Object) -> list[int | None]:
    return [port.get("nodePort") for port in made["spec"]["ports"]]


def test_two_protocols_of_a_port_share_a_node_port() -> None:
    async def scene(cluster: RehearsedCluster) -> tuple[list[int | None], ...]:
        client = cluster.client("me")
        free = await client.create(SERVICES, service("free", ports=DNS), "default")
        wished = [DNS[0], {**DNS[1], "nodePort": 30053}]
        fixed = await client.create(SERVICES, service("fixed", ports=wished), "default")
        apart = [{**DNS[0], "nodePort": 30054}, {**DNS[1], "nodePort": 30055}]
        return (
            numbers(free),
            numbers(fixed),
            numbers(await client.create(SERVICES, service("apart", ports=apart), "default")),
        )

    free, fixed, apart = played(scene)
    assert free[0] == free[1]
    assert (fixed, apart) == ([30053, 30053], [30054, 30055])


def test_random_ports_leave_the_first_band_to_fixed_ones() -> None:
    border = ports_offset(NODE_PORTS)
    assert border == 86
    operation = PortOperation((), Random(7), dry_run=False)
    upper = [operation.allocate_next() for _ in range(len(NODE_PORTS) - border)]
    assert sorted(upper) == list(NODE_PORTS[border:])
    assert sorted(operation.allocate_next() for _ in range(border)) == list(NODE_PORTS[:border])
    with pytest.raises(PortRefusedError, match=r"range is full$"):
        operation.allocate_next()


def test_ports_that_cannot_be_had() -> None:
    async def scene(cluster: RehearsedCluster) -> list[tuple[int, str]]:
        client = cluster.client("me")
        await client.create(SERVICES, service("first", ports=[{"port": 80, "nodePort": 30080}]), "default")
        taken = [{"port": 80, "nodePort": 30081}, {"port": 81, "nodePort": 30080}]
        taken = [{**port, "name": f"p{port['port']}"} for port in taken]
        return [
            await refusal(client, service("low", ports=[{"port": 80, "nodePort": 29999}])),
            await refusal(client, service("taken", ports=taken)),
            await refusal(
                client, service("taken", "LoadBalancer", externalTrafficPolicy="Local", healthCheckNodePort=30080)
            ),
        ]

    where = "spec.ports[{}].nodePort: Invalid value: {}: {}"
    assert played(scene) == [
        (422, f'Service "low" is invalid: {where.format(0, 29999, RANGE)}'),
        (422, f'Service "taken" is invalid: {where.format(1, 30080, "provided port is already allocated")}'),
        (
            500,
            "Internal error occurred: failed to allocate requested HealthCheck NodePort 30080: provided port is already allocated",
        ),
    ]


def test_a_local_load_balancer_gets_a_port_for_its_health_check_and_gives_it_back() -> None:
    async def scene(cluster: RehearsedCluster) -> list[Any]:
        client = cluster.client("me")
        made = await client.create(SERVICES, service("web", "LoadBalancer", externalTrafficPolicy="Local"), "default")
        port = made["spec"]["healthCheckNodePort"]
        seen = [port in NODE_PORTS, port != made["spec"]["ports"][0]["nodePort"]]
        seen.append((await refusal(client, service("other", ports=[{"port": 80, "nodePort": port}])))[0])
        sent = service("web", "LoadBalancer", externalTrafficPolicy="Local")
        seen.append(
            (await client.update(SERVICES, {**sent, "metadata": made["metadata"]}))["spec"]["healthCheckNodePort"]
            == port
        )
        patched = await client.patch(SERVICES, "web", "default", {"spec": {"externalTrafficPolicy": "Cluster"}})
        seen.append("healthCheckNodePort" in patched["spec"])
        other = await client.create(SERVICES, service("other", ports=[{"port": 80, "nodePort": port}]), "default")
        return [*seen, numbers(other) == [port]]

    assert played(scene) == [True, True, 422, True, False, True]


def test_a_load_balancer_may_do_without() -> None:
    """What it has already it keeps; what it wishes for it gets."""

    async def scene(cluster: RehearsedCluster) -> list[list[int | None]]:
        client = cluster.client("me")
        ports = [{"name": "a", "port": 80}, {"name": "b", "port": 81, "nodePort": 30081}]
        without = service("without", "LoadBalancer", allocateLoadBalancerNodePorts=False, ports=ports)
        made = [numbers(await client.create(SERVICES, without, "default"))]
        had = await client.create(SERVICES, service("had", "LoadBalancer"), "default")
        patch = {"spec": {"allocateLoadBalancerNodePorts": False}}
        kept = await client.patch(SERVICES, "had", "default", patch)
        return [*made, numbers(had) == numbers(kept)]

    assert played(scene) == [[None, 30081], True]


def test_a_node_port_stays_with_the_name_of_its_port() -> None:
    """A manifest without node ports, sent again with another port number, asks for nothing new."""

    async def scene(cluster: RehearsedCluster) -> tuple[list[int | None], list[int | None]]:
        client = cluster.client("me")
        made = await client.create(SERVICES, service("web"), "default")
        again = {**service("web", ports=[{"port": 8080}]), "metadata": made["metadata"]}
        return numbers(made), numbers(await client.update(SERVICES, again))

    before, after = played(scene)
    assert before == after


def test_a_dry_run_takes_nothing_and_checks_only_who_holds_a_port() -> None:
    async def scene(cluster: RehearsedCluster) -> list[int | None]:
        client = cluster.client("me")
        ports = [{"name": "a", "port": 80}, {"name": "b", "port": 81}, {"name": "c", "port": 82, "nodePort": 99}]
        path, query = SERVICES.path("default"), {"dryRun": "All"}
        answer = await client.request("POST", path, obj=service("dry", ports=ports), query=query)
        assert answer.obj is not None
        return numbers(answer.obj)

    assert played(scene) == [32769, 32770, 99]


def test_leaving_the_balancer_clears_what_the_cloud_said() -> None:
    async def scene(cluster: RehearsedCluster) -> Object:
        client = cluster.client("me")
        made = await client.create(SERVICES, service("web", "LoadBalancer"), "default")
        status = {"loadBalancer": {"ingress": [{"ip": "203.0.113.7"}]}}
        await client.update(SERVICES, {**made, "status": status}, subresource="status")
        return await client.patch(SERVICES, "web", "default", {"spec": {"type": "NodePort"}})

    assert played(scene)["status"] == {"loadBalancer": {}}
