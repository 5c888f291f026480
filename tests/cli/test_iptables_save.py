"""`lifecycle iptables-save`: whom it asks, what it prints, and that nothing stays open."""

from __future__ import annotations

from typing import Any

import pytest
from click.testing import CliRunner

from lifecycle.api.status import not_found
from lifecycle.cli import main
from lifecycle.kubectl.failures import CommandError

NODE = {"status": {"addresses": [{"type": "Hostname", "address": "n"}, {"type": "InternalIP", "address": "10.0.0.1"}]}}


@pytest.fixture
def done(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """What happens behind the word."""
    done: list[Any] = []

    class Credentials:
        def __init__(self, where: Any) -> None:
            if where == "odd":
                raise CommandError("no such context")
            done.append(("as", where))

        async def connection(self) -> str:
            return "connection"

    class Transport:
        def __init__(self, *of: Any) -> None:
            self.of = of

        async def close(self) -> None:
            done.append("closed")

    class Client:
        def __init__(self, transport: Any, agent: str) -> None:
            done.append(("client", agent, transport.of[0].of))

        async def get(self, resource: Any, name: str) -> Any:
            done.append(("get", resource.plural, name))
            if name == "none":
                raise not_found("nodes", name)
            return NODE if name == "n" else {}

    class Proxies:
        def __init__(self, client: Any, *, clock: Any, cluster_cidr: str) -> None:
            done.append(("proxies", type(client).__name__, type(clock).__name__, cluster_cidr))

        def add(self, node: str, address: str) -> None:
            done.append(("add", node, address))

        async def iptables_save(self, node: str, *tables: str) -> str:
            done.append(("save", node, tables))
            return "*nat\nCOMMIT\n"

        async def stop(self) -> None:
            done.append("stopped")

    monkeypatch.setattr("lifecycle.kubectl.credentials.transport.Credentials", Credentials)
    monkeypatch.setattr("lifecycle.kubectl.credentials.transport.AuthenticatingTransport", Transport)
    monkeypatch.setattr("lifecycle.client.transport_https.HTTPSTransport", Transport)
    monkeypatch.setattr("lifecycle.client.rest.Client", Client)
    monkeypatch.setattr("lifecycle.cluster.cluster_addons.NodeProxies", Proxies)
    monkeypatch.setattr("lifecycle.kubectl.main.chosen", lambda flags, environ: flags["kubeconfig"] or "usual")
    return done


def ask(*words: str) -> tuple[int, str, str]:
    result = CliRunner().invoke(main, ["iptables-save", *words], prog_name="lifecycle")
    return result.exit_code, result.stdout, result.stderr


@pytest.mark.parametrize(
    ("words", "node", "where", "tables", "address"),
    [
        (("n",), "n", "usual", (), "10.0.0.1"), (("n", "--kubeconfig", "mine", "-t", "nat"), "n", "mine", ("nat",), "10.0.0.1"),
        (("bare", "--table", "filter"), "bare", "usual", ("filter",), ""),
    ],
)  # fmt: skip
def test_a_nodes_rules_are_printed_and_everything_is_closed(
    done: list[Any], words: tuple[str, ...], node: str, where: str, tables: tuple[str, ...], address: str
) -> None:
    assert ask(*words) == (0, "*nat\nCOMMIT\n", "")
    assert done == [
        ("as", where), ("client", "lifecycle-iptables-save", ("connection",)), ("proxies", "Client", "Clock", "10.244.0.0/16"),
        ("get", "nodes", node), ("add", node, address), ("save", node, tables), "stopped", "closed",
    ]  # fmt: skip


def test_what_is_refused_is_said_and_everything_is_closed(done: list[Any]) -> None:
    code, out, err = ask("none")
    assert (code, out, err) == (1, "", 'lifecycle: nodes "none" not found\n')
    assert done[-2:] == ["stopped", "closed"]
    code, out, err = ask("n", "--kubeconfig", "odd")
    assert (code, out, "no such context" in err) == (1, "", True)
