"""A command and what came of it: kept, read again, and run."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from lifecycle.inspector.errors import InspectorError
from lifecycle.inspector.exchange import Exchange, Question
from lifecycle.inspector.kubectl_command import kubectl_on_path, run_kubectl
from lifecycle.inspector.node import KindNode
from lifecycle.inspector.transcript import parse_transcript

DUMP = """I1121 round_trippers.go] "Request Body" body=<
\t00000000  6b 38 73 00 0a 0c 0a 02  76 31 12 06 53 63 61 6c  |k8s.....v1..Scal|
\t00000010  65 21                                             |e!|
 >
I1121 "Request Body" body=<
\t{"kind": "Scale"}
 >
"""


def test_a_transcript_is_its_command_its_code_and_both_outputs() -> None:
    text = "$ kubectl get 'my pods' -o json\n[exit 1, t=0.25]\nout\n[exit 0]\n[stderr]\nerr\n[stderr]\n"
    read = parse_transcript(text)
    assert read.argv == ("get", "my pods", "-o", "json")
    assert (read.code, read.out, read.err) == (1, "out\n[exit 0]\n", "err\n[stderr]\n")
    short = parse_transcript("$ kubectl version\n[exit 12]\n")
    assert (short.argv, short.code, short.out, short.err) == (("version",), 12, "", "")
    assert (short.objects, short.dumped_requests) == ([], [])


@pytest.mark.parametrize(
    "text", ["", "kubectl get pods\n[exit 0]\n", "$ kubectl get\nout\n", "x$ kubectl get\n[exit 0]\n"]
)
def test_what_does_not_begin_with_a_command_and_a_code_is_no_transcript(text: str) -> None:
    with pytest.raises(InspectorError) as caught:
        parse_transcript(text)
    assert str(caught.value) == "no transcript: it should begin with `$ command` and `[exit N]`"


def test_json_documents_are_read_one_after_the_other() -> None:
    read = parse_transcript('$ kubectl get\n[exit 0]\n  {"a": 1}\n\n{"b": [2]} \n[stderr]\n{"c": 3}')
    assert read.objects == [{"a": 1}, {"b": [2]}]
    assert parse_transcript("$ kubectl get\n[exit 0]\nNAME {\n").objects == []


def test_bodies_are_read_from_hex_dumps_and_text_is_left_alone() -> None:
    read = parse_transcript(f"$ kubectl scale\n[exit 0]\n{DUMP}\n[stderr]\n{DUMP}{DUMP}")
    body = bytes.fromhex("6b3873000a0c0a02763112065363616c") + b"e!"
    assert read.dumped_requests == [body, body]


def test_a_dump_that_was_cut_short_is_refused() -> None:
    cut = DUMP.replace("|e!|", "|e!|\n\t [truncated 20 chars]")
    with pytest.raises(InspectorError, match=r"^this hex dump was cut short; kubectl -v=9 prints whole ones$"):
        _ = parse_transcript(f"$ kubectl scale\n[exit 0]\n[stderr]\n{cut}").dumped_requests


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Puts a shell script on PATH, and nothing else but the shell."""

    def put(name: str, script: str) -> None:
        file = tmp_path / name
        file.write_text(f"#!/bin/sh\n{script}\n")
        file.chmod(0o755)

    monkeypatch.setenv("PATH", str(tmp_path))
    return put


def test_kubectl_is_run_in_one_context_with_one_configuration(program, monkeypatch: pytest.MonkeyPatch) -> None:
    assert not kubectl_on_path()
    with pytest.raises(InspectorError, match=r"^kubectl is not on PATH$"):
        run_kubectl(["get"], context="kind")
    program("kubectl", 'echo "$@"; echo "$KUBECONFIG" >&2; exit 3')
    assert kubectl_on_path()
    monkeypatch.setenv("KUBECONFIG", "mine")
    done = run_kubectl(["get", "my pods"], context="kind", config_file="theirs")
    assert (done.returncode, done.stdout, done.stderr) == (3, "--context kind get my pods\n", "theirs\n")
    assert run_kubectl(["get"], context="kind").stderr == "mine\n"
    assert os.environ["KUBECONFIG"] == "mine"


def test_a_live_node_is_a_container_in_which_a_shell_runs_the_command(program) -> None:
    node = KindNode("worker", {"rules": "iptables-save | sort"})
    with pytest.raises(
        InspectorError,
        match=r"^docker is not on PATH: a live kind node is a container, and only docker can look into it$",
    ):
        node.run("rules")
    program("docker", '[ "$6" ] && exit 9; echo "$1,$2,$3,$4,$5"')
    assert node.run("rules") == "exec,worker,sh,-c,iptables-save | sort\n"
    assert node.run("uname -a") == "exec,worker,sh,-c,uname -a\n"
    with pytest.raises(InspectorError, match=r"^worker is live: it can be asked now, not at 'later'$"):
        node.run("rules", moment="later")
    program("docker", "echo ' no such container ' >&2; exit 4")
    with pytest.raises(InspectorError) as caught:
        node.run("rules")
    assert str(caught.value) == "worker: 'iptables-save | sort' failed with exit code 4: no such container"


SAME = "/api/v1/pods?limit=5"


@pytest.mark.parametrize(
    "target",
    [
        "/api/v1/pods/?limit=5",
        *(f"/api/v1/pods?{name}=1&limit=5" for name in (
            "pretty", "timeout", "timeoutSeconds", "allowWatchBookmarks", "fieldValidation")),
    ],
)  # fmt: skip
def test_what_does_not_change_the_answer_to_a_get_is_no_part_of_the_question(target: str) -> None:
    assert Question.of("get", target) == Question.of("GET", SAME)


@pytest.mark.parametrize("name", ["timeout", "timeoutSeconds", "allowWatchBookmarks"])
@pytest.mark.parametrize("verb", ["POST", "DELETE", "patch"])
def test_for_other_verbs_only_the_form_is_left_out(name: str, verb: str) -> None:
    assert Question.of(verb, f"{SAME}&{name}=1") != Question.of(verb, SAME)
    assert Question.of(verb, f"{SAME}&pretty=1&fieldValidation=Strict") == Question.of(verb, SAME)


@pytest.mark.parametrize("target", ["/api/v1/pods", "/api/v1/pods?limit=6", f"{SAME}&watch=", "/api/v1/pod?limit=5"])
def test_other_questions_are_other(target: str) -> None:
    assert Question.of("GET", target) != Question.of("GET", SAME)


@pytest.mark.parametrize(
    ("accept", "form"),
    [
        ("", ""), ("*/*", ""), ("application/json", ""), ("application/yaml", "yaml"),
        ("application/json;as=Table;v=v1;g=meta.k8s.io,application/json", "Table"),
        ("application/json; v=v1; as=PartialObjectMetadata", "PartialObjectMetadata"),
        ("application/vnd.kubernetes.protobuf, application/json", "vnd.kubernetes.protobuf"),
    ],
)  # fmt: skip
def test_the_form_is_what_is_accepted_first(accept: str, form: str) -> None:
    assert Question.of("GET", "/", accept).form == form


def test_parameters_are_read_from_a_question() -> None:
    question = Question.of("GET", "/?limit=5&watch=")
    assert [question.param(name) for name in ("limit", "watch", "none")] == ["5", "", ""]
    other = question.with_path("/api")
    assert (other.path, other.method, other.query, other.form) == ("/api", "GET", question.query, "")
    assert question.path == "/"


def test_a_line_of_a_recording_is_an_exchange() -> None:
    line = {
        "n": 3, "t": 0.5, "ms": 12.5, "as": "admin", "note": None, "method": "GET", "path": "/api?pretty=1",
        "content_type": None, "accept": None, "headers_sent": None, "body": None, "status": 200, "headers": None,
        "response": {"kind": "APIVersions"},
    }  # fmt: skip
    exchange = Exchange.from_line("moments", line)
    assert exchange == Exchange(
        "moments", 3, 0.5, 12.5, "admin", "", "GET", "/api?pretty=1", "", "", {}, None, 200, {}, {"kind": "APIVersions"}
    )
    assert (str(exchange), exchange.question) == ("moments #3: GET /api?pretty=1", Question.of("GET", "/api"))
    told = line | {
        "note": "later", "accept": "application/yaml", "content_type": "c", "headers_sent": {"a": "b"},
        "headers": {"c": "d"}, "token": "t",
    }  # fmt: skip
    exchange = Exchange.from_line("moments", told)
    assert (exchange.moment, exchange.accept, exchange.content_type, exchange.token) == (
        "later", "application/yaml", "c", "t"
    )  # fmt: skip
    assert (exchange.headers_sent, exchange.headers, exchange.question.form) == ({"a": "b"}, {"c": "d"}, "yaml")
    assert str(exchange) == "moments #3 (later): GET /api?pretty=1"
