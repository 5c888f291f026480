"""One changed value that is not free must be found, wherever it is."""

import copy
import json
from functools import cache

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lifecycle.compare import Normaliser, compare, pair_siblings
from lifecycle.compare.masked import Masked
from lifecycle.inspector import open_recording

SCOPES = [
    ("journey", "after create"),
    ("journey", "after expose"),
    ("journey", "after rollout"),
    ("objects", ""),
    ("discovery", ""),
]


@cache
def _bodies(cluster: str, scenario: str, moment: str):
    return [e.response for e in open_recording(cluster).exchanges(scenario) if not moment or e.moment == moment]


@cache
def _normalised(cluster: str, scenario: str, moment: str):
    bodies = _bodies(cluster, scenario, moment)
    normaliser = Normaliser().learn(*bodies)
    return [normaliser.normalise(body) for body in bodies]


def _leaves(raw, shown, path=()):
    """Paths of scalars that no rule speaks for."""
    if isinstance(raw, dict):
        for key, item in raw.items():
            if key in shown:
                yield from _leaves(item, shown[key], (*path, key))
    elif isinstance(raw, list):
        for index, item in enumerate(raw):
            yield from _leaves(item, shown[index], (*path, index))
    elif not isinstance(shown, Masked):
        yield path


@cache
def _free_of_rules(scenario: str, moment: str):
    bodies, shown = _bodies("kind-1.36.2", scenario, moment), _normalised("kind-1.36.2", scenario, moment)
    return [(n, path) for n, (raw, doc) in enumerate(zip(bodies, shown, strict=True)) for path in _leaves(raw, doc)]


def _changed(value):
    if isinstance(value, bool):
        return not value
    if isinstance(value, int | float):
        return value + 1
    return "changed" if value is None else value + "x"


def _differs(ours, theirs) -> bool:
    bijection = pair_siblings(ours, theirs)
    return any(compare(a, b, bijection).differences for a, b in zip(ours, theirs, strict=True))


@pytest.mark.parametrize("scope", SCOPES)
def test_the_unchanged_scope_is_equal(scope):
    assert not _differs(_normalised("kind-1.36.2", *scope), _normalised("kind-1.36.2-again", *scope))


@settings(max_examples=40, deadline=None)
@given(st.data())
def test_a_changed_value_is_found(data):
    scope = data.draw(st.sampled_from(SCOPES[:3]))
    where = _free_of_rules(*scope)
    number, path = where[data.draw(st.integers(0, len(where) - 1))]
    bodies = copy.copy(_bodies("kind-1.36.2", *scope))
    bodies[number] = copy.deepcopy(bodies[number])
    holder = bodies[number]
    for key in path[:-1]:
        holder = holder[key]
    holder[path[-1]] = _changed(holder[path[-1]])
    normaliser = Normaliser().learn(*bodies)
    ours = [normaliser.normalise(body) for body in bodies]
    assert _differs(ours, _normalised("kind-1.36.2-again", *scope)), (scope, number, path)


def _mutated(scope, change):
    bodies = [copy.deepcopy(body) for body in _bodies("kind-1.36.2", *scope)]
    change(bodies)
    normaliser = Normaliser().learn(*bodies)
    return [normaliser.normalise(body) for body in bodies]


def _list(bodies, kind):
    return next(body for body in bodies if body["kind"] == kind)["items"]


BROKEN = {
    "an owner reference to a sibling that is not the owner": lambda b: _list(b, "PodList")[0]["metadata"][
        "ownerReferences"
    ][0].update(uid=_list(b, "PodList")[1]["metadata"]["uid"]),
    "an endpoint that names another pod than its uid": lambda b: _list(b, "EndpointSliceList")[0]["endpoints"][0][
        "targetRef"
    ].update(name=_list(b, "EndpointSliceList")[0]["endpoints"][1]["targetRef"]["name"]),
    "an endpoint with another pod's address": lambda b: _list(b, "EndpointSliceList")[0]["endpoints"][0].update(
        addresses=_list(b, "EndpointSliceList")[0]["endpoints"][1]["addresses"]
    ),
    "a pod on a node whose address is not its host IP": lambda b: _list(b, "PodList")[0]["status"].update(
        hostIP="172.19.0.99"
    ),
    "a volume mount of a volume that is not there": lambda b: _list(b, "PodList")[0]["spec"]["containers"][0][
        "volumeMounts"
    ][0].update(name=_list(b, "PodList")[1]["spec"]["volumes"][0]["name"]),
    "a pod missing": lambda b: _list(b, "PodList").pop(),
    "a pod too many": lambda b: _list(b, "PodList").append(
        json.loads(json.dumps(_list(b, "PodList")[0]).replace("-l4z6p", "-zzzzz"))
    ),
    "an event missing": lambda b: _list(b, "EventList").pop(),
    "an uid that is none": lambda b: _list(b, "DeploymentList")[0]["metadata"].update(uid="nginx"),
    "a time without its precision": lambda b: _list(b, "DeploymentList")[0]["metadata"].update(
        creationTimestamp="2026-11-21"
    ),
    "an endpoint on a node the pod is not on": lambda b: _list(b, "EndpointSliceList")[0]["endpoints"][0].update(
        nodeName="lifecycle-worker9"
    ),
}


@pytest.mark.parametrize("change", BROKEN.values(), ids=BROKEN.keys())
def test_a_broken_reference_is_no_freedom(change):
    scope = ("journey", "after expose")
    assert _differs(_mutated(scope, change), _normalised("kind-1.36.2-again", *scope))


def test_a_restart_without_its_story_is_no_retried_start():
    """The other recording holds a container whose start was retried: one restart more, told of in `lastState` and an event."""
    scope = ("journey", "after rollout")

    def restarted(bodies):
        for pod in _list(bodies, "PodList"):
            pod["status"]["containerStatuses"][0]["restartCount"] = 1

    assert not _differs(_mutated(scope, lambda bodies: None), _normalised("kind-1.36.2-again", *scope))
    assert _differs(_mutated(scope, restarted), _normalised("kind-1.36.2-again", *scope))
