"""A recorder touches what was made for it, keeps each line as it came, and leaves nothing behind."""

from __future__ import annotations

import json
import threading
from contextlib import contextmanager
from typing import Any

import pytest

from lifecycle.inspector import recorder
from lifecycle.inspector.errors import InspectorError
from lifecycle.inspector.exchange import Exchange
from lifecycle.inspector.recorder import line_of, record
from lifecycle.inspector.scenario import Scenario, Step


class Answer:
    """An open response: a watch's chunks, or a body."""

    def __init__(self, body: bytes = b"{}", chunks: list[Any] | None = None) -> None:
        self.status, self.headers, self.body, self.chunks = (
            200,
            {"Content-Type": "application/json"},
            body,
            chunks or [],
        )
        self.ended: list[str] = []
        self.over = threading.Event()

    def read(self) -> bytes:
        return self.body

    def release_conn(self) -> None:
        self.ended.append("released")

    def stream(self, amt: int | None, decode_content: bool) -> Any:
        assert (amt, decode_content) == (None, False)
        for chunk in self.chunks:
            if isinstance(chunk, Exception):
                raise chunk
            yield chunk
        self.over.wait(5)

    def shutdown(self) -> None:
        self.ended.append("shut down")
        self.over.set()

    def close(self) -> None:
        self.ended.append("closed")


class Cluster:
    """A live cluster that notes what is done to it."""

    live, name, config_file = True, "kind-some", "config"

    def __init__(self, *namespaces: Any, chunks: list[Any] | None = None) -> None:
        self.lists = list(namespaces) or [{}]
        self.done: list[str] = []
        self.chunks = chunks
        self.opened: list[Answer] = []
        self.sent: list[tuple[str, str, dict[str, str], bytes]] = []

    def get(self, path: str) -> Any:
        assert path == "/api/v1/namespaces"
        self.done.append("look")
        some = self.lists.pop(0) if len(self.lists) > 1 else self.lists[0]
        return {"items": [{"metadata": {"name": name, **meta}} for name, meta in some.items()]}

    def open(self, method: str, path: str, headers: dict[str, str], body: bytes) -> Answer:
        self.done.append(f"{method} {path}")
        self.sent.append((method, path, headers, body))
        self.opened.append(Answer(json.dumps({"path": path}).encode(), self.chunks))
        return self.opened[-1]

    @contextmanager
    def namespace(self, name: str) -> Any:
        self.done.append(f"make {name}")
        yield name
        self.done.append(f"delete {name}")

    def adopt_namespace(self, name: str) -> None:
        self.done.append(f"adopt {name}")

    def delete_namespace(self, name: str) -> None:
        self.done.append(f"delete {name}")


@pytest.fixture
def scenarios(monkeypatch: pytest.MonkeyPatch) -> dict[str, Scenario]:
    kept: dict[str, Scenario] = {}
    monkeypatch.setattr(recorder, "load_scenario", kept.__getitem__)
    monkeypatch.setattr(recorder, "kubectl_on_path", lambda: False)
    return kept


def lines(out: Any, name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (out / name).read_text().splitlines()]


WATCH = "watch=true&allowWatchBookmarks=true&timeoutSeconds=3600"


def test_watches_are_open_before_the_first_question_and_what_was_made_is_deleted(scenarios, tmp_path) -> None:
    scenarios["s"] = Scenario("s", (Step("GET", "/a", number=0), Step("GET", "/b", number=1)), ("/w", "/v"), ("n",))
    chunks = [b'{"e": 1}\n\n{"e"', b": 2}\n", b'{"cut', ValueError("gone")]
    cluster = Cluster(chunks=chunks)
    out = record(cluster, str(tmp_path / "deep" / "out"), ["s"], pause=0.0, progress=False)  # type: ignore[arg-type]
    assert out == tmp_path / "deep" / "out"
    assert cluster.done == ["look", f"GET /w?{WATCH}", f"GET /v?{WATCH}", "adopt n", "GET /a", "GET /b", "delete n"]
    assert cluster.sent[0][2:] == ({"Accept": "application/json", "User-Agent": "recorder"}, b"")
    assert [each.ended for each in cluster.opened] == [["shut down", "closed"]] * 2 + [["released"]] * 2
    kept = lines(out, "http/s.jsonl")
    assert [(each["n"], each["path"], each["response"]) for each in kept] == [
        (0, "/a", {"path": "/a"}), (1, "/b", {"path": "/b"})
    ]  # fmt: skip
    watched = lines(out, "watch/s.jsonl")
    assert sorted((each["path"], each["event"]["e"]) for each in watched) == [
        ("/v", 1),
        ("/v", 2),
        ("/w", 1),
        ("/w", 2),
    ]
    times = [each["t"] for each in watched]
    assert times == sorted(times)
    assert 0 <= times[0] <= times[-1] < 5
    assert not (out / "namespaces.json").exists()
    record(cluster, out, ["s"], pause=0.0, progress=False)  # type: ignore[arg-type]
    assert len(lines(out, "http/s.jsonl")) == 2, "written anew"


def test_without_watches_no_file_of_them_is_written(scenarios, tmp_path) -> None:
    scenarios["s"] = Scenario("s", (Step("GET", "/api/v1/namespaces/default/pods", number=0),))
    cluster = Cluster()
    out = record(cluster, tmp_path, ["s"], progress=False)  # type: ignore[arg-type]
    assert [path.name for path in out.iterdir()] == ["http"]
    assert cluster.done == ["GET /api/v1/namespaces/default/pods"], "reading there touches nothing"


def test_what_would_write_to_default_gets_a_namespace_of_its_own_and_says_so(scenarios, tmp_path) -> None:
    pods = "/api/v1/namespaces/default/pods"
    for name in ("s", "r"):
        scenarios[name] = Scenario(name, (Step("POST", pods, body={"metadata": {"namespace": "default"}}, number=0),))
    cluster = Cluster()
    out = record(cluster, tmp_path / "out", ["s", "r"], progress=False)  # type: ignore[arg-type]

    def one(name: str) -> list[str]:
        where = f"/api/v1/namespaces/lifecycle-{name}"
        furnished = [f"GET {where}/serviceaccounts/default", f"GET {where}/configmaps/kube-root-ca.crt"]
        return [f"make lifecycle-{name}", *furnished, f"POST {where}/pods", f"delete lifecycle-{name}"]

    assert cluster.done == ["look", "look", *one("s"), *one("r")]
    assert (out / "namespaces.json").read_text() == (
        '{\n "s": {\n  "lifecycle-s": "default"\n },\n "r": {\n  "lifecycle-r": "default"\n }\n}\n'
    )
    [line] = lines(out, "http/s.jsonl")
    assert (line["path"], line["body"]) == (
        "/api/v1/namespaces/lifecycle-s/pods", {"metadata": {"namespace": "lifecycle-s"}}
    )  # fmt: skip


def test_the_first_two_scenarios_are_recorded_if_none_are_said(scenarios, tmp_path) -> None:
    for name in ("discovery", "objects", "journey", "storage"):
        scenarios[name] = Scenario(name, ())
    out = record(Cluster(), tmp_path, progress=False)  # type: ignore[arg-type]
    assert sorted(path.name for path in (out / "http").iterdir()) == [
        "discovery.jsonl", "journey.jsonl", "objects.jsonl", "storage.jsonl"
    ]  # fmt: skip


def test_a_failure_still_deletes_what_was_made(scenarios, tmp_path) -> None:
    scenarios["s"] = Scenario("s", (Step("GET", "/a", number=0),), ("/w",), ("n",))

    class Broken(Cluster):
        def open(self, method: str, path: str, headers: dict[str, str], body: bytes) -> Answer:
            if path == "/a":
                raise OSError("gone")
            return super().open(method, path, headers, body)

    cluster = Broken()
    with pytest.raises(OSError, match=r"gone$"):
        record(cluster, tmp_path, ["s"], progress=False)  # type: ignore[arg-type]
    assert cluster.done[-1] == "delete n"
    assert cluster.opened[0].ended == ["shut down", "closed"]


def test_a_watch_that_ended_by_itself_is_closed_all_the_same(scenarios, tmp_path) -> None:
    class Ended(Answer):
        def shutdown(self) -> None:
            self.over.set()
            raise OSError("not connected")

    answer = Ended()
    watch = recorder.WatchThread(Cluster(), "/w")  # type: ignore[arg-type]
    watch.close()  # before it was opened
    watch._cluster.open = lambda *_: answer  # type: ignore[method-assign, assignment, return-value]
    watch.open(0.0)
    assert watch._thread is not None
    assert (watch._thread.name, watch._thread.daemon) == ("watch /w", True)
    watch.close()
    assert answer.ended == ["closed"]
    assert not watch._thread.is_alive()


@pytest.mark.parametrize("patience", [60.0, 0.5])
def test_an_earlier_recordings_namespace_is_waited_for_and_somebody_elses_refused(monkeypatch, patience) -> None:
    now = [100.0]
    monkeypatch.setattr(recorder, "PATIENCE", patience)
    monkeypatch.setattr(recorder.time, "monotonic", lambda: now[0])
    monkeypatch.setattr(recorder.time, "sleep", lambda seconds: now.append(now.pop() + seconds))
    going = {"n": {"deletionTimestamp": "t"}, "other": {}}
    cluster = Cluster(going, going, {"other": {}})
    recorder._make_room(cluster, "n")  # type: ignore[arg-type]
    assert (len(cluster.done), round(now[0], 1)) == (3, 100.4)
    with pytest.raises(InspectorError) as caught:
        recorder._make_room(Cluster({"n": {}}), "n")  # type: ignore[arg-type]
    assert str(caught.value) == "namespace 'n' is there already and was not made here: it stays untouched"
    now[0] = 0.0
    with pytest.raises(InspectorError) as caught:
        recorder._make_room(Cluster(going), "n")  # type: ignore[arg-type]
    words = f"namespace 'n' has been terminating for {patience:.0f} s; try again once it is gone"
    assert str(caught.value) == words
    assert patience < now[0] < patience + 0.3
    assert recorder.DEFAULT_SCENARIOS == ("discovery", "objects", "journey", "storage")


def test_kubectls_words_are_kept_with_its_code_and_moment(scenarios, tmp_path, monkeypatch) -> None:
    ran: list[Any] = []

    def run_kubectl(args: list[str], **where: str) -> Any:
        ran.append((args, where))
        return type("Done", (), {"returncode": 3, "stdout": "out\n", "stderr": "err\n"})

    monkeypatch.setattr(recorder, "kubectl_on_path", lambda: True)
    monkeypatch.setattr(recorder, "run_kubectl", run_kubectl)
    monkeypatch.setattr(recorder, "run_scenario", _asks_kubectl)
    steps = (Step(kubectl="get pods -o wide", file="07-get"), Step(kubectl="x", file="08"))
    scenarios["s"] = Scenario("s", steps)
    cluster = Cluster()
    record(cluster, tmp_path, ["s"], progress=False, pause=4.5)  # type: ignore[arg-type]
    where = {"context": "kind-some", "config_file": "config"}
    assert ran == [(["--namespace", "journey", *words], where) for words in (["get", "pods", "-o", "wide"], ["x"])]
    assert (tmp_path / "kubectl" / "07-get.txt").read_text() == (
        "$ kubectl get pods -o wide\n[exit 3, t=1.500]\nout\n\n[stderr]\nerr\n"
    )
    assert (tmp_path / "http" / "s.jsonl").read_text() == ""


async def _asks_kubectl(target: Any, scenario: Scenario, *, pause: float, kubectl: Any, on_step: Any) -> list[Exchange]:
    assert pause == 4.5
    for step in scenario.steps:
        on_step(step)
        assert kubectl(step, 1.5) is True
    return []


def test_a_line_of_a_recording_is_what_is_read_from_it_again() -> None:
    whole = {
        "n": 3, "t": 0.5, "ms": 2.0, "as": "admin", "note": "m", "method": "PUT", "path": "/a", "content_type": "c",
        "accept": "x", "headers_sent": {"a": "b"}, "body": {"c": 1}, "status": 201, "headers": {"d": "e"},
        "response": {"f": 2},
    }  # fmt: skip
    assert line_of(Exchange.from_line("s", whole)) == whole
    bare = whole | {"note": None, "content_type": None, "body": None}
    assert line_of(Exchange.from_line("s", bare)) == bare


def test_what_is_no_live_cluster_is_not_recorded(tmp_path) -> None:
    class Recorded(Cluster):
        live = False

        def __repr__(self) -> str:
            return "Recorded()"

    with pytest.raises(InspectorError) as caught:
        record(Recorded(), tmp_path)  # type: ignore[arg-type]
    assert str(caught.value) == "refusing to record Recorded(): it is no live cluster"


@pytest.mark.parametrize("progress", [True, False])
def test_each_scenario_has_a_bar_that_moves_with_its_steps(scenarios, tmp_path, monkeypatch, progress) -> None:
    told: list[Any] = []

    class Bar:
        def __init__(self, **how: Any) -> None:
            told.append(how)

        def __enter__(self) -> Bar:
            return self

        def __exit__(self, *_: object) -> None:
            told.append("over")

        def add_task(self, name: str, total: int) -> str:
            told.append((name, total))
            return name

        def advance(self, task: str) -> None:
            told.append(task)

    monkeypatch.setattr(recorder, "Progress", Bar)
    write = Step("POST", "/api/v1/namespaces/default/pods", number=0)
    scenarios["a"], scenarios["b"] = Scenario("a", (Step("GET", "/a"),) * 2), Scenario("b", (write,))
    if progress:
        record(Cluster(), tmp_path, ["a", "b"])  # type: ignore[arg-type]
    else:
        record(Cluster(), tmp_path, ["a", "b"], progress=False)  # type: ignore[arg-type]
    assert told == [{"disable": not progress, "transient": True}, ("a", 2), "a", "a", ("b", 1), "b", "over"]
