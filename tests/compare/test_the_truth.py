"""The comparator is trusted only if it finds two clusters of one version equal and still tells 1.36 from 1.20."""

from functools import cache

import pytest

from lifecycle import compare
from lifecycle.compare.freedoms import why
from lifecycle.inspector import open_recording


@cache
def compare_recordings(ours, theirs, scenario):
    return compare.compare_recordings(open_recording(ours), open_recording(theirs), scenario)


EQUAL = ("discovery", "objects", "journey", "storage", "authn", "authz", "admission", "corpus", "etcd", "services")
LOOKED_AT = {
    "scheduling": {"preemption-victim": 3},
    "kubelet": {
        "image-id-of-two-names": 6,
        "crash-loop-caught-at-another-turn": 12,
        "crash-loop-a-turn-further": 2,
        "crash-loop-in-managed-fields": 4,
        "limits-read-back-or-not": 2,
        "output-of-programs": 10,
    },
}


@pytest.mark.parametrize("scenario", EQUAL)
def test_the_same_system_twice_is_equal(scenario):
    table = compare_recordings("kind-1.36.2", "kind-1.36.2-again", scenario)
    assert table.unexplained == []
    assert table.equal, table.summary
    assert table.fields_equal == table.total > 100


@pytest.mark.parametrize("scenario", LOOKED_AT)
def test_what_is_left_over_elsewhere_is_known_by_name(scenario):
    table = compare_recordings("kind-1.36.2", "kind-1.36.2-again", scenario)
    assert table.unexplained == []
    assert {known.id: count for known, count in table.known.items()} == LOOKED_AT[scenario]


def test_equality_does_not_depend_on_the_side():
    table = compare_recordings("kind-1.36.2-again", "kind-1.36.2", "journey")
    assert table.equal, table.unexplained[:3]


@pytest.mark.parametrize(
    "scenario", ["discovery", "objects", "journey", "storage", "authn", "admission", "corpus", "services"]
)
def test_another_version_is_told_apart(scenario):
    table = compare_recordings("kind-1.36.2", "bare-1.20.2", scenario)
    assert not table.equal
    assert len(table.unexplained) > 20
    assert table.fields_equal < 0.8 * table.total


def test_a_recording_equals_itself_without_any_freedom_but_none():
    table = compare_recordings("kind-1.36.2", "kind-1.36.2", "objects")
    assert table.equal
    assert not table.freedoms


def test_every_granted_freedom_has_a_reason():
    granted = set()
    for scenario in ("journey", "objects", "storage", "authz", "services"):
        granted |= set(compare_recordings("kind-1.36.2", "kind-1.36.2-again", scenario).freedoms)
    assert len(granted) > 15
    assert [name for name in granted if not why(name)] == []
