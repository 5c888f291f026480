"""How a kubectl says who it is, seen from the other end of the connection."""

from __future__ import annotations

import base64
import json
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

from generators.programs.answer import Answer
from generators.programs.api_server import running
from generators.programs.kubectl import version_of
from lifecycle.api.http.wire import Request
from lifecycle.apiserver.authn.x509 import X509Authenticator
from lifecycle.cluster.outside_services import IdentityProvider, LoopbackService


class Listener(LoopbackService):
    """Answers everything with an empty object."""

    def answer(self, request: Request) -> tuple[int, Any]:
        """Nothing in particular."""
        return 200, {}


class Provider(IdentityProvider):
    """One whose answers have an access token, too: OAuth clients insist on it."""

    def answer(self, request: Request) -> tuple[int, Any]:
        """As it was, and an access token beside a new ID token."""
        status, obj = super().answer(request)
        if "id_token" in obj:
            obj["access_token"] = "not asked for"
        return status, obj


class PlainListener(HTTPServer):
    """The same without TLS; keeps the headers."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Plain)
        self.seen: list[dict[str, str]] = []


class _Plain(BaseHTTPRequestHandler):
    def do_GET(self) -> None:  # what http.server calls
        """An empty object."""
        assert isinstance(self.server, PlainListener)
        self.server.seen.append({k.lower(): v for k, v in self.headers.items()})
        self.send_response(200)
        self.end_headers()
        self.wfile.write(b"{}")

    def log_message(self, *_: Any) -> None:
        """Nothing."""


class Caller:
    """A kubectl with one kubeconfig after the other."""

    def __init__(self, kubectl: Path, service: Listener, home: Path) -> None:
        self.kubectl, self.service, self.home = kubectl, service, home

    def call(self, user: dict[str, Any], *flags: str, server: str = "") -> int:
        """kubectl get --raw as this user; the exit code."""
        ca = base64.b64encode(self.service.authority.ca_pem).decode()
        cluster = {"server": server or self.service.url}
        if not server:
            cluster["certificate-authority-data"] = ca
        document = {
            "apiVersion": "v1",
            "kind": "Config",
            "clusters": [{"name": "a", "cluster": cluster}],
            "users": [{"name": "a", "user": user}],
            "contexts": [{"name": "a", "context": {"cluster": "a", "user": "a"}}],
            "current-context": "a",
        }
        path = self.home / "config"
        path.write_text(json.dumps(document))
        return subprocess.run(
            [self.kubectl, f"--kubeconfig={path}", *flags, "get", "--raw", "/api"],
            capture_output=True,
            check=False,
            env={"HOME": str(self.home)},
        ).returncode

    def arrives(self, user: dict[str, Any], *flags: str) -> dict[str, Any]:
        """What the other end sees of a request by this user."""
        before = len(self.service.requests)
        code = self.call(user, *flags)
        if len(self.service.requests) == before:
            return {"exit": code, "sent": False}
        request = self.service.requests[-1]
        found = X509Authenticator().authenticate_request(request)
        ca = base64.b64encode(self.service.authority.ca_pem).decode()
        return {
            "exit": code,
            "authorization": request.headers.get("authorization", ""),
            "certificate of": found.user.name if found else "",
            "CA in it": ca in repr(request.headers) or self.service.ca in repr(request),
        }


def answers(kubectl: Path) -> Iterator[Answer]:
    """All of it."""
    who = version_of(kubectl)
    with tempfile.TemporaryDirectory() as folder, running(Listener()) as service:
        assert isinstance(service, Listener)
        caller = Caller(kubectl, service, Path(folder))
        certificate, key = service.authority.client_certificate("jane", ["devs"])
        yield Answer(
            "credentials/arrive",
            who,
            "kubectl get --raw by users with different credentials: what arrives",
            {
                "token": caller.arrives({"token": "t"}),
                "password": caller.arrives({"username": "u", "password": "p"}),
                "certificate": caller.arrives(
                    {
                        "client-certificate-data": base64.b64encode(
                            certificate
                        ).decode(),
                        "client-key-data": base64.b64encode(key).decode(),
                    }
                ),
                "token, and another by flag": caller.arrives(
                    {"token": "t"}, "--token=flag"
                ),
                "token, and a password by flag": caller.arrives(
                    {"token": "t"}, "--username=u", "--password=p"
                ),
                "a plugin": caller.arrives({"exec": _plugin()}),
            },
        )
        yield from _plain(caller, who)
        yield from _openid(caller, who)


def _plugin() -> dict[str, Any]:
    version = "client.authentication.k8s.io/v1beta1"
    credential = {
        "apiVersion": version,
        "kind": "ExecCredential",
        "status": {"token": "by-plugin"},
    }
    return {
        "apiVersion": version,
        "command": sys.executable,
        "args": ["-S", "-c", f"print({json.dumps(credential)!r})"],
        "interactiveMode": "Never",
    }


def _plain(caller: Caller, who: str) -> Iterator[Answer]:
    plain = PlainListener()
    thread = threading.Thread(target=plain.serve_forever, daemon=True)
    thread.start()
    caller.call({"token": "t"}, server=f"http://127.0.0.1:{plain.server_port}")
    plain.shutdown()
    plain.server_close()
    yield Answer(
        "credentials/without-tls",
        who,
        "the same with a token, to a server without TLS: requests, and how many carry"
        " a credential",
        {
            "requests": len(plain.seen),
            "with a credential": sum("authorization" in each for each in plain.seen),
        },
    )


def _openid(caller: Caller, who: str) -> Iterator[Answer]:
    with running(Provider()) as provider:
        assert isinstance(provider, Provider)
        good = provider.token(time.time(), sub="jane")
        ended = provider.token(time.time() - 7200, sub="jane")
        settings = {
            "idp-issuer-url": provider.url,
            "client-id": "kubernetes",
            "idp-certificate-authority-data": base64.b64encode(
                provider.authority.ca_pem
            ).decode(),
        }

        def asked(**more: str) -> dict[str, Any]:
            return caller.arrives(
                {"auth-provider": {"name": "oidc", "config": {**settings, **more}}}
            )

        one = asked(**{"id-token": good})
        stale = asked(**{"id-token": ended})
        provider.refreshable["r"] = {
            "sub": "jane",
            "aud": "kubernetes",
            "exp": int(time.time()) + 3600,
        }
        renewed = asked(**{"id-token": ended, "refresh-token": "r"})
    yield Answer(
        "credentials/openid",
        who,
        "an OpenID user: with a good token, with one that has ended, with such a one"
        " and a refresh token: what arrives",
        {
            "a good token, as bearer": one.get("authorization") == f"Bearer {good}",
            "an ended one is sent": bool(stale.get("authorization")),
            "a renewed one is sent": None
            if renewed["exit"] not in (0, 1)  # the program has crashed
            else renewed.get("authorization", "").startswith("Bearer ")
            and renewed["authorization"] != f"Bearer {ended}",
        },
    )
