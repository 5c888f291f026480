"""A server that listens at a second address tells pods of that one, and its certificate is good for it."""

from __future__ import annotations

import asyncio
import json
import socket
import ssl
import urllib.request

from lifecycle.apiserver.server.create_server_chain import create_server_chain
from lifecycle.etcd.memory import MemoryStore

ELSEWHERE = "127.0.0.78"


def test_the_keys_of_tokens_are_where_a_pod_can_reach_them_and_believe_them() -> None:
    async def scene() -> None:
        server = create_server_chain(MemoryStore(), token="secret")
        await server.start()
        try:
            await server.serve_https()
            sock = socket.create_server((ELSEWHERE, 0))  # the server closes it
            sock.setblocking(False)
            await server.serve_socket(sock)
            address = f"https://{ELSEWHERE}:{sock.getsockname()[1]}"
            trust = ssl.create_default_context(cadata=server.certificates.ca_pem.decode())
            url = f"{address}/.well-known/openid-configuration"
            asked = urllib.request.Request(url, headers={"Authorization": "Bearer secret"})

            def ask() -> str:
                with urllib.request.urlopen(asked, context=trust, timeout=10) as answer:
                    return str(json.load(answer)["jwks_uri"])

            assert await asyncio.to_thread(ask) == f"{address}/openid/v1/jwks"
        finally:
            await server.stop()

    asyncio.run(scene())
