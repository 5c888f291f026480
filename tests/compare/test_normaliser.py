"""Placeholders say what they stand for, and whose."""

import copy

from hypothesis import given
from hypothesis import strategies as st

from lifecycle.compare import Bijection, Normaliser, compare, normalise_all
from lifecycle.compare.masked import Masked, count_leaves
from lifecycle.inspector import open_recording

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=6),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=12,
)


def _pods():
    return open_recording().at("journey", "after create").get("/api/v1/namespaces/journey/pods")


def test_the_original_is_not_touched():
    pods = _pods()
    before = copy.deepcopy(pods)
    normalise_all([pods])
    assert pods == before


def test_placeholders_name_their_owner():
    [shown], _ = normalise_all([_pods()])
    pod = shown["items"][0]
    label = "Pod journey/nginx-747d4c55d8-<random>"
    assert pod["metadata"]["name"] == "nginx-747d4c55d8-<random>"
    assert pod["metadata"]["uid"] == f"<uid of {label}>"
    assert pod["metadata"]["ownerReferences"][0]["uid"] == "<uid of ReplicaSet journey/nginx-747d4c55d8>"
    assert pod["status"]["podIP"] == f"<ip of {label}>"
    assert pod["spec"]["nodeName"] == "<node of the pod>"
    assert pod["status"]["hostIP"] == "<address of the pod's node>"
    assert pod["spec"]["volumes"][0]["name"] == "kube-api-access-<random>"
    assert pod["metadata"]["labels"]["pod-template-hash"] == "747d4c55d8"  # a hash of the template: not free


def test_what_is_not_free_stays():
    [shown], normaliser = normalise_all(
        [{"kind": "ConfigMap", "metadata": {"name": "a"}, "data": {"ip": "10.0.0.1", "n": "nginx-abcde"}}]
    )
    assert shown["data"] == {"ip": "10.0.0.1", "n": "nginx-abcde"}
    assert not normaliser.counts


def test_counts_say_how_many_placeholders_each_rule_put_in():
    _, normaliser = normalise_all([_pods()])
    assert normaliser.counts["container ids"] == 3
    assert normaliser.counts["resource versions"] == 4


def test_zero_time_and_version_zero_have_a_meaning():
    document = {"metadata": {"resourceVersion": "0", "creationTimestamp": "0001-01-01T00:00:00Z"}}
    assert Normaliser().normalise(document) == document


def test_a_masked_string_keeps_its_original():
    value = Normaliser().normalise({"metadata": {"resourceVersion": "17"}})["metadata"]["resourceVersion"]
    assert isinstance(value, Masked)
    assert value.raw == "17"


@given(JSON)
def test_any_document_equals_itself_in_as_many_fields_as_it_has(document):
    comparison = compare(document, copy.deepcopy(document))
    assert comparison.agrees
    assert comparison.total == comparison.equal == count_leaves(document)


@given(JSON, JSON)
def test_equality_is_symmetric(a, b):
    assert compare(a, b).agrees == compare(b, a).agrees == (repr(_sorted(a)) == repr(_sorted(b)))


def _sorted(value):
    if isinstance(value, dict):
        return {key: _sorted(value[key]) for key in sorted(value)}
    return [_sorted(item) for item in value] if isinstance(value, list) else value


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), max_size=12))
def test_a_bijection_stays_one_to_one(pairs):
    bijection, accepted = Bijection(), set()
    for a, b in pairs:
        if bijection.bind(("c", str(a)), ("c", str(b))):
            accepted.add((a, b))
    assert len({a for a, _ in accepted}) == len({b for _, b in accepted}) == len(accepted)


def test_one_is_not_true():
    assert not compare({"a": 1}, {"a": True}).agrees
    assert not compare({"a": None}, {}).agrees
    assert not compare([], {}).agrees


def test_a_revision_is_free_wherever_kubernetes_speaks_of_an_object():
    for holder in ("metadata", "involvedObject", "regarding", "claimRef"):
        assert Normaliser().normalise({holder: {"resourceVersion": "17"}}) == {
            holder: {"resourceVersion": "<resourceVersion>"}
        }
    data = {"data": {"resourceVersion": "17"}}
    assert Normaliser().normalise(data) == data


def test_the_times_of_an_autoscalers_old_conditions_are_times():
    conditions = '[{"type":"AbleToScale","lastTransitionTime":"2026-01-01T00:00:00Z"}]'
    free = Normaliser().normalise(
        {"annotations": {"autoscaling.alpha.kubernetes.io/conditions": conditions, "mine": conditions}}
    )
    assert free["annotations"]["autoscaling.alpha.kubernetes.io/conditions"] == conditions.replace(
        "2026-01-01T00:00:00Z", "<time>"
    )
    assert free["annotations"]["mine"] == conditions
