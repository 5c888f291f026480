"""The same controllers over a real TLS connection with a client certificate: they cannot tell the difference."""

from __future__ import annotations

import asyncio

from tests.controllers.small_cluster import DEPLOYMENTS, PODS, deployment

from lifecycle.api.loop.clock import Clock
from lifecycle.api.names import NameSource
from lifecycle.api.resources import resource
from lifecycle.apiserver.server.create_server_chain import create_server_chain
from lifecycle.client.rest import Client
from lifecycle.client.transport_https import ConnectionConfig, HTTPSTransport
from lifecycle.controllers.manager import ControllerManager
from lifecycle.etcd.memory import MemoryStore


def test_a_deployment_becomes_pods() -> None:
    async def main() -> None:
        clock = Clock()
        server = create_server_chain(MemoryStore(), clock=clock, names=NameSource(1))
        await server.start()
        port = await server.serve_https()
        certificates = server.certificates
        certificate, key = certificates.client_certificate("kubernetes-admin", ["system:masters"])
        config = ConnectionConfig(
            f"https://127.0.0.1:{port}", ca=certificates.ca_pem, client_certificate=certificate, client_key=key
        )
        transport = HTTPSTransport(config)
        client = Client(transport, "test/v0")
        wanted = "deployment-controller,replicaset-controller,serviceaccount-controller"
        manager = ControllerManager(client, clock=clock, names=NameSource(2), controllers=wanted.split(","))
        running = asyncio.create_task(manager.run())
        three = asyncio.Event()
        pods = manager.informers.informer(PODS)
        accounts = manager.informers.informer(resource("serviceaccounts"))
        account_seen = asyncio.Event()
        accounts.add_event_handler(add=lambda account: account_seen.set())
        pods.add_event_handler(add=lambda pod: three.set() if len(pods.indexer) == 3 else None)
        await asyncio.wait_for(account_seen.wait(), 60)
        created = await client.create(DEPLOYMENTS, deployment(), "default")
        await asyncio.wait_for(three.wait(), 60)
        assert {p["metadata"]["labels"]["pod-template-hash"] for p in pods.indexer} == {"747d4c55d8"}
        assert created["metadata"]["managedFields"][0]["manager"] == "test"
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)
        await transport.close()
        await server.stop()

    asyncio.run(main())
