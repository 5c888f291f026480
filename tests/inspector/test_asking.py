"""A scenario's questions, put to somebody: in which order, when, with what, and what is kept of the answers."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from lifecycle.api.loop.clock import run_virtual
from lifecycle.inspector import runner
from lifecycle.inspector.errors import InspectorError
from lifecycle.inspector.exchange import Exchange
from lifecycle.inspector.runner import as_recorded, run_scenario, until_furnished
from lifecycle.inspector.scenario import Scenario, Step, derive, load_scenario, resolve, scenario_names

Asked = tuple[float, str, str, dict[str, str], bytes]


class Cluster:
    """Answers each path with what it is told, in turn; the last one again and again."""

    def __init__(self, **answers: list[Any]) -> None:
        self.answers = {path.replace("_", "/"): list(bodies) for path, bodies in answers.items()}
        self.asked: list[Asked] = []

    async def request(self, method: str, path: str, headers: dict[str, str], body: bytes) -> Any:
        loop = asyncio.get_running_loop()
        self.asked.append((round(loop.time(), 3), method, path, headers, body))
        await asyncio.sleep(0.25)
        bodies = self.answers.get(path, [{}])
        answer = bodies.pop(0) if len(bodies) > 1 else bodies[0]
        if isinstance(answer, int):
            return answer, {}, b""
        return 200, {"Content-Type": "application/json", "Date": "now"}, json.dumps(answer).encode()

    @property
    def lines(self) -> list[str]:
        return [f"{at} {method} {path}" for at, method, path, _, _ in self.asked]


def test_questions_are_asked_in_order_with_what_earlier_answers_said() -> None:
    cluster = Cluster(_a=[{"metadata": {"uid": "u1"}, "list": ["x", 3]}])
    steps = (
        Step("GET", "/a", "first", number=0, headers={"X": "y"}),
        Step("POST", "/b?u=${0:/metadata/uid}", body={"n": ["${0:/list/1}"], "m": 1}, number=1),
        Step("PUT", "/c", body="text ${1:/none}", content_type="text/plain", accept="text/plain", number=2),
        Step("GET", "/d", recorded=False),
        Step("GET", "/e", as_="anonymous", number=3),
        Step(note="nothing"),
        Step("GET", "/f", kubectl="get f", file="f", number=4),
    )
    begun: list[Step] = []
    kept = run_virtual(run_scenario(cluster, Scenario("some", steps), on_step=begun.append))
    assert begun == list(steps)
    common = {"User-Agent": "recorder"}
    json_ = {"Accept": "application/json", **common}
    assert cluster.asked == [
        (0.0, "GET", "/a", {**json_, "X": "y"}, b""),
        (0.25, "POST", "/b?u=u1", {**json_, "Content-Type": "application/json"}, b'{"n": ["3"], "m": 1}'),
        (0.5, "PUT", "/c", {"Accept": "text/plain", **common, "Content-Type": "text/plain"}, b"text "),
        (0.75, "GET", "/d", json_, b""),
        (1.0, "GET", "/f", json_, b""),
    ]
    json_type, answered = "application/json", {"content-type": "application/json"}
    first = {"metadata": {"uid": "u1"}, "list": ["x", 3]}
    assert kept == [
        Exchange("some", 0, 0.0, 250.0, "admin", "first", "GET", "/a", "", json_type, {"X": "y"}, None, 200, answered, first),
        Exchange(
            "some", 1, 0.25, 250.0, "admin", "", "POST", "/b?u=u1", json_type, json_type, {}, {"n": ["3"], "m": 1}, 200,
            answered, {},
        ),
        Exchange(
            "some", 2, 0.5, 250.0, "admin", "", "PUT", "/c", "text/plain", "text/plain", {}, "text ", 200, answered, {}
        ),
    ]  # fmt: skip


@pytest.mark.parametrize(("ran", "asked"), [(True, []), (False, ["0.5 GET /f"])])
def test_kubectl_runs_where_it_can_and_its_plain_request_is_sent_where_not(ran: bool, asked: list[str]) -> None:
    cluster, told = Cluster(), []

    def kubectl(step: Step, t: float) -> bool:
        told.append((step.kubectl, t))
        return ran

    steps = (
        Step("GET", "/a", number=0),
        Step("GET", "/b", number=1),
        Step("GET", "/f", kubectl="get f"),
        Step(kubectl="g"),
    )
    kept = run_virtual(run_scenario(cluster, Scenario("some", steps), kubectl=kubectl))
    assert told == [("get f", 0.5), ("g", 0.5 if ran else 0.75)]
    assert cluster.lines == ["0.0 GET /a", "0.25 GET /b", *asked]
    assert [each.path for each in kept] == ["/a", "/b"]


@pytest.mark.parametrize(("prepared", "first"), [(False, 0.0), (True, 2.25)])
def test_the_recorded_pace_is_kept_from_the_first_question_on(prepared: bool, first: float) -> None:
    cluster = Cluster()
    before = (Step("POST", "/n", recorded=False),) if prepared else ()
    timed = (Step("GET", "/a", t=5.0, number=0), Step("GET", "/b", t=5.1, number=1), Step("GET", "/c", t=8.0, number=2))
    kept = run_virtual(run_scenario(cluster, Scenario("some", before + timed)))
    assert [at for at, *_ in cluster.asked[len(before) :]] == [first, first + 0.25, first + 3.0]
    assert [each.t for each in kept] == [first, first + 0.25, first + 3.0]


def deployment(wished: int, generation: int = 2, **status: int) -> dict[str, Any]:
    counts = dict.fromkeys(("replicas", "updatedReplicas", "readyReplicas", "availableReplicas"), wished)
    return {
        "metadata": {"generation": generation},
        "spec": {"replicas": wished},
        "status": {"observedGeneration": generation, **counts} | status,
    }


POD: dict[str, Any] = {"metadata": {}}
GOING = {"metadata": {"deletionTimestamp": "now"}}


def settling(deployments: list[Any], pods: list[Any]) -> list[Asked]:
    """What is asked until things have settled; each look after the first sees the last of what is listed."""
    listed = {
        "_apis_apps_v1_namespaces_n_deployments": [{"items": each} for each in deployments],
        "_api_v1_namespaces_n_pods": [{"items": each} for each in pods],
    }
    cluster = Cluster(**listed)
    run_virtual(run_scenario(cluster, Scenario("s", (Step(settle="n"), Step("GET", "/z"))), pause=3.0))
    return cluster.asked


def looks(asked: list[Asked]) -> tuple[int, int]:
    """How many times the Deployments and the pods were looked at."""
    paths = [path for _, _, path, _, _ in asked]
    return paths.count("/apis/apps/v1/namespaces/n/deployments"), paths.count("/api/v1/namespaces/n/pods")


def test_what_has_settled_is_looked_at_twice_and_then_a_pause_is_made() -> None:
    asked = settling([[deployment(2), deployment(1)]], [[POD] * 3])
    assert [at for at, *_ in asked] == [0.0, 0.25, 0.7, 0.95, 4.4]
    assert {path: (method, headers, body) for _, method, path, headers, body in asked[:2]} == dict.fromkeys(
        ("/apis/apps/v1/namespaces/n/deployments", "/api/v1/namespaces/n/pods"),
        ("GET", {"Accept": "application/json", "User-Agent": "recorder"}, b""),
    )
    assert looks(settling([None], [None])) == (2, 2), "where nothing is, all has settled"


@pytest.mark.parametrize(
    "unsettled",
    [
        deployment(1, replicas=2), deployment(1, updatedReplicas=0), deployment(1, readyReplicas=0),
        deployment(1, availableReplicas=0), deployment(1, observedGeneration=1),
        {"metadata": {"generation": 1}, "spec": {"replicas": 1}},
        {"metadata": {"generation": 1}, "spec": {"replicas": 0}, "status": {}},
    ],
)  # fmt: skip
def test_a_deployment_on_its_way_is_waited_for(unsettled: dict[str, Any]) -> None:
    assert looks(settling([[unsettled], [deployment(1)]], [[POD]])) == (3, 2)


def test_counts_that_are_not_said_are_none() -> None:
    none = {"metadata": {"generation": 1}, "spec": {"replicas": 0}, "status": {"observedGeneration": 1}}
    assert looks(settling([[none]], [[]])) == (2, 2)


@pytest.mark.parametrize("pods", [[], [POD, POD], [GOING]])
def test_pods_on_their_way_are_waited_for(pods: list[Any]) -> None:
    assert looks(settling([[deployment(1)]], [pods, [POD]])) == (3, 3)
    assert looks(settling([[deployment(1)]], [[POD], pods, [POD]])) == (4, 4), "twice in a row"


def test_patience_has_an_end() -> None:
    busy = Cluster(_api_v1_namespaces_n_pods=[{"items": [POD]}])

    async def wait(**more: float) -> float:
        with pytest.raises(TimeoutError):
            await run_scenario(busy, Scenario("s", (Step(settle="n"),)), **more)
        return asyncio.get_running_loop().time()

    assert (run_virtual(wait(patience=7.0)), run_virtual(wait())) == (7.0, 120.0)


def test_a_pause_is_a_second_if_none_is_said() -> None:
    cluster = Cluster()
    run_virtual(run_scenario(cluster, Scenario("s", (Step(settle="n"), Step("GET", "/z")))))
    assert cluster.asked[-1][0] == 2.4


def furnished(**answers: list[Any]) -> list[str]:
    cluster = Cluster(**answers)
    run_virtual(until_furnished(cluster, "n"))
    assert {(headers["Accept"], len(headers), body) for _, _, _, headers, body in cluster.asked} == {
        ("application/json", 1, b"")
    }
    return cluster.lines


ACCOUNT, ROOT = "/api/v1/namespaces/n/serviceaccounts/default", "/api/v1/namespaces/n/configmaps/kube-root-ca.crt"


def test_a_namespace_is_furnished_once_its_account_and_its_root_are_there() -> None:
    assert furnished() == [f"0.0 GET {ACCOUNT}", f"0.25 GET {ROOT}"]
    late = {ACCOUNT.replace("/", "_"): [404, 404, {}]}
    assert furnished(**late) == [
        f"0.0 GET {ACCOUNT}", f"0.45 GET {ACCOUNT}", f"0.9 GET {ACCOUNT}", f"1.15 GET {ROOT}"
    ]  # fmt: skip
    never = furnished(**{ACCOUNT.replace("/", "_"): [404]})
    assert (never[-1], len(never)) == (f"9.9 GET {ACCOUNT}", 23)
    assert runner.FURNISHING == 10.0


@pytest.mark.parametrize(
    ("headers", "body", "kept", "response"),
    [
        ({"Content-Type": "application/json", "Date": "x"}, b'{"a": 1}', {"content-type": "application/json"}, {"a": 1}),
        ({"Content-Type": "text/plain"}, b'{"a": 1}', {"content-type": "text/plain"}, {"a": 1}),
        ({"Content-Type": "text/plain"}, b"{broken", {"content-type": "text/plain"}, "{broken"),
        ({"Content-Type": "text/plain"}, b"[1]", {"content-type": "text/plain"}, "[1]"),
        ({"content-type": "application/json"}, b"[1]", {"content-type": "application/json"}, [1]),
        ({}, b"\xff", {}, "\ufffd"),
        ({"content-type": "x/protobuf"}, b"k8s", {"content-type": "x/protobuf"}, {"base64": "azhz"}),
        ({"content-type": "application/cbor"}, b"k8s", {"content-type": "application/cbor"}, {"base64": "azhz"}),
        ({"WARNING": '299 - "a, 2", 299 - "b"'}, b"", {"warning": ['299 - "a, 2"', '299 - "b"']}, ""),
        (
            dict.fromkeys(("Audit-Id", "Cache-Control", "ETag", "Retry-After", "X-Kubernetes-PF-FlowSchema-UID", "Other"), "v"),
            b"",
            dict.fromkeys(("audit-id", "cache-control", "etag", "retry-after", "x-kubernetes-pf-flowschema-uid"), "v"),
            "",
        ),
    ],
)  # fmt: skip
def test_an_answer_is_kept_as_recordings_hold_it(headers: Any, body: bytes, kept: Any, response: Any) -> None:
    assert as_recorded(headers, body) == (kept, response)


def exchange(
    n: int, method: str, path: str, response: Any = None, body: Any = None, status: int = 200, **more: Any
) -> Exchange:
    told = {"identity": "admin", "moment": "", "content_type": "", "accept": "", "headers_sent": {}} | more
    return Exchange(
        "s", n, n / 4, 1.0, method=method, path=path, body=body, status=status, headers={}, response=response, **told
    )  # fmt: skip


def test_a_recordings_values_become_references_to_the_answers_that_said_them() -> None:
    said = {
        "metadata": {"uid": "u", "resourceVersion": "7", "name": "n"},
        "items": [{"token": "t"}],
        "uid": "",
        "continue": 3,
    }
    exchanges = [
        exchange(0, "GET", "/a", said, moment="m", identity="token", headers_sent={"X": "y"}),
        exchange(4, "PUT", "/b?resourceVersion=7&continue=n&limit=7",
            {"metadata": {"uid": "u"}}, {"uid": "u", "name": "u", "in": [{"resourceVersion": "7"}, {"token": "?"}], "continue": 3},
            accept="text/plain", content_type="c"),
        exchange(5, "GET", "/c?x=1&continue=t", None, {"uid": "u"}),
        exchange(6, "GET", "/d", None, ["u", {"token": "t"}]),
    ]  # fmt: skip
    scenario = derive("some", exchanges)
    assert (scenario.name, scenario.watches, scenario.creates) == ("some", (), ())
    assert scenario.steps == (
        Step("GET", "/a", "m", "application/json", "", {"X": "y"}, None, "token", number=0, t=0.0),
        Step("PUT", "/b?resourceVersion=${0:/metadata/resourceVersion}&continue=n&limit=7", "", "text/plain", "c", {},
            {"uid": "${0:/metadata/uid}", "name": "u", "in": [{"resourceVersion": "${0:/metadata/resourceVersion}"},
             {"token": "?"}], "continue": 3}, number=4, t=1.0),
        Step("GET", "/c?x=1&continue=${0:/items/0/token}", body={"uid": "${4:/metadata/uid}"}, number=5, t=1.25),
        Step("GET", "/d", body=["u", {"token": "${0:/items/0/token}"}], number=6, t=1.5),
    )  # fmt: skip
    answers = {exchange.n: exchange.response for exchange in exchanges}
    assert [resolve(step.path, answers) for step in scenario.steps] == [each.path for each in exchanges]
    assert [resolve(step.body, answers) for step in scenario.steps] == [each.body for each in exchanges]


def test_what_no_line_says_is_prepared_first() -> None:
    hooks = "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations"
    hook = {"metadata": {"name": "guard"}, "webhooks": [{"name": "g"}]}
    pods = "/api/v1/namespaces/mine/pods"
    steps = derive("s", [
        exchange(0, "POST", hooks, hook, status=201),
        exchange(1, "POST", pods, {"message": 'failed calling webhook "g": no'}, status=500),
        exchange(2, "POST", pods, {}, status=201),
    ]).steps  # fmt: skip
    mine = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "mine"}}
    assert steps[0] == Step("POST", "/api/v1/namespaces", content_type="application/json", body=mine, recorded=False)
    assert [(step.method, step.path, step.recorded) for step in steps[1:]] == [
        ("POST", hooks, True), ("POST", pods, True), ("DELETE", f"{hooks}/guard", False), ("POST", pods, True)
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("reference", "value"),
    [
        ("${0:/a/b}", "c"), ("x${0:/a/b}y${0:/n}", "xcy5"), ("${0:/l/1/z}", "last"), ("${0:/a}", '{"b": "c"}'),
        ("${0:/none}", ""), ("${0:/l/9}", ""), ("${0:/l/x}", ""), ("${0:/n/x}", ""), ("${7:/a}", ""), ("plain", "plain"),
        ("${0:/l/-1/z}", "last"), (7, 7), (None, None),
    ],
)  # fmt: skip
def test_a_reference_is_what_the_answer_says_at_its_path(reference: Any, value: Any) -> None:
    answers = {0: {"a": {"b": "c"}, "n": 5, "l": [0, {"z": "last"}]}}
    assert resolve(reference, answers) == value
    assert resolve({"k": [reference, {"i": reference}]}, answers) == {"k": [value, {"i": value}]}


def test_the_same_questions_about_another_namespace() -> None:
    step = Step(
        "POST",
        "/api/v1/namespaces/default/pods?fieldSelector=metadata.namespace%3Ddefault",
        body={"metadata": {"namespace": "default", "name": "default"}},
        note="default",
    )
    other = Scenario("s", (step, Step()), ("/w",), ("c",)).in_namespace("mine")
    assert other == Scenario(
        "s",
        (
            Step(
                "POST",
                "/api/v1/namespaces/mine/pods?fieldSelector=metadata.namespace%3Dmine",
                body={"metadata": {"namespace": "mine", "name": "default"}},
                note="default",
            ),
            Step(),
        ),
        ("/w",),
        ("c",),
    )


def test_a_scenario_is_kept_as_data_and_its_recorded_questions_are_numbered(tmp_path, monkeypatch) -> None:
    (tmp_path / "b.yaml").write_text(
        "watches: [/w]\ncreates: [c]\nsteps:\n- path: /a\n- settle: c\n- {path: /p, recorded: false}\n"
        "- {kubectl: get, file: f, path: /k}\n- {path: /b, as: anonymous}\n- {}\n- {path: /c}\n"
    )
    (tmp_path / "a.yaml").write_text("steps: []\n")
    monkeypatch.setattr("lifecycle.inspector.scenario._FOLDER", tmp_path)
    assert scenario_names() == ["a", "b"]
    assert load_scenario("a") == Scenario("a", ())
    assert load_scenario("b") == Scenario(
        "b",
        (
            Step(path="/a", number=0), Step(settle="c"), Step(path="/p", recorded=False),
            Step(kubectl="get", file="f", path="/k"), Step(path="/b", as_="anonymous", number=1), Step(),
            Step(path="/c", number=2),
        ),
        ("/w",),
        ("c",),
    )  # fmt: skip
    with pytest.raises(InspectorError) as caught:
        load_scenario("c")
    assert str(caught.value) == "no scenario 'c'; there are: a, b"


def test_a_step_is_a_recorded_get_of_the_admins_if_nothing_else_is_said() -> None:
    step = Step()
    assert (step.method, step.accept, step.as_, step.recorded, step.number, step.t) == (
        "GET", "application/json", "admin", True, -1, None
    )  # fmt: skip
    texts = (step.path, step.note, step.content_type, step.headers, step.body, step.settle, step.kubectl, step.file)
    assert texts == ("", "", "", {}, None, "", "", "")


def test_the_journey_is_driven_by_kubectl_in_its_own_namespace() -> None:
    journey = load_scenario("journey")
    assert journey.creates == ("journey",)
    commands = [step.kubectl.split()[0] for step in journey.steps if step.kubectl]
    assert commands == [
        "create", "expose", "scale", "set", "rollout", "rollout", "get", "describe", "scale", "delete", "get"
    ]  # fmt: skip
    discovery = load_scenario("discovery")
    assert [step.path for step in discovery.steps][:2] == ["/version", "/healthz"]
