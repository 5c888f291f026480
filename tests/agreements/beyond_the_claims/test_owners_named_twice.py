"""An owner who is named twice is stored once."""

from __future__ import annotations

from lifecycle.agreements.apiserver.resource_handling import on_a_server
from lifecycle.agreements.claim_checks.etcd import MAPS, config_map
from lifecycle.apiserver.server.generic_api_server import GenericAPIServer
from lifecycle.client.rest import Client

OWNER = {"apiVersion": "v1", "kind": "Node", "name": "n", "uid": "u"}


def test_an_owner_who_is_named_twice_is_stored_once() -> None:
    async def scene(server: GenericAPIServer, client: Client) -> None:
        owned = config_map("owned", ownerReferences=[OWNER, {**OWNER}])
        made = await client.create(MAPS, owned, "default")
        assert made["metadata"]["ownerReferences"] == [OWNER]
        twice = {**made["metadata"], "ownerReferences": [OWNER, {**OWNER}]}
        changed = await client.update(MAPS, {**made, "metadata": twice})
        assert changed["metadata"]["ownerReferences"] == [OWNER]

    on_a_server(scene)
