"""A recording is a folder: what it holds, where it comes from, and what it says of what it has not."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from lifecycle.inspector import InspectorError, Recording, open_cluster, open_recording, opening, recordings_directory
from lifecycle.inspector.live import LiveCluster
from lifecycle.inspector.node import RecordedNode
from lifecycle.inspector.provenance import Provenance


def line(path: str, response: Any, note: str | None = None) -> str:
    return json.dumps({
        "n": 0, "t": 0, "ms": 1, "as": "admin", "note": note, "method": "GET", "path": path, "content_type": None,
        "accept": None, "headers_sent": None, "body": None, "status": 200, "headers": None, "response": response,
    }) + "\n"  # fmt: skip


def managed(*times: str) -> dict[str, Any]:
    return {"metadata": {"managedFields": [{"time": time} for time in times]}}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    files = {
        "http/discovery.jsonl": line("/api", {}) + line("/version", {"gitVersion": "v1.36.2"}),
        "http/journey.jsonl": line("/a", managed("2026-11-22T23:00:00Z", "2026-11-21T01:00:00Z"), "after create")
        + line("/b", "text", "later") + line("/c", {}, "after create"),
        "http/other.jsonl": line("/d", managed("2020-01-01T00:00:00Z")),
        "watch/journey.jsonl": '{"t": 1}\n{"t": 2}\n',
        "audit/journey.jsonl": '{"a": 1}\n',
        "audit/other.jsonl": '{"a": 2}\n',
        "kubectl/01-a.txt": "one", "dns/svc.txt": "answers", "dns/pod.txt": "others",
        "etcd/status.json": '{"raft": 1}', "etcd/keys.txt": "/registry", "logs/kube-scheduler.v10.log": "scores",
        "logs/kubelet.log": "words",
        "node/lifecycle-worker/ip-route.txt": "$ ip route\ndefault\nlast\n",
        "node/lifecycle-worker/ip-route.before.txt": "$ ip route\nnothing\n",
        "node/lifecycle-worker/mounts.a.txt": "$ cat /proc/mounts\nfirst\n",
        "node/lifecycle-worker/mounts.b.txt": "$ cat /proc/mounts\nsecond\n",
        "node/moon/notes.md": "",
        "namespaces.json": '{"journey": {"lifecycle-journey": "default"}}',
    }  # fmt: skip
    for name, text in files.items():
        file = tmp_path / "some" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    return tmp_path / "some"


def said(ask: Any, *args: Any, **named: Any) -> str:
    with pytest.raises(InspectorError) as caught:
        ask(*args, **named)
    return str(caught.value)


def test_everything_that_was_kept_can_be_read(folder: Path) -> None:
    recording = Recording(folder)
    assert (recording.name, recording.live, repr(recording)) == ("some", False, "Recording('some')")
    assert recording.scenarios() == ["discovery", "journey", "other"]
    assert recording.moments("journey") == ["after create", "later"]
    assert recording.stand_ins("journey") == {"lifecycle-journey": "default"}
    assert recording.stand_ins("other") == {}
    assert list(recording.watch("journey")) == [{"t": 1}, {"t": 2}]
    assert (list(recording.audit()), list(recording.audit("other"))) == ([{"a": 1}], [{"a": 2}])
    assert (recording.kubectl("01-a"), recording.dns(), recording.dns("pod")) == ("one", "answers", "others")
    assert (recording.etcd("status.json"), recording.etcd("keys.txt")) == ({"raft": 1}, "/registry")
    assert (recording.log(), recording.log("kubelet")) == ("scores", "words")
    assert recording.nodes() == ["lifecycle-worker", "moon"]
    (folder / "namespaces.json").unlink()
    assert recording.stand_ins("journey") == {}


def test_a_view_answers_from_its_moment_and_shares_what_was_read(folder: Path) -> None:
    recording = Recording(str(folder))
    view = recording.at("journey", "later")
    assert repr(view) == "Recording('some', 'journey', 'later')"
    assert view.exchanges("journey") is recording.exchanges("journey")
    assert repr(recording.at("journey")) == "Recording('some', 'journey')"
    assert recording.exchanges("journey")[0].scenario == "journey"


def test_what_is_missing_is_told_with_its_neighbours(folder: Path) -> None:
    recording = Recording(folder)
    assert said(Recording, folder / "http") == f"{folder / 'http'} is not a recording: it has no http/ folder"
    assert said(recording.exchanges, "no") == "some has no scenario 'no'; it has: discovery, journey, other"
    assert said(recording.at, "no") == "some has no scenario 'no'; it has: discovery, journey, other"
    assert said(recording.at, "journey", "x") == "'journey' has no moment 'x'; it has: after create, later"
    assert said(recording.kubectl, "02") == "some has no kubectl/02.txt; beside it: 01-a.txt"
    assert said(recording.text, "none/x") == "some has no none/x; beside it: nothing"
    assert said(recording.dns, "x") == "some has no dns/x.txt; beside it: pod.txt, svc.txt"
    assert said(lambda: list(recording.watch("other"))) == "some has no watch/other.jsonl"
    assert said(lambda: list(recording.audit("x"))) == "some has no audit/x.jsonl"
    assert said(recording.node, "sun") == "some recorded no node 'sun'; it has: lifecycle-worker, moon"
    file = folder / "http" / "other.jsonl"
    file.write_text(line("/d", {}) + "{}\n")
    assert said(Recording(folder).exchanges, "other") == f"line 2 of {file} is no recorded exchange: KeyError('n')"
    for each in sorted((folder / "node").rglob("*"), reverse=True):
        each.rmdir() if each.is_dir() else each.unlink()
    (folder / "node").rmdir()
    assert recording.nodes() == []
    assert said(recording.node, "sun") == "some recorded no node 'sun'; it has: none"


def test_commands_of_a_node_are_named_by_file_or_written_out(folder: Path) -> None:
    node = Recording(folder).node("worker")
    assert (node.name, Recording(folder).node("moon").name) == ("lifecycle-worker", "moon")
    assert node.files() == {"ip-route": ["before", ""], "mounts": ["a", "b"]}
    assert node.moments("ip route") == node.moments("ip-route") == ["before", ""]
    assert (node.command_line("ip-route"), node.command_line("mounts")) == ("ip route", "cat /proc/mounts")
    assert node.run("ip-route") == node.run("ip route") == "default\nlast\n"
    assert node.run("ip-route", moment="before") == "nothing\n"
    assert node.run("mounts") == "second\n", "the last look, where none was taken at the end"
    assert said(node.run, "ip-route", moment="x") == (
        "lifecycle-worker: 'ip-route' was not recorded at 'x'; recorded at: before, (end)"
    )
    assert said(node.run, "ls") == "lifecycle-worker: 'ls' was never recorded; recorded: ip-route, mounts"
    assert said(RecordedNode("moon", folder / "node" / "moon").run, "ls") == (
        "moon: 'ls' was never recorded; recorded: nothing"
    )


def test_a_recording_knows_its_version_and_its_first_day(folder: Path) -> None:
    whole = Recording(folder).provenance
    assert whole == Provenance("some", "v1.36.2", "2026-11-21", "recorded")
    assert str(whole) == "some (Kubernetes v1.36.2, recorded, 2026-11-21)"
    assert Recording(folder).at("journey").provenance.cluster == "some at journey"
    assert Recording(folder).at("journey", "later").provenance.cluster == "some at journey, later"
    (folder / "http" / "journey.jsonl").unlink()
    assert Recording(folder).provenance.when == "2020-01-01"
    (folder / "http" / "other.jsonl").unlink()
    assert Recording(folder).provenance == Provenance("some", "v1.36.2", "unknown day", "recorded")
    (folder / "http" / "discovery.jsonl").write_text(line("/api", {}))
    assert Recording(folder).provenance == Provenance("some", "unknown", "unknown day", "recorded")
    (folder / "http" / "discovery.jsonl").unlink()
    assert Recording(folder).provenance.version == "unknown"


def test_recordings_are_looked_for_upwards(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("LIFECYCLE_RECORDINGS", raising=False)
    above = folder.parent
    kept = above / "recordings"
    kept.mkdir()
    folder.rename(kept / "some")
    (above / "deep" / "er").mkdir(parents=True)
    (above / "deep" / "recordings" / "empty").mkdir(parents=True)  # of another kind
    monkeypatch.chdir(above / "deep" / "er")
    assert recordings_directory() == kept
    assert open_recording("some").path == kept / "some"
    assert open_recording(str(kept / "some")).path == kept / "some"
    (kept / "another" / "http").mkdir(parents=True)
    assert said(open_recording, "none") == f"no recording 'none' in {kept}; there are: another, some"
    (above / "deep" / "er" / "some").mkdir()
    assert open_recording("some").path == kept / "some", "a folder of that name here is no recording"
    assert open_cluster("recorded", recording="some").name == "some"


def test_without_a_folder_one_is_told_how_to_name_it(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("LIFECYCLE_RECORDINGS", raising=False)
    monkeypatch.chdir(folder)
    monkeypatch.setattr(opening, "__file__", str(folder / "opening.py"))
    assert said(recordings_directory) == (
        f"no recordings/ folder in {folder} or above it; LIFECYCLE_RECORDINGS can name one (the repository has it,"
        " the installed package does not)"
    )
    monkeypatch.setenv("LIFECYCLE_RECORDINGS", "nowhere")
    assert said(recordings_directory) == "LIFECYCLE_RECORDINGS=nowhere is not a folder"
    monkeypatch.setenv("LIFECYCLE_RECORDINGS", str(folder.parent))
    assert open_recording("some").path == folder


def test_who_asks_for_a_live_cluster_gets_it_and_kind_is_short_for_its_context(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(opening, "LiveCluster", "the cluster {}".format)
    monkeypatch.setenv("LIFECYCLE_CLUSTER", "mine")
    opened = [str(open_cluster(name)) for name in (None, "kind", "other")]
    assert opened == ["the cluster mine", "the cluster kind-lifecycle", "the cluster other"]
    assert LiveCluster.live is True
