"""The live path, against a small stand-in that speaks plain HTTP under a context named kind-lifecycle."""

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from lifecycle.compare import compare_exchanges
from lifecycle.inspector import InspectorError, LiveCluster, Recording, open_recording, runner
from lifecycle.inspector.exchange import Question
from lifecycle.inspector.recorder import record


class StandIn(BaseHTTPRequestHandler):
    """Answers from the recording; keeps namespaces in memory."""

    protocol_version = "HTTP/1.1"
    wbufsize = 65536  # headers and body in one packet
    answers: dict
    namespaces: dict
    watches: list

    def do_GET(self):
        if "watch=true" in self.path:
            self.watches.append(self.path)
            self.send_response(200)
            self.send_header("content-type", "application/json")
            self.send_header("connection", "close")
            self.end_headers()
            event = {"type": "BOOKMARK", "object": {"kind": "Pod", "metadata": {"resourceVersion": "1"}}}
            self.wfile.write(json.dumps(event).encode() + b"\n")
            return
        exchange = self.answers.get(Question.of("GET", self.path, self.headers.get("accept", "")))
        if exchange is None:
            self._send(200, {"kind": "List", "items": []})
        else:
            self._send(exchange.status, exchange.response, exchange.headers)

    def do_POST(self):
        sent = self.rfile.read(int(self.headers["content-length"]))
        if b"{not json" in sent or sent == b"[]":
            return self._send(400, {"kind": "Status", "code": 400})
        body = json.loads(sent)
        if self.path == "/api/v1/namespaces":
            if body["metadata"]["name"] in self.namespaces:
                return self._send(409, {"kind": "Status", "code": 409})
            self.namespaces[body["metadata"]["name"]] = body
        return self._send(201, body)

    def do_PATCH(self):
        self.rfile.read(int(self.headers["content-length"]))
        self._send(200, {})

    def do_PUT(self):
        self.do_PATCH()

    def do_DELETE(self):
        self.rfile.read(int(self.headers.get("content-length") or 0))
        self.namespaces.pop(self.path.rpartition("/")[2], None)
        self._send(200, {"kind": "Status", "status": "Success"})

    def _send(self, status, answer, headers=None):
        data = answer.encode() if isinstance(answer, str) else json.dumps(answer).encode()
        self.send_response(status)
        headers = headers or {}
        kind = headers.get("content-type") or ("text/plain" if isinstance(answer, str) else "application/json")
        self.send_header("content-type", kind)
        for warning in headers.get("warning", ()):
            self.send_header("warning", warning)
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *args):
        """Silence."""


@pytest.fixture
def stand_in(tmp_path, monkeypatch):
    recording = open_recording()
    answers = {e.question: e for s in ("discovery", "objects") for e in recording.exchanges(s)}
    handler = type("Handler", (StandIn,), {"answers": answers, "namespaces": {"taken": {}}, "watches": []})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    config = tmp_path / "config"
    cluster = {"name": "c", "cluster": {"server": f"http://127.0.0.1:{server.server_port}"}}
    context = {"name": "kind-lifecycle", "context": {"cluster": "c", "user": "u"}}
    user = {"name": "u", "user": {"token": "t"}}
    config.write_text(
        json.dumps(
            {"apiVersion": "v1", "kind": "Config", "clusters": [cluster], "contexts": [context], "users": [user]}
        )
    )
    monkeypatch.setenv("PATH", "/nonexistent")  # no kubectl, no docker
    yield handler, LiveCluster(config_file=str(config))
    server.shutdown()
    server.server_close()
    thread.join()


def test_the_same_line_works_live(stand_in):
    _, cluster = stand_in
    with cluster:
        nodes = cluster.client.CoreV1Api().list_node().items
        assert [node.metadata.name for node in nodes] == [
            "lifecycle-control-plane",
            "lifecycle-worker",
            "lifecycle-worker2",
        ]
        assert cluster.get("/healthz") == "ok"
        assert "v1.36.2, live, " in str(cluster.provenance)
        assert cluster.at("journey", "after create") is cluster


def test_namespaces_are_labelled_and_cleaned_up(stand_in):
    handler, cluster = stand_in

    def lab():
        with cluster:
            cluster.create_namespace("mine")
            assert handler.namespaces["mine"]["metadata"]["labels"] == {"lifecycle.book/made-by": "inspector"}
            with cluster.namespace("short"):
                assert "short" in handler.namespaces
            assert "short" not in handler.namespaces
            raise RuntimeError

    with pytest.raises(RuntimeError):
        lab()
    assert set(handler.namespaces) == {"taken"}


def test_a_namespace_that_was_there_stays_untouched(stand_in):
    handler, cluster = stand_in
    with cluster:
        with pytest.raises(
            InspectorError, match=r"namespace 'taken' is there already and was not made here: it stays untouched$"
        ):
            cluster.create_namespace("taken")
        cluster.delete_namespace("taken")
    assert set(handler.namespaces) == {"taken"}


def test_what_is_recorded_compares_equal_with_its_source(stand_in, tmp_path):
    _, cluster = stand_in
    with cluster:
        out = record(cluster, tmp_path / "taken", ["discovery", "objects"], progress=False)
    again, first = Recording(out), open_recording()
    for scenario in ("discovery", "objects"):
        table = compare_exchanges(scenario, again.exchanges(scenario), first.exchanges(scenario), "again", "first")
        assert table.equal, table.unexplained[:3]


def test_the_journey_is_recorded_with_its_watches_open_first_and_leaves_nothing(stand_in, tmp_path, monkeypatch):
    handler, cluster = stand_in
    monkeypatch.setattr(runner, "POLL", 0.01)
    with cluster:
        out = record(cluster, tmp_path / "taken", ["journey"], pause=0.0, progress=False)
    recorded = Recording(out)
    assert recorded.moments("journey") == open_recording().moments("journey")
    assert len(handler.watches) == 7
    assert len(list(recorded.watch("journey"))) == 7
    assert set(handler.namespaces) == {"taken"}


def test_storage_keeps_out_of_the_default_namespace(stand_in, tmp_path):
    handler, cluster = stand_in
    with cluster:
        out = record(cluster, tmp_path / "taken", ["storage"], progress=False)
    writes = [e for e in Recording(out).exchanges("storage") if e.method != "GET"]
    assert not [e.path for e in writes if "/namespaces/default" in e.path]
    assert set(handler.namespaces) == {"taken"}


def test_a_recording_is_not_recorded(tmp_path):
    with pytest.raises(
        InspectorError, match=r"refusing to record Recording\('kind-1\.36\.2'\): it is no live cluster$"
    ):
        record(open_recording(), tmp_path)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("server", "here"),
    [
        ("https://127.0.0.1:6443", True),
        ("https://127.8.8.8", True),
        ("https://[::1]:6443", True),
        ("https://localhost:6443", True),
        ("https://10.0.0.1:6443", False),
        ("https://localhost.example.com", False),
        ("https://127.0.0.1.example.com", False),
        ("https://kubernetes.example.com:6443", False),
    ],
)
def test_another_context_is_touched_only_on_this_machine(tmp_path, server, here):
    config = tmp_path / "config"
    config.write_text(
        json.dumps(
            {
                "apiVersion": "v1",
                "kind": "Config",
                "clusters": [{"name": "c", "cluster": {"server": server}}],
                "contexts": [{"name": "mine", "context": {"cluster": "c", "user": "u"}}],
                "users": [{"name": "u", "user": {"token": "t"}}],
            }
        )
    )
    if here:
        LiveCluster("mine", config_file=str(config)).close()
    else:
        with pytest.raises(
            InspectorError,
            match=r"refusing context 'mine': .* is not on this machine; only a context named 'kind-lifecycle' may be elsewhere$",
        ):
            LiveCluster("mine", config_file=str(config))
