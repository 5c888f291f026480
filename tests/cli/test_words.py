"""The words of the `lifecycle` command: what they print, and how they refuse."""

import json
import os
import re
import signal
import subprocess
import sys

import pytest
from click.testing import CliRunner

from lifecycle.cli import main


def run(*words, env=None):
    return CliRunner().invoke(main, list(words), env=env)


def refused(result, code=1):
    assert result.exit_code == code, result.output
    assert result.stdout == ""
    assert result.stderr.startswith("lifecycle: ")
    assert result.stderr.count("\n") == 1
    assert result.exception is None or isinstance(result.exception, SystemExit)
    return result.stderr


# -- trace -------------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def traced(tmp_path_factory):
    folder = tmp_path_factory.mktemp("traced")
    files = {kind: folder / f"journey.{kind}" for kind in ("png", "svg", "html", "json")}
    result = run("trace", *(word for kind, file in files.items() for word in (f"--{kind}", str(file))))
    assert result.exit_code == 0, result.output
    return result, files


def test_trace_prints_the_journey_of_the_books_own_command(traced):
    result, _ = traced
    assert "deployment.apps/nginx created" in result.stdout
    for stage in (
        "authentication",
        "authorization",
        "storage",
        "txn",
        "schedule_one",
        "run_pod_sandbox",
        "all pods ready",
    ):
        assert f" {stage} " in result.stdout


def test_trace_draws_and_exports(traced):
    _, files = traced
    assert files["png"].read_bytes().startswith(b"\x89PNG")
    assert "<svg" in files["svg"].read_text()
    assert "data:image/svg+xml" in files["html"].read_text()
    (document,) = json.loads(files["json"].read_text())
    assert {step["component"] for step in document["steps"]} >= {"kubectl", "apiserver", "etcd", "scheduler", "kubelet"}


def test_trace_follows_other_commands_and_puts_a_recording_beside():
    result = run("trace", "--beside", "kind-1.36.2", "--", "kubectl", "run", "web", "--image=nginx")
    assert result.exit_code == 0, result.output
    assert "pod/web created" in result.stdout
    assert "kind-1.36.2 (kubectl v1.36.2, recorded)" in result.stdout


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["trace", "--", "kubectl", "get", "pods"], "writes no object"),
        (["trace", "create", "deployment", "web"], "required flag"),
        (["trace", "frobnicate"], "unknown command"),
        (["trace", "--png", "/no/such/folder/x.png"], "there is no folder"),
        (["trace", "--beside", "nowhere"], "no recording 'nowhere'"),
    ],
)
def test_trace_refuses_in_one_line(words, said):
    assert said in refused(run(*words))


def test_ctrl_c_ends_a_trace_at_once(tmp_path):
    command = [sys.executable, "-m", "lifecycle", "trace", "--latency", "60"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=tmp_path)
    with pytest.raises(subprocess.TimeoutExpired):
        process.communicate(timeout=4)
    process.send_signal(signal.SIGINT)
    out, errors = process.communicate(timeout=10)
    assert process.returncode != 0
    assert "Traceback" not in errors
    assert out == ""
    assert os.listdir(tmp_path) == []


# -- inspect -----------------------------------------------------------------------------------------------------------


def test_inspect_lists_the_stages():
    result = run("inspect")
    assert result.exit_code == 0
    assert result.stdout.startswith("kind-1.36.2 (Kubernetes v1.36.2, recorded")
    assert "authorization" in result.stdout


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["authorization", "12"], '"kind": "SubjectAccessReview"'),
        (["journey"], "(after create)"),
        (["authz"], "/apis/authorization.k8s.io/v1/subjectaccessreviews"),
        (["node"], "lifecycle-worker2"),
        (["node", "worker"], "iptables-save"),
        (["node", "lifecycle-worker", "iptables-save", "before"], "KUBE-SERVICES"),
        (["kubectl", "01-create.txt"], "deployment.apps/nginx created"),
        (["audit"], "journey.jsonl"),
    ],
)
def test_inspect_shows_the_evidence(words, said):
    result = run("inspect", *words)
    assert result.exit_code == 0, result.output
    assert said in result.stdout


@pytest.mark.parametrize(
    ("words", "said", "code"),
    [
        (["nope"], "there are: discovery", 2),
        (["journey", "9999"], "has no question", 2),
        (["node", "nope"], "recorded no node", 1),
        (["node", "worker", "rm -rf"], "was never recorded", 1),
        (["node", "worker", "iptables-save", "yesterday"], "was not recorded at", 1),
        (["kubectl", "nope"], "beside it", 1),
        (["journey", "--recording", "nope"], "there are: bare-1.20.2", 1),
    ],
)
def test_inspect_refuses_in_one_line(words, said, code):
    assert said in refused(run("inspect", *words), code)


def test_recordings_that_are_nowhere_are_one_line(tmp_path):
    assert "is not a folder" in refused(run("inspect", "journey", env={"LIFECYCLE_RECORDINGS": str(tmp_path / "no")}))


@pytest.mark.parametrize("text", ["{", "not: a: kubeconfig", ""])
def test_an_unreadable_kubeconfig_is_one_line(tmp_path, text, monkeypatch):
    file = tmp_path / "config"
    file.write_text(text)
    code = "import sys; from lifecycle.cli import main; main(['inspect', '--live', '/version'])"
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "KUBECONFIG": str(file)},
    )
    assert done.returncode == 1
    assert done.stderr.startswith("lifecycle: ")
    assert done.stderr.count("\n") == 1


# -- compare -----------------------------------------------------------------------------------------------------------


def test_compare_holds_the_embedded_cluster_against_the_recording(tmp_path):
    file = tmp_path / "tables.json"
    result = run("compare", "discovery", "objects", "--json", str(file))
    assert result.exit_code == 0, result.output
    tables = json.loads(file.read_text())
    assert [table["title"] for table in tables] == ["agreement: discovery", "agreement: objects"]
    assert all(table["ours"] == "the embedded cluster" and table["unexplained"] == 0 for table in tables)


def test_compare_tells_two_recordings_of_one_system_equal():
    result = run("compare", "journey", "--against", "recordings/kind-1.36.2-again", "--all-rows")
    assert result.exit_code == 0, result.output
    assert "57 of 57 answers equal" in result.stdout


def test_compare_leaves_with_1_on_a_disagreement_nobody_explained():
    result = run("compare", "discovery", "--against", "bare-1.20.2")
    assert result.exit_code == 1
    assert "unexplained: " in result.stdout


@pytest.mark.parametrize(
    ("words", "said", "code"),
    [
        (["nope"], "has no stage 'nope'", 2),
        (["openapi", "--against", "kind-1.36.2-again"], "has no stage openapi", 2),
        (["--recording", "nope"], "no recording 'nope'", 1),
        (["--against", "nope"], "no recording 'nope'", 1),
        (["discovery", "--json", "/no/such/folder/x"], "there is no folder", 1),
        (["--live", "production"], "no context 'production'", 1),
        (["--live", "here", "--against", "kind-1.36.2-again"], "exclude each other", 2),
        (["--noise", "kind-1.36.2", "nowhere"], "no recording 'nowhere'", 1),
    ],
)
def test_compare_refuses_in_one_line(words, said, code):
    assert said in refused(run("compare", *words), code)


# -- record and claims -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "said", "code"),
    [
        (["--context", "production", "out"], "no context 'production'", 1),
        (["--context", "kind-lifecycle", "--scenario", "nope", "out"], "no scenario nope", 2),
        (["--context", "kind-lifecycle", "recordings"], "is there already", 1),
    ],
)
def test_record_refuses_in_one_line(words, said, code):
    assert said in refused(run("record", *words), code)


def test_claims_says_how_many_nobody_checks():
    result = run("claims", "--stage", "scheduler")
    assert result.exit_code == 0, result.output
    counts = re.search(
        r"^(\d+) claims: (\d+) checked .*, (\d+) read in source, 0 contradicted$", result.stdout, re.MULTILINE
    )
    assert counts
    claims, checked, read = map(int, counts.groups())
    assert claims == checked + read > 10


def test_claims_that_are_only_read_in_source_are_those_that_the_summary_counts():
    result = run("claims", "--stage", "informers", "--unchecked")
    assert result.exit_code == 0, result.output
    shown = result.stdout.count("(read")
    assert shown > 0
    assert f", {shown} read in source, 0 contradicted" in " ".join(result.stdout.split())


def test_claims_refuses_an_unknown_stage():
    assert "there are: " in refused(run("claims", "--stage", "nope"))


def test_doctor_names_each_program_and_each_extra():
    said = run("doctor").stdout
    assert "kubectl" in said
    assert "ok       [cel]  CEL expressions" in said
    assert "ok       [plots]  pictures" in said


def test_the_noise_floor_of_two_recordings_is_printed():
    result = run("compare", "storage", "--noise", "kind-1.36.2-again", "kind-1.36.2")
    [line] = [line for line in result.output.splitlines() if line.startswith("noise floor: ")]
    assert re.fullmatch(
        r"noise floor: \d+ of \d,\d{3} fields \(\d\.\d\d %\) differ between two recordings of one cluster; [\d,]+ more differ by a"
        r" freedom that was granted",
        line,
    )
