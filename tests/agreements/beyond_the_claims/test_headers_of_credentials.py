"""Whose word goes into `Authorization`: a request's own, a name and a password, a file, a token, a plugin."""

from __future__ import annotations

import asyncio
import base64
from pathlib import Path
from typing import Any

import pytest

from lifecycle.api.http.wire import Request, Response
from lifecycle.kubectl.credentials.exec_plugin import ExecPlugin, PluginCredentials
from lifecycle.kubectl.credentials.transport import AuthenticatingTransport, Credentials
from lifecycle.kubectl.failures import CommandError
from lifecycle.kubectl.kubeconfig.client_config import ClientConfig

HTTPS = "https://127.0.0.1:6443"


class _Plugin(ExecPlugin):
    """One whose program is not started."""

    def __init__(self, *answers: PluginCredentials) -> None:
        super().__init__({"apiVersion": "client.authentication.k8s.io/v1", "command": "nobody"})
        self.answers = list(answers)

    async def _refresh(self) -> PluginCredentials:
        self._kept = self.answers.pop(0)
        return self._kept


def _sent(config: ClientConfig, *statuses: int, plugin: ExecPlugin | None = None, **headers: str) -> list[str | None]:
    """The headers of as many requests as there are answers."""
    answers = [Response(status=status) for status in statuses or (200,)]
    seen: list[str | None] = []

    class Server:
        async def round_trip(self, request: Request) -> Response:
            seen.append(request.headers.get("authorization"))
            return answers.pop(0)

        async def close(self) -> None: ...

    async def ask() -> None:
        transport = AuthenticatingTransport(Server(), Credentials(config, plugin=plugin))
        while answers:
            await transport.round_trip(Request("GET", "/api", headers=dict(headers)))

    asyncio.run(ask())
    return seen


def _basic(pair: str) -> str:
    return f"Basic {base64.b64encode(pair.encode()).decode()}"


@pytest.mark.parametrize(
    ("config", "header"),
    [
        ({"token": "t"}, "Bearer t"),
        ({"username": "alice", "password": "secret"}, _basic("alice:secret")),
        ({"username": "alice"}, _basic("alice:")),  # a password may be empty
        ({"password": "secret"}, None),  # a name may not
        ({"server": "http://127.0.0.1:8080", "token": "t"}, None),
        ({"server": "http://127.0.0.1:8080", "username": "alice", "password": "secret"}, None),
        ({}, None),
    ],
)
def test_a_header_says_who_asks_and_in_plain_http_nobody_says_it(config: dict[str, Any], header: str | None) -> None:
    assert _sent(ClientConfig(**{"server": HTTPS, **config})) == [header]


def test_what_a_request_says_itself_stays() -> None:
    config = ClientConfig(HTTPS, token="t")
    assert _sent(config, authorization="Bearer own") == ["Bearer own"]
    assert _sent(config, authorization="") == ["Bearer t"]  # to say nothing is not to say it


def test_a_file_comes_before_the_token_beside_it_and_the_token_before_a_plugin(tmp_path: Path) -> None:
    (file := tmp_path / "token").write_text("of-the-file\n")
    plugin = _Plugin(PluginCredentials("of-the-plugin"))
    assert _sent(ClientConfig(HTTPS, token="t", token_file=str(file)), plugin=plugin) == ["Bearer of-the-file"]
    assert _sent(ClientConfig(HTTPS, token="t", token_file=str(tmp_path / "none")), plugin=plugin) == ["Bearer t"]
    assert _sent(ClientConfig(HTTPS, token="t"), plugin=plugin) == ["Bearer t"]
    assert _sent(ClientConfig(HTTPS), plugin=plugin) == ["Bearer of-the-plugin"]
    with pytest.raises(CommandError, match="failed to read token file"):
        _sent(ClientConfig(HTTPS, token_file=str(tmp_path / "none")))


def test_a_plugin_that_answers_with_a_certificate_only_adds_no_header() -> None:
    plugin = _Plugin(PluginCredentials("", b"certificate", b"key"))
    assert _sent(ClientConfig(HTTPS), plugin=plugin) == [None]


def test_a_plugin_whose_token_is_refused_is_asked_again_for_the_next_request_and_only_then() -> None:
    def plugin() -> ExecPlugin:
        return _Plugin(PluginCredentials("one"), PluginCredentials("two"), PluginCredentials("three"))

    assert _sent(ClientConfig(HTTPS), 401, 200, 200, plugin=plugin()) == ["Bearer one", "Bearer two", "Bearer two"]
    assert _sent(ClientConfig(HTTPS), 403, 500, 200, plugin=plugin()) == ["Bearer one"] * 3
    # who brought a word of their own was not refused the plugin's
    asked = plugin()
    assert _sent(ClientConfig(HTTPS), 401, plugin=asked, authorization="Bearer own") == ["Bearer own"]
    assert _sent(ClientConfig(HTTPS), plugin=asked) == ["Bearer one"]
