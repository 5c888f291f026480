"""Answers are looked up in what was recorded, or worked out from a recorded list, and said so."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import kubernetes
import pytest

from lifecycle.inspector import InspectorError, Recording
from lifecycle.inspector.exchange import Question
from lifecycle.inspector.recorded_transport import RecordedTransport

ONE = {"metadata": {"name": "one", "namespace": "a"}}
TWO = {"metadata": {"name": "two", "namespace": "b"}}
NODE = {"metadata": {"name": "n"}}
PODS = {"kind": "PodList", "apiVersion": "v1", "metadata": {"resourceVersion": "7"}, "items": [ONE, TWO, NODE]}
SETS = {"kind": "ReplicaSetList", "apiVersion": "apps/v1", "items": [ONE]}


def line(n: int, path: str, response: Any, status: int = 200, method: str = "GET", **more: Any) -> dict[str, Any]:
    told = {
        "n": n, "t": n / 2, "ms": 1.5, "as": "admin", "note": None, "method": method, "path": path,
        "content_type": None, "accept": "application/json", "headers_sent": {}, "body": None, "status": status,
        "headers": {"content-type": "application/json"}, "response": response,
    }  # fmt: skip
    return told | more


LINES = {
    "first": [
        line(0, "/api/v1/pods", {"kind": "PodList", "apiVersion": "v1", "items": []}, note="early"),
        line(1, "/api/v1/pods", PODS, note="late"),
        line(2, "/apis/apps/v1/namespaces/a/replicasets", SETS),
        line(3, "/healthz", "ok", headers={"content-type": "text/plain"}),
        line(4, "/api/v1/secrets", {"kind": "Status", "code": 403}, 403),
        line(5, "/api/v1/namespaces/a/pods/one/log", {"items": "no list"}),
        line(6, "/api/v1/namespaces/a/pods", {"kind": "Pod", "n": 1}, 201, "POST", body={"n": 1}),
        line(7, "/api/v1/namespaces/a/pods", {"kind": "Pod", "n": 2}, 201, "POST", body={"n": 2}),
        line(8, "/version", {"gitVersion": "v9"}, accept="application/json;as=Table"),
        line(9, "/api/v1/gone?x=2&a=1", {"kind": "Status", "code": 410}, 410),
    ],
    "second": [line(0, "/version", {"gitVersion": "v1.2.3"})],
}  # fmt: skip


def event(path: str, version: Any, **more: Any) -> dict[str, Any]:
    return {"t": 0.5, "path": path, "event": {"type": "ADDED", "object": {"metadata": {"resourceVersion": version}}}}


WATCHED = {
    "first": [
        event("/api/v1/pods?watch=true", "5"), event("/api/v1/nodes?watch=true", "6"),
        event("/api/v1/pods?watch=true", "8"), event("/api/v1/pods?watch=true", ""),
        {"t": 1, "path": "/api/v1/pods", "event": {"type": "BOOKMARK"}},
    ],
    "second": [event("/api/v1/pods", "9")],
}  # fmt: skip


@pytest.fixture
def recording(tmp_path) -> Recording:
    for folder, kept in (("http", LINES), ("watch", WATCHED)):
        (tmp_path / "small" / folder).mkdir(parents=True)
        for scenario, lines in kept.items():
            text = "".join(json.dumps(each) + "\n" for each in lines)
            (tmp_path / "small" / folder / f"{scenario}.jsonl").write_text(text)
    return Recording(tmp_path / "small")


def asked(recording: Recording, method: str, target: str, body: Any = None, accept: str = "") -> Any:
    return RecordedTransport(recording).answer(Question.of(method, target, accept), body)


def refused(recording: Recording, method: str, target: str, body: Any = None, accept: str = "") -> str:
    with pytest.raises(InspectorError) as caught:
        asked(recording, method, target, body, accept)
    return str(caught.value)


def test_a_get_has_the_last_answer_and_a_write_the_answer_to_its_own_body(recording: Recording) -> None:
    answered = {"content-type": "application/json"}
    assert asked(recording, "GET", "/api/v1/pods") == (200, answered, PODS)
    assert asked(recording.at("first", "early"), "GET", "/api/v1/pods")[2]["items"] == []
    assert asked(recording, "POST", "/api/v1/namespaces/a/pods", {"n": 1}) == (201, answered, {"kind": "Pod", "n": 1})
    assert asked(recording, "POST", "/api/v1/namespaces/a/pods", {"n": 2})[2]["n"] == 2
    assert asked(recording, "POST", "/api/v1/namespaces/a/pods")[2]["n"] == 2
    assert refused(recording, "POST", "/api/v1/namespaces/a/pods", {"n": 3}) == (
        "Recording('small'): POST /api/v1/namespaces/a/pods was recorded only with other bodies"
    )
    assert asked(recording, "GET", "/api/v1/secrets") == (403, answered, {"kind": "Status", "code": 403})


def test_one_object_is_its_entry_of_the_list_with_a_head_of_its_own(recording: Recording) -> None:
    head = {"kind": "Pod", "apiVersion": "v1"}
    from_list = {"x-lifecycle-derived": "from a list"}
    assert asked(recording, "GET", "/api/v1/pods/n") == (200, from_list, head | NODE)
    assert asked(recording, "GET", "/api/v1/namespaces/b/pods/two") == (200, from_list, head | TWO)
    assert asked(recording, "GET", "/apis/apps/v1/namespaces/a/replicasets/one") == (
        200, from_list, {"kind": "ReplicaSet", "apiVersion": "apps/v1", **ONE}
    )  # fmt: skip


def test_what_a_list_does_not_have_is_not_found_with_its_group(recording: Recording) -> None:
    status, headers, answer = asked(recording, "GET", "/api/v1/namespaces/a/pods/two")
    assert (status, headers) == (404, {"x-lifecycle-derived": "from a list"})
    assert (answer["message"], answer["reason"]) == ('pods "two" not found', "NotFound")
    assert answer["details"] == {"name": "two", "kind": "pods"}
    _, _, answer = asked(recording, "GET", "/apis/apps/v1/namespaces/a/replicasets/two")
    assert answer["message"] == 'replicasets.apps "two" not found'
    assert answer["details"] == {"name": "two", "group": "apps", "kind": "replicasets"}


def test_a_namespace_is_its_part_of_the_list_of_all(recording: Recording) -> None:
    from_all = {"x-lifecycle-derived": "from a list of all namespaces"}
    assert asked(recording, "GET", "/api/v1/namespaces/a/pods") == (200, from_all, PODS | {"items": [ONE]})
    assert asked(recording, "GET", "/api/v1/namespaces/none/pods") == (200, from_all, PODS | {"items": []})


@pytest.mark.parametrize(
    "target",
    [
        "/api/v1/namespaces/a/secrets",  # the list of all was refused
        "/api/v1/namespaces/a/pods/one/log/x",  # an answer with items that are no list
        "/api/v1/namespaces/a/", "/api/v1/secrets/x", "/api/v1/namespaces/a/pods/one/status",
    ],
)  # fmt: skip
def test_from_what_is_no_list_nothing_is_derived(recording: Recording, target: str) -> None:
    assert f"was never asked GET {target.rstrip('/')}; recorded: " in refused(recording, "GET", target)


def test_writes_and_other_forms_are_not_derived(recording: Recording) -> None:
    for method, accept in (("DELETE", ""), ("GET", "application/json;as=Table")):
        assert "was never asked" in refused(recording, method, "/api/v1/pods/n", accept=accept)


def test_who_was_never_asked_says_what_comes_nearest(recording: Recording) -> None:
    same_path = "Recording('small') was never asked GET /api/v1/gone; recorded: GET /api/v1/gone?a=1&x=2"
    assert refused(recording, "GET", "/api/v1/gone") == same_path
    same_end = (
        "Recording('small') was never asked GET /x/version as Table; recorded: GET /version; GET /version as Table"
    )
    assert refused(recording, "GET", "/x/version", accept="application/json;as=Table") == same_end
    told = refused(recording, "DELETE", "/nothing")
    assert told.startswith(
        "Recording('small') was never asked DELETE /nothing; recorded: GET /api/v1/gone?a=1&x=2; GET"
    )
    assert told.endswith("GET /version; GET /version as Table and 1 more")
    assert len(told.partition("recorded: ")[2].split("; ")) == 8
    narrow = refused(recording.at("second"), "GET", "/healthz")
    assert narrow == "Recording('small', 'second') was never asked GET /healthz; recorded: GET /version"


def sent(recording: Recording, target: str, accept: str = "application/json") -> Any:
    return RecordedTransport(recording).request("GET", f"https://recorded{target}", {"ACCEPT": accept})


def test_the_official_client_gets_bytes_with_their_type(recording: Recording) -> None:
    answer = sent(recording, "/healthz")
    assert (answer.status, answer.reason, answer.data) == (200, "", None)
    assert (answer.read(), answer.getheader("content-type")) == (b"ok", "text/plain")
    answer = sent(recording, "/version", "application/json;as=Table")
    assert (json.loads(answer.read()), answer.getheaders()) == (
        {"gitVersion": "v9"}, {"content-type": "application/json"}
    )  # fmt: skip
    derived = sent(recording, "/api/v1/pods/n")
    assert derived.getheaders() == {"content-type": "application/json", "x-lifecycle-derived": "from a list"}
    assert sent(recording, "/api/v1/gone?a=1&x=2").status == 410


def told(recording: Recording, target: str) -> tuple[list[Any], str]:
    """The versions that a watch tells, and how it ends."""

    def versions(answer: Any) -> Iterator[Any]:
        for chunk in answer.stream():
            assert chunk.endswith(b"\n")
            yield json.loads(chunk)["object"]["metadata"]["resourceVersion"]

    found = []
    answer = sent(recording, target)
    assert (answer.status, answer.getheaders()) == (200, {"content-type": "application/json"})
    try:
        for version in versions(answer.response):
            found.append(version)
    except InspectorError as error:
        return found, str(error)
    return found, ""


def test_a_watch_tells_what_is_newer_than_what_was_asked_for(recording: Recording) -> None:
    ended = "the recorded watch of /api/v1/pods has ended; pass timeout_seconds to stop there"
    for word in ("true", "True", "1"):
        assert told(recording, f"/api/v1/pods?watch={word}") == (["5", "8", "9"], "")
    assert told(recording, "/api/v1/pods?watch=1&resourceVersion=7") == (["8", "9"], "")
    assert told(recording, "/api/v1/pods?watch=1&resourceVersion=8") == (["9"], "")
    assert told(recording, "/api/v1/pods?watch=1&resourceVersion=9") == ([], ended)
    assert told(recording.at("first"), "/api/v1/pods?watch=1") == (["5", "8"], "")
    none = "Recording('small') holds no watch of /api/v1/secrets"
    assert told(recording, "/api/v1/secrets?watch=1") == ([], none)


def test_a_get_without_a_client_is_parsed_and_its_own_copy(recording: Recording) -> None:
    assert recording.get("/healthz") == "ok"
    assert recording.get("/version") == {"gitVersion": "v1.2.3"}
    assert recording.get("/version", accept="application/json;as=Table") == {"gitVersion": "v9"}
    recording.get("/version")["gitVersion"] = "spoilt"
    assert recording.get("/version") == {"gitVersion": "v1.2.3"}
    with pytest.raises(kubernetes.client.ApiException) as error:
        recording.get("/api/v1/secrets")
    assert (error.value.status, error.value.headers) == (403, {"content-type": "application/json"})
    assert error.value.body == '{"kind": "Status", "code": 403}'


def test_the_client_is_bound_to_the_recording(recording: Recording) -> None:
    client = recording.client
    assert client is recording.client
    assert client.V1Pod is kubernetes.client.V1Pod
    assert client.CoreV1Api().api_client is client.api_client is recording.api_client
    assert client.VersionApi().get_code.__self__.api_client is recording.api_client
    assert dir(client) == sorted(dir(kubernetes.client))
    assert recording.api_client.configuration.host == "https://recorded"
    assert recording.api_client.rest_client.close() is None
