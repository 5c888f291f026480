"""A webhook to call: a small HTTPS server on a loopback address, in a thread of its
own, answered by a Python function.

Upstream: `apiserver/pkg/admission/plugin/webhook/testing/webhook_server.go`
(`NewTestServer`), v1.36.
"""

from __future__ import annotations

import base64
import json
import ssl
import tempfile
import threading
from collections.abc import Callable, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from lifecycle.api.http.wire import Object
from lifecycle.apiserver.pki.certificates import CertificateAuthority

Answer = Callable[[Object], Object]
"""Takes the `request` of an AdmissionReview, returns the `response` (`uid` is filled
in); for other documents, whole to whole.
"""


class _QuietServer(ThreadingHTTPServer):
    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that hangs up, or does not trust us, is nothing to write home
        about.
        """


class WebhookServer:
    """Serves between `with` and its end. `asked` keeps every document that came,
    `answered` counts.

    `names`: for which the certificate is; always for 127.0.0.1 too. `answer` may raise:
    that is a 500. `port` 0 picks a free one.
    """

    def __init__(
        self,
        answer: Answer,
        names: Sequence[str] = (),
        authority: CertificateAuthority | None = None,
        port: int = 0,
    ) -> None:
        self.asked: list[Object] = []
        self._answer = answer
        self._authority = authority or CertificateAuthority()
        certificate, key = self._authority.serving_certificate(names, ["127.0.0.1"])
        self._server = _QuietServer(("127.0.0.1", port), self._handler())
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        with (
            tempfile.TemporaryDirectory() as directory
        ):  # Python's ssl reads certificates from files only
            files = Path(directory, "tls.crt"), Path(directory, "tls.key")
            for file, content in zip(files, (certificate, key), strict=True):
                file.touch(mode=0o600)
                file.write_bytes(content)
            context.load_cert_chain(*files)
        self._server.socket = context.wrap_socket(
            self._server.socket, server_side=True, do_handshake_on_connect=False
        )
        self._thread = threading.Thread(
            target=self._server.serve_forever, args=(0.02,), daemon=True
        )

    @property
    def port(self) -> int:
        """The port it listens on."""
        return int(self._server.server_address[1])

    @property
    def ca(self) -> bytes:
        """Who signed its certificate, PEM."""
        return self._authority.ca_pem

    def client_config(self, path: str = "/") -> Object:
        """`clientConfig` of a webhook: `url` and `caBundle`."""
        return {
            "url": f"https://127.0.0.1:{self.port}{path}",
            "caBundle": base64.b64encode(self.ca).decode(),
        }

    def __enter__(self) -> WebhookServer:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        server = self

        class Handler(BaseHTTPRequestHandler):
            timeout = 5

            def do_POST(self) -> None:
                document = json.loads(
                    self.rfile.read(int(self.headers["Content-Length"]))
                )
                status, answer = server.respond(document)
                body = (
                    json.dumps(answer).encode() if isinstance(answer, dict) else answer
                )
                self.send_response(status)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_: Any) -> None:
                """Nothing."""

        return Handler

    def respond(self, document: Object) -> tuple[int, Any]:
        """Status and document (or bytes) for one document."""
        self.asked.append(document)
        try:
            if document.get("kind") != "AdmissionReview":
                return 200, self._answer(document)
            response = self._answer(document["request"])
        except Exception as error:
            return 500, str(error).encode()
        if "raw" in response:
            return 200, response["raw"]
        head = {key: document[key] for key in ("kind", "apiVersion")}
        return 200, {
            **head,
            "response": {"uid": document["request"]["uid"], **response},
        }


def json_patch(*operations: Object) -> Object:
    """The response of a webhook that allows, with changes."""
    patch = base64.b64encode(json.dumps(operations).encode()).decode()
    return {"allowed": True, "patchType": "JSONPatch", "patch": patch}
