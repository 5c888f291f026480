"""A server of ours that an API server may trust: with the certificate of its own."""

from __future__ import annotations

import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from generators.programs.control_plane import ControlPlane


@contextmanager
def https_server(
    plane: ControlPlane, handler: type[BaseHTTPRequestHandler], host: str = "127.0.0.1"
) -> Iterator[int]:
    """Its port, while it serves on a host's address (empty: on all). It listens no more
    when the block ends.
    """
    server = ThreadingHTTPServer((host, 0), handler)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(
        plane.folder / "apiserver.crt", plane.folder / "apiserver.key"
    )
    server.socket = context.wrap_socket(server.socket, server_side=True)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield server.server_address[1]
    finally:
        server.shutdown()
        server.server_close()
