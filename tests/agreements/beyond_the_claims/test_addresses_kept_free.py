"""The lower addresses of a network are for Services that wish for one."""

from __future__ import annotations

from ipaddress import IPv4Network

import pytest

from lifecycle.agreements.apiserver.resource_handling import on_a_server
from lifecycle.api.http.wire import Object
from lifecycle.api.resources import resource
from lifecycle.api.status import StatusError
from lifecycle.apiserver.registry.core.service.store import range_offset
from lifecycle.apiserver.server.generic_api_server import GenericAPIServer
from lifecycle.client.rest import Client


@pytest.mark.parametrize(("length", "kept_free"), [(28, 0), (27, 16), (24, 16), (20, 256), (16, 256)])
def test_so_many_are_not_given_out_as_long_as_there_are_others(length: int, kept_free: int) -> None:
    assert range_offset(IPv4Network((0, length))) == kept_free


@pytest.mark.parametrize("spec", [{"clusterIP": "10.96.0.77"}, {"clusterIPs": ["10.96.0.77"]}, {"clusterIP": "None"}])
def test_a_wish_may_be_said_in_the_old_field_alone(spec: Object) -> None:
    wish = (spec.get("clusterIPs") or [spec.get("clusterIP")])[0]
    if "clusterIP" not in spec:  # but not in the new one alone
        assert _made(spec)[0] == 422
        return
    code, found = _made(spec)
    assert (code, found["clusterIP"], found["clusterIPs"]) == (201, wish, [wish])


def _made(spec: Object) -> tuple[int, Object]:
    """What a server says to a Service, and what it makes of it."""

    async def scene(server: GenericAPIServer, client: Client) -> tuple[int, Object]:
        body = {
            "apiVersion": "v1",
            "kind": "Service",
            "metadata": {"name": "s"},
            "spec": {"ports": [{"port": 80}], "selector": {"a": "b"}, **spec},
        }
        try:
            made = await client.create(resource("services"), body, "default")
        except StatusError as error:
            return error.code, {}
        return 201, made["spec"]

    return on_a_server(scene)


def test_what_is_only_tried_takes_nothing_and_names_what_nobody_will_get() -> None:
    """So did a real 1.36.2: `10.96.0.0` is nobody's address, and of ports those after the last one of the range."""

    async def scene(server: GenericAPIServer, client: Client) -> None:
        async def tried(name: str, **spec: object) -> tuple[int, str, list[int]]:
            path = "/api/v1/namespaces/default/services"
            body = {"apiVersion": "v1", "kind": "Service", "metadata": {"name": name}, "spec": spec}
            try:
                made = (await client.request("POST", path, query={"dryRun": "All"}, obj=body)).obj
            except StatusError as error:
                return error.code, error.message, []
            assert made is not None
            return 201, made["spec"]["clusterIP"], [port.get("nodePort", 0) for port in made["spec"]["ports"]]

        ports = [{"name": "a", "port": 80}, {"name": "b", "port": 81}, {"name": "c", "port": 82, "nodePort": 30007}]
        expected = (201, "10.96.0.0", [32769, 32770, 30007])
        assert await tried("one", type="NodePort", ports=ports) == expected
        assert await tried("two", type="NodePort", ports=ports) == expected
        body: Object = {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "one"}}
        await client.create(resource("services"), {**body, "spec": {"type": "NodePort", "ports": ports}}, "default")
        why = "spec.ports[2].nodePort: Invalid value: 30007: provided port is already allocated"
        assert await tried("two", type="NodePort", ports=ports) == (422, f'Service "two" is invalid: {why}', [])

    on_a_server(scene)
