"""Putting a recording's questions to something that answers, and comparing."""

import base64
import json
from collections import defaultdict

import pytest

from lifecycle.api.loop.clock import run_virtual
from lifecycle.compare import compare_cluster
from lifecycle.inspector import open_recording
from lifecycle.inspector.exchange import Question
from lifecycle.inspector.scenario import derive, load_scenario


class Answering:
    """Answers each question as a recording did, the k-th time as it did the k-th time; tokens and versions may be others."""

    def __init__(self, name, scenario):
        self.waiting = defaultdict(list)
        for exchange in open_recording(name).exchanges(scenario):
            self.waiting[self._key(exchange.method, exchange.path, exchange.accept)].append(exchange)
        self.bodies = []

    def _key(self, method, path, accept):
        question = Question.of(method, path, accept)
        return question.method, question.path, frozenset(question.query), question.form

    async def request(self, method, path, headers, body):
        answers = self.waiting[self._key(method, path, headers["Accept"])]
        if not answers:
            return 201, {"content-type": "application/json"}, b"{}"
        exchange = answers.pop(0) if len(answers) > 1 else answers[0]
        self.bodies.append((exchange, body))
        response = exchange.response
        if isinstance(response, dict) and set(response) == {"base64"}:
            data = base64.b64decode(response["base64"])
        else:
            data = response.encode() if isinstance(response, str) else json.dumps(response).encode()
        headers = {k: ", ".join(v) if isinstance(v, list) else v for k, v in exchange.headers.items()}
        return exchange.status, headers, data


@pytest.mark.parametrize("scenario", ["discovery", "objects", "storage"])
def test_the_other_recording_answers_equally(scenario):
    target = Answering("kind-1.36.2-again", scenario)
    table = run_virtual(compare_cluster(target, open_recording("kind-1.36.2"), scenario, name="again"))
    assert table.equal, table.unexplained[:3]
    assert len(table.rows) == len(open_recording("kind-1.36.2").exchanges(scenario))


def test_references_carry_this_clusters_own_uids_and_versions():
    target = Answering("kind-1.36.2-again", "storage")
    run_virtual(compare_cluster(target, open_recording("kind-1.36.2"), "storage"))
    exchange, body = next((e, b) for e, b in target.bodies if e.method == "PUT")
    assert json.loads(body)["metadata"]["uid"] == exchange.body["metadata"]["uid"]
    assert json.loads(body)["metadata"]["resourceVersion"] == exchange.body["metadata"]["resourceVersion"]


@pytest.mark.parametrize("scenario", ["discovery", "objects", "storage"])
def test_kept_scenarios_ask_what_was_recorded(scenario):
    kept = [step for step in load_scenario(scenario).steps if step.recorded]
    derived = derive(scenario, open_recording().exchanges(scenario)).steps
    assert [(s.number, s.method, s.path, s.accept, s.body) for s in kept] == [
        (s.number, s.method, s.path, s.accept, s.body) for s in derived
    ]


def test_the_journey_lists_the_same_moments():
    kept = [step for step in load_scenario("journey").steps if not step.kubectl and not step.settle]
    asked = [(e.moment, e.method, e.path) for e in open_recording().exchanges("journey")]
    assert [(step.note, step.method, step.path) for step in kept] == asked


def test_a_journey_on_nothing_disagrees_loudly():
    class Empty:
        async def request(self, method, path, headers, body):
            return 200, {"content-type": "application/json"}, b'{"kind":"List","items":[]}'

    table = run_virtual(compare_cluster(Empty(), open_recording(), "journey"))
    assert not table.equal
    assert table.fields_equal < 0.02 * table.total
