"""The messages of all containers together do not make a pod's status too long."""

from __future__ import annotations

from typing import Any

import pytest

from lifecycle.kubelet.status.normalize_status import normalize_status


def entry(length: int, state: str = "state") -> dict[str, Any]:
    return {"name": "c", state: {"terminated": {"exitCode": 1, "message": "x" * length}}}


def lengths(status: dict[str, Any]) -> list[int]:
    return [
        len(each[state]["terminated"]["message"])
        for key in ("containerStatuses", "initContainerStatuses", "ephemeralContainerStatuses")
        for each in status.get(key) or ()
        for state in ("state", "lastState")
        if state in each
    ]


@pytest.mark.parametrize(
    "status",
    [
        {},
        {"containerStatuses": None},
        {"containerStatuses": [entry(12 * 1024)]},
        {"containerStatuses": [entry(4096), entry(4096, "lastState")], "initContainerStatuses": [entry(10)]},
        {"containerStatuses": [{"name": "c", "state": {"running": {}}}]},
        {"containerStatuses": [{"name": "c", "state": {"terminated": {"exitCode": 0}}, "lastState": None}]},
    ],
)
def test_what_is_short_enough_is_left_as_it_is(status: dict[str, Any]) -> None:
    assert normalize_status(status) is status


@pytest.mark.parametrize(
    ("status", "after"),
    [
        ({"containerStatuses": [entry(12 * 1024 + 1)]}, [12288]),
        ({"containerStatuses": [entry(12288), entry(5)]}, [6144, 5]),
        ({"containerStatuses": [entry(12288, "lastState"), {"name": "d"}]}, [6144]),
        ({"containerStatuses": [entry(5)], "initContainerStatuses": [entry(6145)]}, [5, 6144]),
        ({"containerStatuses": [entry(5)], "ephemeralContainerStatuses": [entry(6145)]}, [5, 6144]),
        ({"containerStatuses": [entry(4097), entry(4096)], "initContainerStatuses": [entry(9)]}, [4096, 4096, 9]),
    ],
)
def test_each_container_has_its_share_of_twelve_kibibytes(status: dict[str, Any], after: list[int]) -> None:
    cut = normalize_status({"phase": "Failed", **status})
    assert lengths(cut) == after
    assert cut["phase"] == "Failed"
    assert all(each["state"]["terminated"]["exitCode"] == 1 for each in cut["containerStatuses"] if "state" in each)


def test_what_was_given_is_not_changed() -> None:
    status = {"containerStatuses": [entry(20000)]}
    assert lengths(normalize_status(status)) == [12288]
    assert lengths(status) == [20000]


@pytest.mark.parametrize(
    ("message", "containers", "after"),
    [
        ("€" * 2049, 2, "€" * 2048),
        ("€" * 2048, 2, "€" * 2048),
        ("a" + "€" * 2000, 5, "a" + "€" * 818 + "\ufffd\ufffd"),  # 2457 bytes
        ("ab" + "€" * 2000, 5, "ab" + "€" * 818 + "\ufffd"),
    ],
)
def test_bytes_are_counted_and_those_of_a_character_cut_in_two_are_marked_as_go_does(
    message: str, containers: int, after: str
) -> None:
    ended: dict[str, Any] = {"name": "c", "state": {"terminated": {"message": message}}}
    cut = normalize_status({"containerStatuses": [ended, *({"name": str(n)} for n in range(1, containers))]})
    assert cut["containerStatuses"][0]["state"]["terminated"]["message"] == after
