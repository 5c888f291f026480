"""What goes out to a live cluster: the words, the token, the body; and what it keeps its hands off."""

from __future__ import annotations

import json
from types import SimpleNamespace
from typing import Any

import kubernetes
import pytest

from lifecycle.inspector import InspectorError, LiveCluster, client_namespace, live
from lifecycle.inspector.node import KindNode


@pytest.fixture
def config(tmp_path) -> str:
    file = tmp_path / "config"
    here = {"name": "c", "cluster": {"server": "http://127.0.0.1:1"}}
    far = {"name": "f", "cluster": {"server": "https://far.example"}}
    users = [{"name": "u", "user": {"token": "secret"}}]
    contexts = [
        {"name": name, "context": {"cluster": cluster, "user": "u"}}
        for name, cluster in (("kind-lifecycle", "f"), ("mine", "c"), ("far", "f"))
    ]
    kind = {"apiVersion": "v1", "kind": "Config", "clusters": [here, far], "contexts": contexts, "users": users}
    file.write_text(json.dumps(kind))
    return str(file)


class Client:
    """`ApiClient`, as far as requests by path go."""

    user_agent = "book/1"
    configuration = SimpleNamespace(host="http://here")

    def __init__(self, status: int = 200, data: bytes = b"{}", kind: str | None = "application/json") -> None:
        self.answer = SimpleNamespace(
            status=status, reason="why", data=data, read=lambda: data, getheader=lambda name: {"content-type": kind}[name],
            getheaders=dict, headers={},
        )  # fmt: skip
        self.sent: list[Any] = []
        self.closed = 0
        self.rest_client = SimpleNamespace(pool_manager=SimpleNamespace(request=self._note))

    def update_params_for_auth(
        self, headers: dict[str, str], queries: list[Any], names: list[str], *where: Any
    ) -> None:
        assert (queries, names, where) == ([], ["BearerToken"], ("/a?b=c", "GET", None))
        headers["authorization"] = "Bearer secret"

    def call_api(self, *args: Any, **named: Any) -> Any:
        return self._note(*args, **named)

    def _note(self, *args: Any, **named: Any) -> Any:
        self.sent.append((args, named))
        return self.answer

    def close(self) -> None:
        self.closed += 1


def test_a_get_by_path_carries_the_token_and_says_what_it_accepts() -> None:
    client = Client(data=b'{"a": 1}')
    assert client_namespace.get_json(client, "/a?b=c") == {"a": 1}  # type: ignore[arg-type]
    headers = {"Accept": "application/json", "User-Agent": "book/1", "authorization": "Bearer secret"}
    assert client.sent == [(("GET", "http://here/a?b=c"), {"header_params": headers})]
    client_namespace.get_json(client, "/a?b=c", "text/plain")  # type: ignore[arg-type]
    assert client.sent[1][1]["header_params"]["Accept"] == "text/plain"


@pytest.mark.parametrize(("kind", "answer"), [("text/plain", '{"a": 1}'), (None, '{"a": 1}'), ("x/json;c=u", {"a": 1})])
def test_what_does_not_say_that_it_is_json_is_text(kind: str | None, answer: Any) -> None:
    assert client_namespace.get_json(Client(data=b'{"a": 1}', kind=kind), "/a?b=c") == answer  # type: ignore[arg-type]


@pytest.mark.parametrize(("status", "fine"), [(199, False), (200, True), (299, True), (300, False), (404, False)])
def test_other_answers_than_successes_are_exceptions(status: int, fine: bool) -> None:
    if fine:
        assert client_namespace.get_json(Client(status), "/a?b=c") == {}  # type: ignore[arg-type]
        return
    with pytest.raises(kubernetes.client.ApiException) as caught:
        client_namespace.get_json(Client(status), "/a?b=c")  # type: ignore[arg-type]
    assert (caught.value.status, caught.value.reason) == (status, "why")


@pytest.fixture
def cluster(config: str) -> LiveCluster:
    cluster = LiveCluster("mine", config_file=config)
    cluster.api_client.close()
    cluster.api_client = Client()  # type: ignore[assignment]
    return cluster


@pytest.mark.parametrize(("body", "sent"), [(b"", None), (b"x", b"x")])
def test_any_request_can_be_left_open(cluster: LiveCluster, body: bytes, sent: bytes | None) -> None:
    mine = {"Accept": "x"}
    answer = cluster.open("GET", "/a?b=c", mine, body)
    client: Any = cluster.api_client
    assert answer is client.answer
    assert mine == {"Accept": "x"}
    headers = {"Accept": "x", "authorization": "Bearer secret"}
    how = {"body": sent, "headers": headers, "preload_content": False, "retries": False}
    assert client.sent == [(("GET", "http://here/a?b=c"), how)]


def test_it_is_known_by_its_context(cluster: LiveCluster, config: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert (cluster.name, cluster.config_file, repr(cluster)) == ("mine", config, "LiveCluster('mine')")
    assert cluster.client is cluster.client
    assert cluster.client.api_client is cluster.api_client
    assert (cluster.node("worker").name, cluster.node("lifecycle-x").name) == ("lifecycle-worker", "lifecycle-x")
    assert isinstance(cluster.node("worker"), KindNode)
    ran: list[Any] = []

    def run_kubectl(args: Any, **where: Any) -> Any:
        ran.append((args, where))
        return SimpleNamespace(stdout="printed")

    monkeypatch.setattr(live, "run_kubectl", run_kubectl)
    assert cluster.kubectl("get", "pods") == "printed"
    assert ran == [(("get", "pods"), {"context": "mine", "config_file": config})]
    assert cluster.at("any") is cluster
    cluster.get = lambda path: {"/version": {"gitVersion": "v1"}}[path]  # type: ignore[method-assign, assignment, misc]
    told = cluster.provenance
    assert (told.cluster, told.version, told.how) == ("mine", "v1", "live")
    assert len(told.when) == len("2026-11-28 20:30 UTC")
    assert (told.when[4], told.when[10], told.when[13], told.when[16:]) == ("-", " ", ":", " UTC")


def test_only_its_own_context_may_be_elsewhere(config: str) -> None:
    LiveCluster(config_file=config).api_client.close()
    with pytest.raises(InspectorError) as caught:
        LiveCluster("far", config_file=config)
    assert str(caught.value) == (
        "refusing context 'far': https://far.example is not on this machine; only a context named 'kind-lifecycle' may be"
        " elsewhere"
    )
    with pytest.raises(InspectorError) as caught:
        LiveCluster("none", config_file=config)
    said = str(caught.value)
    assert said.startswith("no context 'none' to connect to (")
    assert said.endswith("); `make cluster` makes one")
    assert live.on_loopback("no url") is False


class Core:
    """The part of the core API that makes and deletes namespaces."""

    def __init__(self) -> None:
        self.done: list[Any] = []
        self.refusal = 0

    def _do(self, *what: Any) -> None:
        self.done.append(what)
        if self.refusal:
            raise kubernetes.client.ApiException(status=self.refusal)

    def create_namespace(self, body: Any) -> None:
        self._do("create", body)

    def delete_namespace(self, name: str) -> None:
        self._do("delete", name)


@pytest.fixture
def core(cluster: LiveCluster, monkeypatch: pytest.MonkeyPatch) -> Core:
    core = Core()
    cluster.client = SimpleNamespace(CoreV1Api=lambda: core)  # type: ignore[assignment]
    return core


def test_a_namespace_is_made_with_its_label_and_deleted_once(cluster: LiveCluster, core: Core) -> None:
    assert cluster.create_namespace("n") == "n"
    meta = {"name": "n", "labels": {"lifecycle.book/made-by": "inspector"}}
    assert core.done == [("create", {"apiVersion": "v1", "kind": "Namespace", "metadata": meta})]
    cluster.adopt_namespace("other")
    cluster.adopt_namespace("other")
    cluster.delete_namespace("n")
    cluster.delete_namespace("n")
    cluster.delete_namespace("not made here")
    assert core.done[1:] == [("delete", "n")]
    cluster.close()
    cluster.close()
    assert core.done[2:] == [("delete", "other")]
    assert cluster.api_client.closed == 2  # type: ignore[attr-defined]


def test_the_end_of_a_block_deletes_and_closes(cluster: LiveCluster, core: Core) -> None:
    with cluster as same:
        assert same is cluster
        with cluster.namespace("n") as name:
            assert name == "n"
        assert core.done[-1] == ("delete", "n")
        cluster.adopt_namespace("m")
        core.refusal = 500  # what cannot be deleted does not hide how a block ended
    assert core.done[-1] == ("delete", "m")
    assert cluster.api_client.closed == 1  # type: ignore[attr-defined]


def test_a_namespace_that_could_not_be_made_is_not_deleted(cluster: LiveCluster, core: Core) -> None:
    core.refusal = 409
    with pytest.raises(InspectorError) as caught:
        cluster.create_namespace("n")
    assert str(caught.value) == "namespace 'n' is there already and was not made here: it stays untouched"
    core.refusal = 403
    with pytest.raises(kubernetes.client.ApiException):
        cluster.create_namespace("n")
    cluster.close()
    assert [what for what, _ in core.done] == ["create", "create"]
