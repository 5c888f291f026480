"""Server-side apply: owning, conflicting, taking over, letting go."""

from __future__ import annotations

import copy
import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lifecycle.api.fieldpath.field_sets import has
from lifecycle.api.schema import decode
from lifecycle.api.status import StatusError
from lifecycle.apiserver.managedfields import (
    apply_patch,
    ignore_timestamps,
    parent_entries,
    scale_entries,
    update_managed_fields,
)
from lifecycle.apiserver.managedfields.entries import MAX_UPDATE_MANAGERS
from tests.api.recorded_writes import http_writes, lines
from tests.apiserver.registry.by_kind import strategy_of

T1, T2, T3 = "2026-01-01T00:00:01Z", "2026-01-01T00:00:02Z", "2026-01-01T00:00:03Z"


def config_map(data, **metadata):
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a", **metadata}, "data": data}


def deployment(*containers, **spec):
    spec["template"] = {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": list(containers)}}
    return {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "d", "namespace": "n"}, "spec": spec}


def apply(live, obj, manager, force=False, now=T1):
    before = json.dumps([live, obj])
    new = apply_patch(
        live, obj, manager=manager, force=force, now=now, reset_fields=strategy_of(obj).get_reset_fields("")
    )
    assert json.dumps([live, obj]) == before, "inputs are read-only"
    if live is None:
        new["metadata"]["uid"] = "u"
    return decode(new, new["apiVersion"], new["kind"])[0]


def update(live, new, manager, now=T2, subresource=""):
    new = copy.deepcopy(new)
    reset_fields = strategy_of(new).get_reset_fields(subresource)
    update_managed_fields(
        live,
        new,
        manager=manager,
        api_version=new["apiVersion"],
        subresource=subresource,
        now=now,
        reset_fields=reset_fields,
    )
    return new


def owners(obj):
    return {entry["manager"]: entry["fieldsV1"] for entry in obj["metadata"].get("managedFields", ())}


def test_a_conflict_is_refused_as_recorded():
    live = apply(None, config_map({"x": "1", "y": "1"}), "alice")
    recorded = next(e for e in lines("kind-1.36.2/http/storage.jsonl") if e["note"] == "apply conflict")
    with pytest.raises(StatusError) as refused:
        apply(live, config_map({"y": "2"}), "bob")
    assert refused.value.status == recorded["response"]


def test_several_conflicts_are_listed_by_manager():
    live = apply(None, config_map({"x": "1", "y": "1"}), "alice")
    live = update(live, {**live, "data": {**live["data"], "z": "1"}}, "carol")
    with pytest.raises(StatusError) as refused:
        apply(live, config_map({"x": "2", "y": "2", "z": "2"}), "bob")
    assert refused.value.message == (
        'Apply failed with 3 conflicts: conflicts with "alice":\n- .data.x\n- .data.y\nconflicts with "carol" using v1:\n- .data.z'
    )
    assert [cause["field"] for cause in refused.value.status["details"]["causes"]] == [".data.x", ".data.y", ".data.z"]


def test_force_takes_the_fields_over():
    live = apply(None, config_map({"x": "1", "y": "1"}), "alice")
    new = apply(live, config_map({"y": "2"}), "bob", force=True)
    assert new["data"] == {"x": "1", "y": "2"}
    assert owners(new) == {"alice": {"f:data": {"f:x": {}}}, "bob": {"f:data": {"f:y": {}}}}


def test_what_is_no_longer_named_goes_unless_somebody_else_owns_it():
    live = apply(None, config_map({"x": "1", "y": "1"}), "alice")
    live = apply(live, config_map({"y": "1"}), "bob")
    new = apply(live, config_map({}), "alice")
    assert new["data"] == {"y": "1"}
    assert "alice" not in owners(new) or not has(owners(new)["alice"], ("f:data", "f:y"))


def test_items_of_keyed_lists_come_and_go():
    one, two = {"name": "one", "image": "i"}, {"name": "two", "image": "i", "ports": [{"containerPort": 80}]}
    live = apply(None, deployment(one, two), "alice")
    fields = owners(live)["alice"]["f:spec"]["f:template"]["f:spec"]["f:containers"]['k:{"name":"two"}']
    assert fields["f:ports"] == {'k:{"containerPort":80,"protocol":"TCP"}': {".": {}, "f:containerPort": {}}}
    new = apply(live, deployment(one), "alice")
    assert [c["name"] for c in new["spec"]["template"]["spec"]["containers"]] == ["one"]


def test_items_of_others_stay_where_they_were():
    names = lambda obj: [c["name"] for c in obj["spec"]["template"]["spec"]["containers"]]  # noqa: E731
    live = apply(None, deployment(*({"name": n, "image": "i"} for n in "abc")), "alice")
    assert names(apply(live, deployment({"name": "x", "image": "i"}, {"name": "b", "image": "i"}), "bob")) == [
        "a",
        "x",
        "b",
        "c",
    ]
    assert names(apply(live, deployment({"name": "c", "image": "i"}, {"name": "a", "image": "i"}), "bob")) == [
        "b",
        "c",
        "a",
    ]


def test_applying_to_an_untracked_object_gives_its_fields_to_those_before():
    live = {**config_map({"x": "1"}), "metadata": {"name": "a", "uid": "u"}}
    new = apply(live, config_map({"y": "1"}), "alice")
    assert owners(new) == {"before-first-apply": {"f:data": {".": {}, "f:x": {}}}, "alice": {"f:data": {"f:y": {}}}}


def test_kubectl_takes_over_what_it_applied_client_side():
    config = config_map({"x": "1"})
    text = json.dumps({**config, "metadata": {"name": "a"}})
    annotated = config_map({"x": "1"}, annotations={"kubectl.kubernetes.io/last-applied-configuration": text}, uid="u")
    live = update(None, annotated, "kubectl-client-side-apply", T1)
    new = apply(live, config_map({"x": "2"}), "kubectl", now=T2)
    assert new["data"] == {"x": "2"}
    kept = json.loads(new["metadata"]["annotations"]["kubectl.kubernetes.io/last-applied-configuration"])
    assert kept == config_map({"x": "2"})
    with pytest.raises(StatusError):
        apply(live, config_map({"x": "2"}), "somebody")


@pytest.mark.parametrize(
    ("broken", "message"),
    [
        (
            deployment(foo=1),
            "failed to create typed patch object (n/d; apps/v1, Kind=Deployment): .spec.foo: field not declared in schema",
        ),
        (
            deployment({"name": "c"}, {"name": "c"}),
            "failed to create typed patch object (n/d; apps/v1, Kind=Deployment): "
            '.spec.template.spec.containers: duplicate entries for key [name="c"]',
        ),
        (
            deployment(replicas="3"),
            "failed to create typed patch object (n/d; apps/v1, Kind=Deployment): "
            ".spec.replicas: expected numeric (int or float), got string",
        ),
        (
            deployment({"name": "c", "image": 5}),
            "failed to create typed patch object (n/d; apps/v1, Kind=Deployment): "
            '.spec.template.spec.containers[name="c"].image: expected string, got &value.valueUnstructured{Value:5}',
        ),
        (config_map({}, managedFields=[]), "metadata.managedFields must be nil"),
    ],
)
def test_broken_configurations_are_refused(broken, message):
    with pytest.raises(StatusError) as refused:
        apply_patch(None, broken, manager="m", now=T1)
    assert refused.value.message == message


def test_applying_nothing_new_keeps_the_time():
    live = apply(None, config_map({"x": "1"}), "alice", now=T1)
    new = apply(live, config_map({"x": "1"}), "alice", now=T2)
    assert new == live


def test_a_write_that_changes_only_the_time_changes_nothing():
    live = config_map({"x": "1"}, managedFields=[{"manager": "m", "operation": "Update", "time": T1}])
    new = config_map({"x": "1"}, managedFields=[{"manager": "m", "operation": "Update", "time": T2}])
    ignore_timestamps(new, live)
    assert new == live


def test_clients_can_reset_the_tracking_but_not_forge_it_through_a_subresource():
    live = update(None, config_map({"x": "1"}, uid="u"), "m", T1)
    assert "managedFields" not in update(live, config_map({"x": "1"}, uid="u", managedFields=[{}]), "m")["metadata"]
    forged = [
        {
            "manager": "f",
            "operation": "Update",
            "apiVersion": "v1",
            "fieldsType": "FieldsV1",
            "fieldsV1": {"f:data": {}},
        }
    ]
    assert list(owners(update(live, config_map({"x": "1"}, uid="u", managedFields=forged), "m"))) == ["f"]
    assert list(
        owners(update(live, config_map({"x": "1"}, uid="u", managedFields=forged), "m", subresource="status"))
    ) == ["m"]


def test_no_more_than_ten_updaters_are_kept_apart():
    live = update(None, config_map({"k0": "0"}, uid="u"), "m0", T1)
    for n in range(1, 15):
        live = update(live, {**live, "data": {**live["data"], f"k{n}": "1"}}, f"m{n:02}", f"2026-01-01T00:01:{n:02}Z")
    entries = live["metadata"]["managedFields"]
    assert len(entries) == MAX_UPDATE_MANAGERS
    assert entries[0]["manager"] == "ancient-changes"
    assert set(entries[0]["fieldsV1"]["f:data"]) == {".", "f:k0", "f:k1", "f:k2", "f:k3", "f:k4", "f:k5"}


def test_status_writes_own_only_status():
    pod = decode(
        {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p", "uid": "u"}, "status": {"phase": "Running"}},
        "v1",
        "Pod",
    )[0]
    assert "managedFields" not in update(None, {**pod, "status": {"phase": "Running"}}, "m")["metadata"]
    live = {
        **pod,
        "metadata": {"name": "p", "uid": "u", "managedFields": update(None, {**pod, "spec": {"nodeName": "n"}}, "m")},
    }
    live["metadata"]["managedFields"] = live["metadata"]["managedFields"]["metadata"]["managedFields"]
    new = update(
        live, {**pod, "spec": {"nodeName": "other"}, "status": {"phase": "Failed"}}, "kubelet", subresource="status"
    )
    assert owners(new)["kubelet"] == {"f:status": {"f:phase": {}}}


def test_scaling_takes_the_replicas_from_their_owner():
    before = [
        {"manager": "alice", "operation": "Apply", "apiVersion": "apps/v1", "time": T1, "fieldsType": "FieldsV1",
         "fieldsV1": {"f:spec": {"f:replicas": {}, "f:paused": {}}}},
    ]  # fmt: skip
    seen = scale_entries(before)
    assert [(e["manager"], e["apiVersion"], e["fieldsV1"]) for e in seen] == [
        ("alice", "autoscaling/v1", {"f:spec": {"f:replicas": {}}})
    ]
    assert parent_entries(before, seen, "apps/v1") == before
    taken = [{**seen[0], "manager": "hpa", "operation": "Update", "subresource": "scale"}]
    after = parent_entries(before, taken, "apps/v1")
    assert [(e["manager"], e["fieldsV1"]) for e in after] == [
        ("alice", {"f:spec": {"f:paused": {}}}),
        ("hpa", {"f:spec": {"f:replicas": {}}}),
    ]


maps = st.dictionaries(st.sampled_from("abcd"), st.sampled_from("12"), max_size=4)
containers = st.dictionaries(st.sampled_from("abcd"), st.sampled_from("12"), max_size=4).map(
    lambda found: [{"name": name, "image": image} for name, image in found.items()]
)


@settings(max_examples=60)
@given(containers, containers)
def test_applying_twice_is_applying_once(first, second):
    live = apply(None, deployment(*first), "alice")
    once = apply(live, deployment(*second), "bob", force=True, now=T2)
    assert apply(once, deployment(*second), "bob", now=T3) == once


@settings(max_examples=60)
@given(maps.filter(bool), maps.filter(bool))
def test_managers_of_disjoint_fields_do_not_disturb_each_other(first, second):
    second = {key.upper(): value for key, value in second.items()}
    a_then_b = apply(apply(None, config_map(first), "alice"), config_map(second), "bob")
    b_then_a = apply(apply(None, config_map(second), "bob"), config_map(first), "alice")
    assert a_then_b.get("data") == b_then_a.get("data")
    assert owners(a_then_b) == owners(b_then_a)


@settings(max_examples=60)
@given(maps, maps)
def test_an_applier_gets_exactly_what_it_names(first, second):
    live = apply(None, config_map(first), "alice")
    assert apply(live, config_map(second), "alice").get("data", {}) == second


def test_recorded_applies_are_answered_as_recorded():
    """Spec and data of the answers, not only the managed fields."""
    live = None
    for write in http_writes("storage"):
        if write.verb == "apply" and write.answer["kind"] == "ConfigMap":
            live = apply(live, write.body, write.manager, write.force)
            assert live["data"] == write.answer["data"]
