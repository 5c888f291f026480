"""Which slices of a Service are filled first when endpoints come and go: as few as possible are written."""

from __future__ import annotations

import pytest

from lifecycle.api.http.wire import Object
from lifecycle.controllers.endpointslice import reconciler
from lifecycle.controllers.endpointslice.slice_changes import Changes

SERVICE: Object = {"metadata": {"name": "web", "namespace": "default", "uid": "u"}, "spec": {"clusterIP": "10.96.0.9"}}


def endpoint(number: int) -> Object:
    return {"addresses": [f"10.0.{number // 256}.{number % 256}"], "conditions": {"ready": True}}


def slice_of(name: str, numbers: range) -> Object:
    labels = reconciler.endpoint_slice_labels(SERVICE)
    return {"metadata": {"name": name, "labels": labels}, "endpoints": [endpoint(number) for number in numbers]}


def written(wanted: list[int], **before: range) -> dict[str, int]:
    """How many endpoints each slice has that is written; of those that are new the name is empty."""
    group = reconciler._DesiredEndpoints([])
    for number in wanted:
        group.endpoints[reconciler._identity(endpoint(number))] = endpoint(number)
    changes = Changes()
    slices = [slice_of(name, numbers) for name, numbers in before.items()]
    reconciler._reconcile_by_port_mapping(SERVICE, slices, group, "IPv4", changes)
    return {each["metadata"].get("name", ""): len(each["endpoints"]) for each in [*changes.update, *changes.create]}


@pytest.mark.parametrize(
    ("wanted", "before", "expected"),
    [
        # both are written anyhow, so the fuller one is filled up first
        (
            [*range(1, 98), *range(101, 141), *range(200, 260)],
            {"full": range(98), "empty": range(100, 141)},
            {"full": 100, "empty": 97},
        ),
        # what comes finds room in the slice that is written anyhow, and the other one is left alone
        (
            [*range(1, 50), *range(100, 110), *range(200, 210)],
            {"full": range(50), "empty": range(100, 110)},
            {"full": 59},
        ),
        # nothing is written anyhow: the fullest one that has room for all
        ([*range(90), *range(100, 150), *range(200, 220)], {"full": range(90), "half": range(100, 150)}, {"half": 70}),
        ([*range(70), *range(100, 150), *range(200, 220)], {"full": range(70), "half": range(100, 150)}, {"full": 90}),
        # nobody has room for all, and none is filled only to be full
        ([*range(90), *range(100, 190), *range(200, 220)], {"a": range(90), "b": range(100, 190)}, {"": 20}),
    ],
)
def test_as_few_slices_are_written_as_possible(
    wanted: list[int], before: dict[str, range], expected: dict[str, int]
) -> None:
    assert written(wanted, **before) == expected


def test_a_slice_that_nobody_is_left_in_goes() -> None:
    group = reconciler._DesiredEndpoints([])
    for number in range(10):
        group.endpoints[reconciler._identity(endpoint(number))] = endpoint(number)
    changes = Changes()
    slices = [slice_of("stays", range(10)), slice_of("goes", range(50, 60))]
    reconciler._reconcile_by_port_mapping(SERVICE, slices, group, "IPv4", changes)
    assert [each["metadata"]["name"] for each in changes.delete] == ["goes"]
    assert [each["metadata"]["name"] for each in changes.unchanged] == ["stays"]
    assert (changes.update, changes.create) == ([], [])
