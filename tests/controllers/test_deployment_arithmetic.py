"""How many pods each ReplicaSet may have: the arithmetic, worked in comments."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lifecycle.api.http.wire import Object
from lifecycle.controllers.deployment.deployment_util import (
    by_size_newer,
    by_size_older,
    deployment_complete,
    deployment_progressing,
    equal_ignore_hash,
    find_active_or_latest,
    find_new_replica_set,
    find_old_replica_sets,
    max_surge,
    max_unavailable,
    new_rs_new_replicas,
    replicas_of,
    resolve_fenceposts,
    terminating_replicas,
)
from lifecycle.controllers.deployment.revisions import (
    MAX_REPLICAS,
    REVISION,
    REVISION_HISTORY,
    annotations_of,
    max_revision,
    set_new_replica_set_annotations,
)
from lifecycle.controllers.deployment.sync import proportional_sizes


def a_deployment(desired: int, surge: int | str = "25%", unavailable: int | str = "25%", **status: Any) -> Object:
    rolling = {"maxSurge": surge, "maxUnavailable": unavailable}
    spec = {
        "replicas": desired,
        "strategy": {"type": "RollingUpdate", "rollingUpdate": rolling},
        "template": {"metadata": {}, "spec": {}},
    }
    return {"metadata": {"name": "d", "generation": 1}, "spec": spec, "status": status}


def a_replica_set(name: str, replicas: int, maximum: int | None = None, image: str = "a", created: str = "") -> Object:
    meta: Object = {
        "name": name,
        "uid": name,
        "creationTimestamp": created or f"2026-01-01T00:00:{ord(name[0]) % 60:02d}Z",
    }
    if maximum is not None:
        meta["annotations"] = {MAX_REPLICAS: str(maximum)}
    template = {"metadata": {"labels": {"pod-template-hash": name}}, "spec": {"containers": [{"image": image}]}}
    return {"metadata": meta, "spec": {"replicas": replicas, "template": template}}


@pytest.mark.parametrize(
    ("surge", "unavailable", "desired", "expected"),
    [
        ("25%", "25%", 10, (3, 2)),  # 2.5 up, 2.5 down
        ("25%", "25%", 3, (1, 0)),
        (1, "10%", 10, (1, 1)),
        ("0%", "10%", 5, (0, 1)),  # 0.5 down is 0: nothing could move, so one may be missing
        (0, 1, 5, (0, 1)),
        ("100%", "100%", 4, (4, 4)),
    ],
)
def test_fenceposts(surge: int | str, unavailable: int | str, desired: int, expected: tuple[int, int]) -> None:
    assert resolve_fenceposts(surge, unavailable, desired) == expected


def test_limits_of_special_deployments() -> None:
    assert max_unavailable(a_deployment(0, unavailable=1)) == 0
    assert max_unavailable(a_deployment(2, unavailable=5)) == 2
    recreate = {"metadata": {}, "spec": {"replicas": 3, "strategy": {"type": "Recreate"}}}
    assert (max_surge(recreate), max_unavailable(recreate)) == (0, 0)
    assert new_rs_new_replicas(recreate, [a_replica_set("a", 3)], a_replica_set("b", 0)) == 3


@given(st.integers(0, 50), st.integers(0, 50), st.integers(0, 50), st.integers(0, 20))
def test_the_new_replica_set_never_exceeds_what_is_wanted_or_allowed(
    desired: int, old: int, new: int, surge: int
) -> None:
    d, new_rs = a_deployment(desired, surge, 1), a_replica_set("b", min(new, desired))
    size = new_rs_new_replicas(d, [a_replica_set("a", old), new_rs], new_rs)
    assert replicas_of(new_rs) <= size <= max(desired, replicas_of(new_rs))
    if size > replicas_of(new_rs):
        assert size + old <= desired + surge


def sizes(d: Object, *replica_sets: Object) -> dict[str, int]:
    return {rs["metadata"]["name"]: size for rs, size in proportional_sizes(replica_sets, d)}


def test_scaling_in_the_middle_of_a_rollout_is_shared_out_in_proportion() -> None:
    # Was 10 + surge 2 = 12, split 8 and 4; becomes 20 + 2 = 22. 8*22/12 = 14.7 → 15, 4*22/12 = 7.3 → 7; 22 in all.
    assert sizes(a_deployment(20, 2, 2), a_replica_set("a", 8, 12), a_replica_set("b", 4, 12)) == {"a": 15, "b": 7}
    # Down to 5 + 2 = 7: 8*7/12 = 4.7 → 5, 4*7/12 = 2.3 → 2.
    assert sizes(a_deployment(5, 2, 2), a_replica_set("a", 8, 12), a_replica_set("b", 4, 12)) == {"a": 5, "b": 2}
    # To nothing: everybody to nothing.
    assert sizes(a_deployment(0, 2, 2), a_replica_set("a", 8, 12), a_replica_set("b", 4, 12)) == {"a": 0, "b": 0}
    # Without the annotation the Deployment's status says how large it was.
    assert sizes(a_deployment(20, 2, 2, replicas=12), a_replica_set("a", 8), a_replica_set("b", 4)) == {"a": 15, "b": 7}


@given(
    st.lists(st.integers(1, 40), min_size=1, max_size=5),
    st.integers(0, 100),
    st.integers(0, 10),
    st.integers(0, 10),
)
def test_proportional_scaling_gives_out_exactly_what_there_is(
    before: list[int], desired: int, surge: int, slack: int
) -> None:
    total = sum(before)
    replica_sets = [a_replica_set(chr(97 + i), size, total + slack) for i, size in enumerate(before)]
    result = sizes(a_deployment(desired, surge, 1), *replica_sets)
    assert all(size >= 0 for size in result.values())
    allowed = desired + surge if desired else 0
    if allowed >= total:
        assert sum(result.values()) == allowed


def test_the_larger_goes_first_and_age_breaks_ties() -> None:
    old, new, big = a_replica_set("a", 2), a_replica_set("b", 2), a_replica_set("c", 5)
    names = [[rs["metadata"]["name"] for rs in order([old, new, big])] for order in (by_size_newer, by_size_older)]
    assert names == [["c", "b", "a"], ["c", "a", "b"]]


def test_the_new_replica_set_is_the_one_with_the_same_template() -> None:
    first, second = a_replica_set("a", 0, image="v1"), a_replica_set("b", 3, image="v2")
    d = a_deployment(3)
    d["spec"]["template"] = {"metadata": {"labels": {}}, "spec": {"containers": [{"image": "v1"}]}}
    assert find_new_replica_set(d, [first, second]) is first
    assert find_old_replica_sets(d, [second, first]) == [second]
    assert find_active_or_latest(first, [second]) is second
    assert find_active_or_latest(None, []) is None
    empty = a_replica_set("c", 0)
    assert find_active_or_latest(None, [first, empty]) is empty


def test_templates_are_compared_by_meaning() -> None:
    a: Object = {
        "metadata": {"labels": {"app": "x", "pod-template-hash": "1"}},
        "spec": {"containers": [{"name": "a", "env": []}]},
    }
    b: Object = {
        "metadata": {"labels": {"app": "x"}, "creationTimestamp": None},
        "spec": {"containers": [{"name": "a"}], "volumes": []},
    }
    assert equal_ignore_hash(a, b)
    b["spec"]["containers"][0]["image"] = "other"
    assert not equal_ignore_hash(a, b)


def test_revisions_count_up_and_remember() -> None:
    d = a_deployment(3)
    d["metadata"]["annotations"] = {
        "kubernetes.io/change-cause": "why",
        REVISION: "9",
        "kubectl.kubernetes.io/last-applied-configuration": "{}",
    }
    rs = a_replica_set("a", 0)
    rs["metadata"]["annotations"] = {REVISION: "1"}
    assert set_new_replica_set_annotations(d, rs, 3, exists=True)
    assert annotations_of(rs) == {"kubernetes.io/change-cause": "why", REVISION: "3", REVISION_HISTORY: "1"}
    assert set_new_replica_set_annotations(d, rs, 5, exists=True)
    assert annotations_of(rs)[REVISION_HISTORY] == "1,3"
    assert not set_new_replica_set_annotations(d, rs, 4, exists=True)
    assert max_revision([rs, a_replica_set("b", 0)]) == 5


def test_the_history_stays_short() -> None:
    d, rs = a_deployment(3), a_replica_set("a", 0)
    rs["metadata"]["annotations"] = {REVISION: "1"}
    for number in range(2, 900):
        set_new_replica_set_annotations(d, rs, number, exists=True)
    history = annotations_of(rs)[REVISION_HISTORY]
    assert len(history) <= 2000
    assert history.endswith(",898")


def test_complete_and_progressing() -> None:
    done = {"updatedReplicas": 3, "replicas": 3, "availableReplicas": 3, "observedGeneration": 1}
    assert deployment_complete(a_deployment(3), done)
    assert not deployment_complete(a_deployment(3), {**done, "observedGeneration": 0})
    assert not deployment_complete(a_deployment(3), {**done, "replicas": 4})
    before = a_deployment(3, replicas=4, updatedReplicas=1, readyReplicas=3, availableReplicas=3)
    assert deployment_progressing(before, {**before["status"], "updatedReplicas": 2})
    assert deployment_progressing(before, {**before["status"], "replicas": 3})
    assert not deployment_progressing(before, {**before["status"], "readyReplicas": 2, "availableReplicas": 2})


@pytest.mark.parametrize(
    ("statuses", "expected"),
    [
        ([], 0),
        ([None, {"terminatingReplicas": 2, "observedGeneration": 1}, {"terminatingReplicas": 3}], 5),
        ([{"replicas": 0}], 0),  # nobody has looked at it yet
        ([{"replicas": 1, "observedGeneration": 1}], None),  # one who does not count them has
        ([{"terminatingReplicas": 2, "observedGeneration": 1}, {"replicas": 1, "observedGeneration": 1}], None),
        ([{"terminatingReplicas": 2, "observedGeneration": 1}, {"replicas": 1}], 2),
    ],
)
def test_pods_on_their_way_out_are_counted_where_all_replica_sets_say_how_many(
    statuses: list[Any], expected: int | None
) -> None:
    sets = [None if status is None else {**a_replica_set("a", 1), "status": status} for status in statuses]
    assert terminating_replicas(sets) == expected
