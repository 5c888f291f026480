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
