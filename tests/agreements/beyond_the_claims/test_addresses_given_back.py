"""Addresses of Services that nobody holds any more: whoever wants one of them gets it."""

from __future__ import annotations

import pytest

from lifecycle.agreements.apiserver.resource_handling import on_a_server
from lifecycle.api.http.wire import Object
from lifecycle.api.resources import resource
from lifecycle.api.status import StatusError
from lifecycle.apiserver.server.generic_api_server import GenericAPIServer
from lifecycle.client.rest import Client

SERVICES = resource("services")
ADDRESS = "10.96.0.77"


def _service(name: str, **spec: object) -> Object:
    return {
        "kind": "Service",
        "apiVersion": "v1",
        "metadata": {"name": name},
        "spec": {"ports": [{"port": 80}], **spec},
    }


async def _may_be_taken(client: Client) -> bool:
    try:
        await client.create(SERVICES, _service("next", clusterIP=ADDRESS), "default")
    except StatusError as error:
        return "provided IP is already allocated" not in str(error)
    return True


@pytest.mark.parametrize("what", ["nothing", "deleted", "renounced", "changed"])
def test_an_address_is_free_again_when_its_service_has_no_use_for_it(what: str) -> None:
    async def scene(server: GenericAPIServer, client: Client) -> bool:
        made = await client.create(SERVICES, _service("web", clusterIP=ADDRESS), "default")
        if what == "deleted":
            await client.delete(SERVICES, "web", "default")
        elif what == "renounced":
            spec = {"type": "ExternalName", "externalName": "example.com", "ports": [{"port": 80}]}
            await client.update(SERVICES, {**made, "spec": spec})
        elif what == "changed":
            await client.update(SERVICES, {**made, "spec": {**made["spec"], "sessionAffinity": "ClientIP"}})
        return await _may_be_taken(client)

    assert on_a_server(scene) is (what in ("deleted", "renounced"))


def test_who_is_refused_keeps_no_address() -> None:
    """There is a Service of that name already, which is known only when the new one is written."""

    async def scene(server: GenericAPIServer, client: Client) -> bool:
        await client.create(SERVICES, _service("web"), "default")
        with pytest.raises(StatusError) as refused:
            await client.create(SERVICES, _service("web", clusterIP=ADDRESS), "default")
        assert refused.value.code == 409
        return await _may_be_taken(client)

    assert on_a_server(scene)
