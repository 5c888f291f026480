"""Credentials: what a client sends of what its kubeconfig holds, seen by a server on the other side of a real socket."""

from __future__ import annotations

import asyncio
import base64
import json
import sys
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from lifecycle.api.http.wire import Request, Response
from lifecycle.api.loop.clock import format_time, run_virtual
from lifecycle.apiserver.pki.certificates import CertificateAuthority
from lifecycle.client.transport_https import HTTPSTransport
from lifecycle.cluster.outside_services import IdentityProvider, LoopbackService
from lifecycle.kubectl.credentials.exec_plugin import ExecPlugin
from lifecycle.kubectl.credentials.oidc_provider import OIDCProvider
from lifecycle.kubectl.credentials.transport import AuthenticatingTransport, Credentials, FileToken
from lifecycle.kubectl.failures import CommandError
from lifecycle.kubectl.kubeconfig import ClientConfig

V1 = "client.authentication.k8s.io/v1"


class Echo(LoopbackService):
    """Answers with what it saw; 401 to the tokens in `refused`."""

    def __init__(self) -> None:
        super().__init__()
        self.refused: set[str] = set()

    def answer(self, request: Request) -> tuple[int, Any]:
        header = request.headers.get("authorization", "")
        return (401 if header.removeprefix("Bearer ") in self.refused else 200), {"header": header}


def on_a_loop(scenario: Callable[[], Awaitable[None]]) -> None:
    asyncio.run(asyncio.wait_for(scenario(), 20))  # type: ignore[arg-type]


async def send(config: ClientConfig, times: int = 1, credentials: Credentials | None = None) -> list[Response]:
    credentials = credentials or Credentials(config)
    transport = AuthenticatingTransport(HTTPSTransport(await credentials.connection()), credentials)
    try:
        return [await transport.round_trip(Request("GET", "/api")) for _ in range(times)]
    finally:
        await transport.close()


def plugin_script(folder: Path, status: dict[str, Any] | None, *, version: str = V1, code: int = 0) -> dict[str, Any]:
    """A plugin that prints `status` with a count in its token, and leaves what it was told in `told.json`."""
    script, answer = folder / "plugin.py", {"kind": "ExecCredential", "apiVersion": version, "status": status}
    (folder / "answer.json").write_text(json.dumps(answer))
    script.write_text(
        "import json, os, pathlib, sys\n"
        f"here = pathlib.Path({str(folder)!r})\n"
        "(here / 'told.json').write_text(os.environ['KUBERNETES_EXEC_INFO'])\n"
        "count = len(list(here.glob('run*')))\n"
        "(here / f'run{count}').touch()\n"
        f"print((here / 'answer.json').read_text().replace('COUNT', str(count)))\nsys.exit({code})\n"
    )
    return {"apiVersion": V1, "command": sys.executable, "args": [str(script)], "interactiveMode": "Never"}


def test_tokens_and_passwords_are_headers_and_a_certificate_is_none() -> None:
    async def scenario() -> None:
        async with Echo() as echo:
            ca = echo.authority.ca_pem
            certificate, key = echo.authority.client_certificate("jane", ["devs"])
            await send(ClientConfig(echo.url, ca=ca, token="t0"))
            await send(ClientConfig(echo.url, ca=ca, username="jane", password="secret"))
            await send(ClientConfig(echo.url, ca=ca, client_certificate=certificate, client_key=key))
            first, second, third = echo.requests
            assert first.headers["authorization"] == "Bearer t0"
            assert base64.b64decode(second.headers["authorization"].removeprefix("Basic ")) == b"jane:secret"
            assert (first.peer_certificate, second.peer_certificate) == (None, None)
            assert "authorization" not in third.headers
            assert third.peer_certificate is not None
            assert all(ca not in repr(request).encode() for request in echo.requests)
            with pytest.raises(OSError, match="certificate verify failed"):
                await send(ClientConfig(echo.url, ca=CertificateAuthority().ca_pem, token="t0"))
            assert len(echo.requests) == 3, "a server that is not trusted is sent nothing"
            await send(ClientConfig(echo.url, insecure=True, token="t1"))
            assert echo.requests[-1].headers["authorization"] == "Bearer t1"

    on_a_loop(scenario)


def test_over_plain_http_nothing_is_said() -> None:
    async def scenario() -> None:
        assert await Credentials(ClientConfig("http://127.0.0.1:1", token="t")).authorization() == ("", None)

    on_a_loop(scenario)


def test_impersonation_is_headers() -> None:
    config = ClientConfig(
        "https://x",
        impersonate="jane",
        impersonate_uid="7",
        impersonate_groups=("a", "b"),
        impersonate_extra={"acme.io/Scope": ("v",)},
    )
    assert Credentials(config).impersonation() == {
        "impersonate-user": "jane",
        "impersonate-uid": "7",
        "impersonate-group": "a\nb",
        "impersonate-extra-acme.io%2fscope": "v",
    }
    with pytest.raises(CommandError, match=r"username/password or bearer token may be set, but not both$"):
        Credentials(ClientConfig("https://x", username="u", token_file="/x"))


def test_a_tokens_file_is_read_again(tmp_path: Path) -> None:
    file = tmp_path / "token"

    async def scenario() -> None:
        from lifecycle.api.loop.clock import Clock

        source = FileToken(str(file), Clock())
        with pytest.raises(CommandError, match="failed to read token file"):
            source.token()
        file.write_text("one\n")
        assert source.token() == "one"
        file.write_text("two")
        assert source.token() == "one"
        await asyncio.sleep(51)
        assert source.token() == "two"
        file.unlink()
        await asyncio.sleep(61)
        assert source.token() == "two", "the last one that could be read"

    run_virtual(scenario())


def test_a_plugin_is_told_about_the_cluster_and_asked_when_its_answer_ends(tmp_path: Path) -> None:
    async def scenario() -> None:
        from lifecycle.api.loop.clock import Clock

        settings = plugin_script(tmp_path, {"token": "tCOUNT", "expirationTimestamp": format_time(time.time() + 3600)})
        settings |= {"provideClusterInfo": True, "env": [{"name": "A", "value": "b"}]}
        plugin = ExecPlugin(settings, {"server": "https://x", "config": {"a": 1}})
        assert [(await plugin.credentials()).token for _ in range(3)] == ["t0"] * 3
        told = json.loads((tmp_path / "told.json").read_text())
        assert told == {
            "kind": "ExecCredential",
            "apiVersion": V1,
            "spec": {"interactive": False, "cluster": {"server": "https://x", "config": {"a": 1}}},
        }
        ended = plugin_script(tmp_path, {"token": "tCOUNT", "expirationTimestamp": "2020-01-01T00:00:00Z"})
        plugin = ExecPlugin(ended, clock=Clock())
        assert [(await plugin.credentials()).token for _ in range(2)] == ["t1", "t2"]

    on_a_loop(scenario)


def test_after_a_401_the_next_request_has_new_credentials(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with Echo() as echo:
            settings = plugin_script(tmp_path, {"token": "tCOUNT"})
            echo.refused = {"t0"}
            answers = await send(ClientConfig(echo.url, ca=echo.authority.ca_pem, exec=settings), times=3)
            assert [answer.status for answer in answers] == [401, 200, 200]
            assert [request.headers["authorization"] for request in echo.requests] == [
                "Bearer t0",
                "Bearer t1",
                "Bearer t1",
            ]

    on_a_loop(scenario)


def test_a_plugin_may_return_a_certificate(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with Echo() as echo:
            certificate, key = echo.authority.client_certificate("jane")
            status = {"clientCertificateData": certificate.decode(), "clientKeyData": key.decode()}
            await send(ClientConfig(echo.url, ca=echo.authority.ca_pem, exec=plugin_script(tmp_path, status)))
            assert echo.requests[0].peer_certificate is not None
            assert "authorization" not in echo.requests[0].headers

    on_a_loop(scenario)


@pytest.mark.parametrize(
    ("status", "more", "message"),
    [
        (None, {}, "exec plugin didn't return a status field"),
        ({}, {}, "exec plugin didn't return a token or cert/key pair"),
        ({"clientKeyData": "x"}, {}, "exec plugin returned only certificate or key, not both"),
        ({"token": "t"}, {"version": "client.authentication.k8s.io/v1beta1"},
         f"exec plugin is configured to use API version {V1}, plugin returned version client.authentication.k8s.io/v1beta1"),
        ({"token": "t"}, {"code": 3}, f"exec: executable {sys.executable} failed with exit code 3"),
    ],
)  # fmt: skip
def test_what_is_wrong_with_a_plugins_answer(tmp_path: Path, status: Any, more: dict[str, Any], message: str) -> None:
    async def scenario() -> None:
        with pytest.raises(CommandError) as wrong:
            await ExecPlugin(plugin_script(tmp_path, status, **more)).credentials()
        assert str(wrong.value) == f"getting credentials: {message}"

    on_a_loop(scenario)


def test_what_is_wrong_before_a_plugin_runs() -> None:
    async def scenario() -> None:
        with pytest.raises(CommandError, match=r'exec plugin: invalid apiVersion "v7"$'):
            ExecPlugin({"apiVersion": "v7"})
        settings = {
            "apiVersion": V1,
            "command": "no-such-plugin",
            "interactiveMode": "Never",
            "installHint": "brew install it",
        }
        plugin = ExecPlugin(settings)
        with pytest.raises(CommandError) as wrong:
            await plugin.credentials()
        text = str(wrong.value)
        assert text == (
            "getting credentials: exec: executable no-such-plugin not found\n\nIt looks like you are trying to use a"
            " client-go credential plugin that is not installed.\n\nTo learn more about this feature, consult the"
            " documentation available at:\n     "
            " https://kubernetes.io/docs/reference/access-authn-authz/authentication/#client-go-credential-plugins"
            "\n\nbrew install it"
        )
        for _ in range(10):
            with pytest.raises(CommandError) as wrong:
                await plugin.credentials()
        assert str(wrong.value).endswith("not found"), "the hint is not repeated for ever"
        always = ExecPlugin({**settings, "interactiveMode": "Always"}, stdin_is_terminal=lambda: False)
        with pytest.raises(
            CommandError,
            match=r"getting credentials: exec plugin cannot support interactive mode: standard input is not a terminal$",
        ):
            await always.credentials()

    on_a_loop(scenario)


def test_an_id_token_is_renewed_and_kept() -> None:
    async def scenario() -> None:
        async with IdentityProvider() as provider, Echo() as echo:
            now = time.time()
            provider.refreshable["r1"] = {"sub": "jane", "exp": int(now) + 3600}
            settings = {
                "idp-issuer-url": provider.url,
                "client-id": "kubernetes",
                "client-secret": "hush",
                "idp-certificate-authority-data": base64.b64encode(provider.authority.ca_pem).decode(),
                "id-token": provider.token(now - 7200, sub="jane"),
                "refresh-token": "r1",
            }
            kept: list[dict[str, str]] = []
            config = ClientConfig(
                echo.url, ca=echo.authority.ca_pem, auth_provider={"name": "oidc", "config": settings}
            )
            credentials = Credentials(config, persist=kept.append)
            await send(config, 2, credentials)
            assert [each["refresh-token"] for each in kept] == ["r1+"]
            assert {request.headers["authorization"] for request in echo.requests} == {f"Bearer {kept[0]['id-token']}"}
            asked = provider.requests[-1]
            assert base64.b64decode(asked.headers["authorization"].removeprefix("Basic ")) == b"kubernetes:hush"
            spent = OIDCProvider({**settings, "refresh-token": "gone"})
            with pytest.raises(CommandError, match=r'failed to refresh token: oauth2: "invalid_grant"$'):
                await spent.id_token()
            with pytest.raises(CommandError, match=r"No valid id-token, and cannot refresh without refresh-token$"):
                await OIDCProvider({**settings, "refresh-token": ""}).id_token()
        with pytest.raises(CommandError, match=r"Must provide client-id$"):
            OIDCProvider({"idp-issuer-url": "https://x"})
        with pytest.raises(CommandError, match=r'no Auth Provider found for name "gcp"$'):
            Credentials(ClientConfig("https://x", auth_provider={"name": "gcp"}))

    on_a_loop(scenario)
