"""What each word prints, to the letter, and what it asks of the rooms behind it."""

from __future__ import annotations

import asyncio
import io
import json
import signal
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from click.testing import CliRunner, Result
from rich.console import Console

from lifecycle.cli import compare as _compare_word
from lifecycle.cli import main
from lifecycle.cli.live_comparison import noise_floor, record_now
from lifecycle.cli.trace import as_document, stages_table
from lifecycle.compare import AgreementTable, compare
from lifecycle.exercises.exercise import Case, Exercise
from lifecycle.trace.journey import Journey, Step

COMPARE, INSPECT, UP = (sys.modules[f"lifecycle.cli.{name}"] for name in ("compare", "inspect", "up"))
assert _compare_word.name == "compare"


def run(*words: str, **more: Any) -> Result:
    return CliRunner().invoke(main, list(words), prog_name="lifecycle", **more)


def said(result: Result, code: int = 0) -> str:
    assert result.exit_code == code, result.output
    return result.stdout if code == 0 else result.stderr


def line(n: int, path: str, **more: Any) -> str:
    told = {
        "n": n, "t": 0, "ms": 1, "as": "admin", "note": None, "method": "GET", "path": path, "content_type": None,
        "accept": "application/json", "headers_sent": None, "body": None, "status": 200, "headers": {"a": "b"},
        "response": {"x": 1},
    }  # fmt: skip
    return json.dumps(told | more) + "\n"


@pytest.fixture
def recordings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    files = {
        "http/discovery.jsonl": line(0, "/version", response={"gitVersion": "v1"}),
        "http/authz.jsonl": line(3, "/a", note="later") + line(4, "/" + "b" * 120, identity=None, **{"as": "jane"})
        + line(12, "/c", method="POST", body={"y": 2}, content_type="application/json", status=201, response="text"),
        "http/mine.jsonl": line(0, "/mine"),
        "node/lifecycle-worker/ip-route.txt": "$ ip route\ndefault", "node/lifecycle-worker/ip-route.before.txt": "$ ip route\nnone",
        "dns/svc.txt": "answer", "logs/deep/a.log": "x" * 1234, "etcd/keys.txt": "/registry",
    }  # fmt: skip
    for name, text in files.items():
        file = tmp_path / "some" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    monkeypatch.setenv("LIFECYCLE_RECORDINGS", str(tmp_path))
    return tmp_path


def look(*words: str) -> str:
    return said(run("inspect", *words, "--recording", "some"))


def test_inspect_without_a_stage_names_them_all(recordings: Path) -> None:
    lines = look().splitlines()
    assert lines[:3] == [
        "some (Kubernetes v1, recorded, unknown day)", "", "discovery          groups, versions, resources, health"
    ]  # fmt: skip
    assert lines[2:] == [f"{name:18} {about}" for name, (_, _, about) in INSPECT.STAGES.items()]
    assert INSPECT.STAGES == {
        "discovery": ("http", "discovery", "groups, versions, resources, health"),
        "schemas": ("http", "openapi", "the OpenAPI documents"),
        "authentication": ("http", "authn", "who is asking: certificates, tokens, nobody"),
        "authorization": ("http", "authz", "access reviews, and the roles they were decided from"),
        "admission": ("http", "admission", "what plugins change and refuse"),
        "validation": ("http", "corpus", "manifests good and bad, and what the server says of them"),
        "resource-handling": ("http", "storage", "conflicts, patches, apply, pages, selectors, watches"),
        "objects": ("http", "objects", "every object of the fresh cluster"),
        "journey": ("http", "journey", "create, expose, scale, new image, undo, scale down, delete"),
        "scheduling": ("http", "scheduling", "one pod at a time"),
        "kubelet": ("http", "kubelet", "pods of many shapes until they settled"),
        "services": ("http", "services", "Services of every shape, their endpoints"),
        "storage": ("etcd", "", "keys and raw values in etcd"),
        "audit": ("audit", "", "every request of every component during the journey"),
        "kubectl": ("kubectl", "", "kubectl's own output, with traces of its requests"),
        "dns": ("dns", "", "what dig printed"),
        "logs": ("logs", "", "component logs"),
        "node": ("node", "", "commands run in a node: iptables-save, crictl-ps, mounts …"),
    }


def test_inspect_lists_questions_and_shows_one(recordings: Path) -> None:
    assert look("authorization").splitlines() == [
        "some (Kubernetes v1, recorded, unknown day): authz, 3 questions",
        "    3  200  GET    /a  (later)",
        f"    4  200  GET    /{'b' * 99}  as jane",
        "   12  201  POST   /c",
    ]
    assert look("mine").splitlines()[1:] == ["    0  200  GET    /mine"]
    assert look("authz", "3") == 'GET /a\nAccept: application/json\n\n200\na: b\n\n{\n  "x": 1\n}\n'
    assert look("authz", "12") == (
        'POST /c\nAccept: application/json\nContent-Type: application/json\n\n{\n  "y": 2\n}\n\n201\na: b\n\ntext\n'
    )
    refused = said(run("inspect", "authz", "5", "--recording", "some"), 2)
    assert refused == "lifecycle: authz has no question '5'; they are numbered 3 to 12\n"
    refused = said(run("inspect", "none", "--recording", "some"), 2)
    assert refused == f"lifecycle: no stage 'none'; there are: {', '.join(INSPECT.STAGES)}\n"


def test_inspect_shows_nodes_and_files(recordings: Path) -> None:
    assert look("node") == "lifecycle-worker\n"
    assert look("node", "worker") == f"{'ip-route':26} {'ip route':60}  before, (end)\n"
    assert look("node", "worker", "ip-route") == "default"
    assert look("node", "worker", "ip-route", "before") == "none"
    assert look("dns", "svc.txt") == "answer"
    assert look("storage") == f"{'keys.txt':40} {9:>10} bytes\n"
    assert look("logs") == f"{'deep/a.log':40} {'1,234':>10} bytes\n"


class Live:
    """A live cluster that is asked one thing."""

    provenance = "live now"

    def __init__(self, *context: str) -> None:
        self.context = context

    def __enter__(self) -> Live:
        return self

    def __exit__(self, *_: object) -> None:
        self.context = ("closed",)

    def node(self, name: str) -> Any:
        return SimpleNamespace(run=lambda command: f"{name} ran {command}")

    def get(self, path: str) -> Any:
        return "text" if path == "/healthz" else {"items": [{"path": path}] if self.context == ("with",) else []}


@pytest.fixture
def live(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lifecycle.inspector.LiveCluster", Live)


def test_inspect_asks_a_live_cluster(live: None) -> None:
    assert said(run("inspect", "--live")) == "live now\n"
    assert said(run("inspect", "--live", "node", "w", "ip r")) == "w ran ip r"
    assert said(run("inspect", "--live", "/api")) == '{\n  "items": []\n}\n'
    assert said(run("inspect", "--live", "/healthz")) == "text\n"
    for words in (("node",), ("node", "w"), ("node", "a", "b", "c"), ("journey",)):
        refused = said(run("inspect", "--live", *words), 2)
        assert refused == "lifecycle: live, STAGE is a path such as /api/v1/nodes, or: node NAME COMMAND\n"


# -- check -------------------------------------------------------------------------------------------------------------

EXERCISE = Exercise(
    "small", "A small one", "f(x) -> x", "def f(x):\n    return 0\n", "here",
    lambda: iter([
        Case("g", "one", 1, lambda f: f(1)), Case("g", "two", 2, lambda f: f(2), [2]),
        Case("g", "three", Path("p"), lambda f: f(3), [3], {"n": 3}),
    ]),
    lambda: lambda x: x,
)  # fmt: skip


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lifecycle.exercises.catalogue.EXERCISES", (EXERCISE,))
    monkeypatch.setattr("lifecycle.exercises.catalogue.find_exercise", {"small": EXERCISE}.__getitem__)


def test_check_tells_what_is_wanted(small: None) -> None:
    assert said(run("check")) == said(run("check", "--list")) == said(run("check", "small", "--list")) == (
        f"{'small':22} A small one\n"
    )  # fmt: skip
    assert said(run("check", "small")) == (
        "A small one\n\nf(x) -> x\n\nBegin with: lifecycle check small --starter > mine.py\n"
    )
    assert said(run("check", "small", "--starter")) == "def f(x):\n    return 0\n"
    assert said(run("check", "small", "--show", "one")) == '{\n "answer": 1\n}\n'
    assert said(run("check", "small", "--show", "two")) == '{\n "question": [\n  2\n ],\n "answer": 2\n}\n'
    assert said(run("check", "small", "--show", "three")) == '{\n "question": {\n  "n": 3\n },\n "answer": "p"\n}\n'
    assert said(run("check", "small", "--show", "four"), 1) == (
        "lifecycle: small has no question named 'four'; a wrong answer says how its question is called\n"
    )
    assert said(run("check", "none"), 2) == "lifecycle: none\n"


def test_check_grades(small: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "mine.py").write_text(EXERCISE.starter)
    graded = run("check", "small", f"{tmp_path / 'mine.py'}:f")
    assert graded.exit_code == 1
    assert f"yours: {tmp_path / 'mine.py'}:f" in graded.stdout.replace("\n", "")
    ours = run("check", "small", "--ours")
    assert "yours: lifecycle · the right answers: here" in ours.stdout
    assert max(map(len, graded.stdout.splitlines())) <= 140


# -- compare -----------------------------------------------------------------------------------------------------------


def table(title: str, *pairs: tuple[Any, Any]) -> AgreementTable:
    made = AgreementTable(title, "us", "them")
    for number, (ours, theirs) in enumerate(pairs):
        made.add("s:", f"GET /{number}", "a", "b", compare(ours, theirs))
    return made


@pytest.fixture
def tables(recordings: Path, monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    asked: list[Any] = []

    def made(against: str, theirs: Any, stages: tuple[str, ...], latency: Any, seed: int, bar: Any) -> Any:
        asked.append((against, theirs.name, stages, latency, seed))
        return [table("t", (1, 1), ("x", "x" if against != "worse" else "y"))]

    monkeypatch.setattr(COMPARE, "_tables", made)
    return asked


def test_compare_asks_what_ours_has_to_work_out(tables: list[Any], tmp_path: Path) -> None:
    assert said(run("compare", "--recording", "some")).count("2 of 2 answers equal") == 1
    assert tables == [("embedded", "some", ("authz", "dns"), "recorded", 1)]
    assert COMPARE.COMPUTED == (
        "journey", "scheduling", "services", "kubelet", "authz", "admission", "corpus", "storage"
    )  # fmt: skip
    file = tmp_path / "tables.json"
    given = ("mine", "--recording", "some", "--json", str(file), "--seed", "7", "--latency", "0.5", "--all-rows")
    said(run("compare", *given))
    assert tables[1] == ("embedded", "some", ("mine",), 0.5, 7)
    assert file.read_text() == json.dumps([json.loads(table("t", (1, 1), ("x", "x")).to_json())], indent=1)
    worse = run("compare", "mine", "--recording", "some", "--against", "worse")
    assert (worse.exit_code, tables[2][:3]) == (1, ("worse", "some", ("mine",)))


def test_compare_prints_every_row_if_asked(recordings: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    many = [(1, 1)] * 70
    monkeypatch.setattr(COMPARE, "_tables", lambda *_: [table("t", *many)])
    assert "… and 10 more rows" in said(run("compare", "mine", "--recording", "some"))
    whole = said(run("compare", "mine", "--recording", "some", "--all-rows"))
    assert "more rows" not in whole
    assert "GET /69" in whole


def test_compare_knows_only_what_was_recorded(tables: list[Any], recordings: Path, tmp_path: Path) -> None:
    refused = said(run("compare", "none", "--recording", "some"), 2)
    assert refused == "lifecycle: some has no stage 'none'; it has: authz, discovery, mine, dns\n"
    refused = said(run("compare", "dns", "--recording", "some", "--against", "other"), 2)
    assert refused == "lifecycle: some has no stage 'dns'; it has: authz, discovery, mine\n"
    (recordings / "some" / "node" / "lifecycle-worker" / "iptables-save.before.txt").write_text("")
    said(run("compare", "--recording", "some"))
    assert tables[-1][2] == ("authz", "iptables", "dns")
    missing = tmp_path / "no" / "x.json"
    refused = said(run("compare", "--json", str(missing)), 1)
    assert refused == f"lifecycle: {missing}: there is no folder {missing.parent}\n"
    for words in (
        ("--live", "c", "--noise", "a", "b"),
        ("--live", "c", "--against", "x"),
        ("--against", "x", "--noise", "a", "b"),
    ):
        assert said(run("compare", *words), 2) == "lifecycle: --live, --noise and --against exclude each other\n"


def test_noise_is_asked_of_everything_that_was_recorded(tables: list[Any], recordings: Path) -> None:
    (recordings / "again").symlink_to(recordings / "some")
    shown = said(run("compare", "--noise", "again", "some"))
    assert tables == [("again", "some", ("authz", "discovery", "mine"), "recorded", 1)]
    last = shown.splitlines()[-1]
    assert last.startswith("noise floor: 0 of 2 fields (0.00 %) differ between two recordings of one cluster; 0 more")


def test_the_noise_floor_counts_fields_and_freedoms() -> None:
    some = table("t", *[(1, 1)] * 1500, (1, 2), (3, 4))
    some.rows[0].comparison.freedoms["uids"] += 2000
    assert noise_floor([some, table("u", (1, 1))]) == (
        "noise floor: 2 of 1,503 fields (0.13 %) differ between two recordings of one cluster; 2,000 more differ by a"
        " freedom that was granted"
    )
    assert noise_floor([]).startswith("noise floor: 0 of 0 fields (0.00 %) differ")


def test_two_recordings_are_compared_stage_by_stage(recordings: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Any] = []
    monkeypatch.setattr(
        "lifecycle.compare.compare_recordings",
        lambda ours, theirs, stage: asked.append((ours.name, theirs.name, stage)) or table("t"),
    )
    (recordings / "again").symlink_to(recordings / "some")
    said(run("compare", "mine", "authz", "--recording", "some", "--against", "again"))
    assert asked == [("again", "some", "mine"), ("again", "some", "authz")]
    (recordings / "less" / "http").mkdir(parents=True)
    (recordings / "less" / "http" / "authz.jsonl").write_text("")
    refused = said(run("compare", "mine", "authz", "--recording", "some", "--against", "less"), 2)
    assert refused == "lifecycle: less has no stage mine; it has: authz\n"


@pytest.mark.parametrize(("against", "context"), [("kind", "kind-lifecycle"), ("kind-lifecycle", "kind-lifecycle")])
def test_a_live_cluster_is_recorded_first(recordings, monkeypatch, live, against: str, context: str) -> None:
    asked: list[Any] = []

    def record(cluster: Live, folder: Path, stages: list[str], *, progress: bool) -> Path:
        asked.append((cluster.context, folder.name, stages, progress))
        (folder / "http").mkdir(parents=True, exist_ok=True)
        return folder

    monkeypatch.setattr("lifecycle.inspector.recorder.record", record)
    monkeypatch.setattr(
        "lifecycle.compare.compare_recordings",
        lambda ours, theirs, stage: asked.append((ours.name, theirs.name, stage)) or table("t"),
    )
    said(run("compare", "mine", "authz", "--recording", "some", "--against", against))
    assert asked == [
        ((context,), against, ["mine"], False), (against, "some", "mine"), ((context,), against, ["authz"], False),
        (against, "some", "authz"),
    ]  # fmt: skip


def test_the_embedded_cluster_is_asked_with_its_own_times(recordings: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Any] = []

    def agreement(theirs: Any, stage: str, *, latency: Any, seed: int, on_step: Any) -> Any:
        on_step(None)
        asked.append((theirs.name, stage, latency, seed))
        return table("t")

    monkeypatch.setattr("lifecycle.cluster.agree.agreement_with", agreement)
    for name, function in (("dns_answers", "dns_agreement"), ("proxy.iptables_rules", "iptables_agreement")):
        monkeypatch.setattr(
            f"lifecycle.agreements.{name}.{function}", lambda theirs, n=function: asked.append(n) or table("t")
        )
    (recordings / "some" / "node" / "lifecycle-worker" / "iptables-save.txt").write_text("")
    said(run("compare", "mine", "dns", "iptables", "--recording", "some", "--seed", "3", "--latency", "2"))
    assert asked == [("some", "mine", 2.0, 3), "dns_agreement", "iptables_agreement"]


def test_a_live_cluster_and_ours_are_asked_the_same_now(recordings, monkeypatch, live, tables) -> None:
    asked: list[Any] = []

    def record(cluster: Live, folder: Path, stages: Any, *, pause: float, progress: bool) -> Path:
        asked.append((cluster.context, folder.name, stages, pause, progress))
        (folder / "http").mkdir(parents=True)
        for stage in stages:
            (folder / "http" / f"{stage}.jsonl").write_text("")
        return folder

    monkeypatch.setattr("lifecycle.inspector.recorder.record", record)
    said(run("compare", "mine", "objects", "--live", "ctx"))
    assert asked == [(("ctx",), "ctx", ("objects", "mine"), 2.0, False)]
    assert tables[0][:3] == ("embedded", "ctx", ("mine", "objects"))
    said(run("compare", "--live", "with"))
    assert asked[1][2] == ("objects", "discovery", "journey", "storage")
    assert record_now.__name__ == "record_now"


# -- record, claims, doctor, kubectl, image ------------------------------------------------------------------------------


def test_record_says_where_it_is(live: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Any] = []
    monkeypatch.setattr(
        "lifecycle.inspector.recorder.record",
        lambda cluster, out, scenarios, **how: asked.append((cluster.context, out, scenarios, how)) or out,
    )
    out = tmp_path / "out"
    how = {"pause": 2.0, "progress": False}
    assert said(run("record", "--context", "with", str(out))) == f"recorded {out}\n"
    out.mkdir()
    said(run("record", "--context", "c", str(out), "--scenario", "objects", "--scenario", "storage", "--pause", "0.5"))
    assert asked == [
        (("with",), out, ("discovery", "objects", "journey", "storage"), how),
        (("c",), out, ("objects", "storage"), how | {"pause": 0.5}),
    ]
    (out / "x").write_text("")
    assert said(run("record", "--context", "c", str(out)), 1) == (
        f"lifecycle: {out} is there already; name a folder that is not\n"
    )
    assert "is there already" in said(run("record", "--context", "c", str(out / "x")), 1)
    refused = said(
        run("record", "--context", "c", "new", "--scenario", "no", "--scenario", "objects", "--scenario", "nor"), 2
    )
    assert refused.startswith("lifecycle: no scenario no, nor; there are: discovery, endpoints, ")


def test_doctor_looks_and_cleans(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "here")
    monkeypatch.setattr("lifecycle.cluster.doctor.checkup", lambda path: [f"programs on {path}"])
    for name in ("extras", "real_containers", "abandoned"):
        monkeypatch.setattr(f"lifecycle.cluster.doctor.{name}", lambda name=name: [name])
    monkeypatch.setattr("lifecycle.cluster.linux.clean.clean_abandoned", lambda: ["taken away: x"])
    assert said(run("doctor")) == "programs on here\nextras\nreal_containers\nabandoned\n"
    assert said(run("doctor", "--clean")) == "taken away: x\nnothing of a former run is left\n"
    monkeypatch.setattr(sys, "platform", "darwin")
    assert said(run("doctor", "--clean")) == "nothing of a former run is left\n"


@pytest.mark.parametrize(
    ("ends", "code", "err"),
    [
        (lambda: 0, 0, ""), (lambda: 7, 7, ""), (KeyboardInterrupt, 130, ""), (OSError("odd"), 1, "lifecycle: odd\n"),
        (BrokenPipeError, 1, ""),
    ],
)  # fmt: skip
def test_kubectl_leaves_as_kubectl_does(monkeypatch, ends: Any, code: int, err: str) -> None:
    asked: list[Any] = []
    copied: list[Any] = []

    async def kubectl(argv: Any, *, out: Any, err: Any) -> int:
        asked.append((argv, out is sys.stdout, err is sys.stderr))
        if isinstance(ends, BaseException) or (isinstance(ends, type) and issubclass(ends, BaseException)):
            raise ends
        return ends()

    module = sys.modules["lifecycle.cli.kubectl"]
    monkeypatch.setattr("lifecycle.kubectl.main.main", kubectl)
    monkeypatch.setattr(module.os, "dup2", lambda *files: copied.append(files))
    monkeypatch.setattr(module.sys, "stdout", module.sys.stdout)
    monkeypatch.setattr("click.testing._NamedTextIOWrapper.fileno", lambda self: 77, raising=False)
    result = run("kubectl", "get", "pods", "-o", "wide", "--help")
    assert asked == [(("get", "pods", "-o", "wide", "--help"), True, True)]
    assert (result.exit_code, result.stdout, result.stderr) == (code, "", err)
    assert [to for _, to in copied] == ([77] if ends is BrokenPipeError else [])


def test_images_are_loaded_built_and_listed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LIFECYCLE_IMAGES", str(tmp_path / "images"))
    assert said(run("image", "ls")) == "NAME  DIGEST        SIZE\n"
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "page.html").write_text("hello")
    extra = tmp_path / "extra"
    extra.write_text("more")
    asked: list[Any] = []
    from lifecycle.cri.images import from_files

    image_from = from_files.image_from
    monkeypatch.setattr(
        "lifecycle.cri.images.from_files.image_from",
        lambda *args, **named: asked.append((args, named)) or image_from(*args, **named),
    )
    given = ("-t", "web:1", "--tag", "x.example/web", "--add", f"{extra}:/etc/more", "--entrypoint", "/bin/a", "--entrypoint", "b",
             "--cmd", "c", "--env", "A=B=C")  # fmt: skip
    built = said(run("image", "build", str(folder), *given)).splitlines()
    assert [each.split(" sha256:")[0] for each in built] == [
        "Built image: docker.io/library/web:1", "Built image: x.example/web:latest"
    ]  # fmt: skip
    how = {"shell": False, "entrypoint": ("/bin/a", "b"), "command": ("c",), "environment": ("A=B=C",),
           "files": {"/etc/more": extra}}  # fmt: skip
    assert asked == [((folder,), how)]
    listed = said(run("image", "ls")).splitlines()
    assert [each.split()[0] for each in listed] == ["NAME", "docker.io/library/web:1", "x.example/web:latest"]
    assert [each[: len("docker.io/library/web:1")].strip() for each in listed] == [each.split()[0] for each in listed]
    assert len(listed[1].split()[1]) == 12
    assert listed[1].split()[2] == "0.0MB"
    for wrong in ("x", ":/x", f"{extra}:x", f"{extra}:"):
        refused = said(run("image", "build", str(folder), "-t", "w", "--add", wrong), 2)
        assert refused == f"lifecycle: --add wants FILE:/PATH, not {wrong}\n"
    refused = said(run("image", "build", str(folder), "-t", "w", "--env", "A=1", "--env", "B"), 2)
    assert refused == "lifecycle: --env wants NAME=VALUE, not B\n"
    monkeypatch.setattr("lifecycle.cri.images.archive.read_archive", lambda file: {f"n/{file.name}": None})
    kept: list[Any] = []
    monkeypatch.setattr("lifecycle.cri.images.library.ImageLibrary.add", lambda self, images: kept.append(images))
    assert said(run("image", "load", str(extra), str(folder))) == "Loaded image: n/extra\nLoaded image: n/folder\n"
    assert kept == [{"n/extra": None}, {"n/folder": None}]


# -- trace and up --------------------------------------------------------------------------------------------------------

JOURNEY = Journey(
    "pods/a",
    (
        Step("kubectl", "create", 0.0, 0.1, "a"), Step("kubelet", "pull", 0.1, 0.2), Step("kubelet", "pull", 0.5, 0.9),
        Step("kubelet", "status", 0.9, 1.0), Step("other", "x", 1.0, 1.0),
    ),
    "here",
)  # fmt: skip


def test_the_stages_of_a_journey_are_rows_with_a_line_of_time() -> None:
    console = Console(width=120, no_color=True, record=True, force_terminal=False, file=io.StringIO())
    console.print(stages_table(JOURNEY))
    rows = console.export_text().splitlines()
    assert [row.rstrip() for row in rows] == EXPECTED
    assert [cell.style for cell in stages_table(JOURNEY).columns[0]._cells] != [""] * 4  # type: ignore[union-attr]


def test_a_journey_without_a_length_has_marks_at_its_beginning() -> None:
    marks = list(stages_table(Journey("x", (Step("a", "b", 0.0, 0.0),))).columns[3].cells)
    assert [str(mark) for mark in marks] == ["▇"]


def test_a_journey_for_machines() -> None:
    step = {
        "component": "kubectl",
        "stage": "create",
        "start": 0.0,
        "end": 0.1,
        "about": "a",
        "depth": 0,
        "attributes": {},
    }
    document = as_document(JOURNEY)
    assert document == {"title": "pods/a", "provenance": "here", "seconds": 1.0, "steps": document["steps"]}
    assert (document["steps"][0], len(document["steps"])) == (step, 5)


EXPECTED = [
    "pods/a – 1.00 s on here",
    "component  stage   first at  from the request to the last pod          times    in all",
    "kubectl    create      0 µs  ▇▇▇▇▇                                        1×  100.0 ms",
    "kubelet    pull    100.0 ms      ▇▇▇▇▇           ▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇        2×  500.0 ms",
    "           status  900.0 ms                                      ▇▇▇▇     1×  100.0 ms",
    "other      x         1.00 s                                         ▇     1×      0 µs",
]


class Cluster:
    """Starts, serves and stops."""

    url, dns, machines = "https://127.0.0.1:1", SimpleNamespace(port=53), SimpleNamespace(where="nodes live in /x")

    def __init__(self, config: Any) -> None:
        self.config, self.done = config, DONE

    async def start(self, write: Any) -> None:
        write()
        if self.config == "slow":
            os_kill(signal.SIGTERM)
            await asyncio.get_running_loop().create_future()
        if self.config == "bare":
            self.dns = self.machines = None  # type: ignore[assignment]

    def write_kubeconfig(self, kubeconfig: Path, context: str) -> None:
        kubeconfig.write_text(context)

    async def failure(self) -> None:
        if self.config == "failing":
            raise OSError("a part has gone")
        os_kill(signal.SIGINT)
        await asyncio.get_running_loop().create_future()

    async def stop(self) -> None:
        self.done.append("stopped")


DONE: list[str] = []


def os_kill(number: int) -> None:
    import os

    os.kill(os.getpid(), number)


@pytest.mark.parametrize(
    ("config", "code", "out", "err"),
    [
        (
            "whole", 0, "ready https://127.0.0.1:1\n",
            "kubeconfig: {}\ndns: 127.0.0.1:53 (try dig @127.0.0.1 -p 53 kubernetes.default.svc.cluster.local)\nnodes live in /x\n",
        ),
        ("bare", 0, "ready https://127.0.0.1:1\n", "kubeconfig: {}\n"),
        ("failing", 1, "ready https://127.0.0.1:1\n", None),
        ("slow", 143, "", "lifecycle: ended by a signal before the cluster was ready\n"),
    ],
)  # fmt: skip
def test_a_cluster_says_where_it_is_and_stops(
    tmp_path, monkeypatch, config: str, code: int, out: str, err: str | None
) -> None:
    DONE.clear()
    kubeconfig = tmp_path / "kc"
    monkeypatch.setattr("lifecycle.cluster.cluster.Cluster", Cluster)
    for name in ("api.freed_memory.keep_little", "cluster.background.favour_throughput"):
        monkeypatch.setattr(f"lifecycle.{name}", lambda name=name: DONE.append(name))
    monkeypatch.setattr(
        "lifecycle.cluster.cluster_config.ClusterConfig",
        lambda **_: SimpleNamespace(check=lambda: DONE.append("checked")),
    )
    serve = UP._serve
    monkeypatch.setattr(UP, "_serve", lambda _, *where: serve(config, *where))
    result = run("up", "--kubeconfig", str(kubeconfig), "--context", "mine")
    assert (result.exit_code, result.stdout) == (code, out)
    told = result.stderr if err is not None else ""
    assert told == (err or "").format(kubeconfig)
    throughput = "cluster.background.favour_throughput"
    ready = [] if config == "slow" else ["api.freed_memory.keep_little", throughput]
    assert ["checked", *ready, "stopped"] == DONE
    assert kubeconfig.exists() == (config != "slow"), "it would name a server that is gone"
    if config != "slow":
        assert kubeconfig.read_text() == "mine"
