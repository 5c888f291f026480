"""Leases: what may be written, and how."""

from __future__ import annotations

from typing import Any

import pytest

from lifecycle.api.http.wire import Object
from lifecycle.api.schema import decode
from lifecycle.apiserver.registry.coordination.lease import PRINTER, STRATEGY


def lease(**spec: Any) -> Object:
    body = {"metadata": {"name": "l", "namespace": "n"}, "spec": spec}
    return decode(body, "coordination.k8s.io/v1", "Lease")[0]


def test_a_put_creates_a_lease_and_an_update_names_the_version_it_replaces() -> None:
    assert STRATEGY.allow_create_on_update
    assert not STRATEGY.allow_unconditional_update


@pytest.mark.parametrize(
    ("spec", "error"),
    [
        ({"leaseDurationSeconds": 0}, "spec.leaseDurationSeconds: Invalid value: 0: must be greater than 0"),
        ({"leaseTransitions": -1}, "spec.leaseTransitions: Invalid value: -1: must be greater than or equal to 0"),
    ],
)
def test_durations_are_positive_and_transitions_not_negative(spec: dict[str, Any], error: str) -> None:
    assert [str(each) for each in STRATEGY.validate(lease(**spec))] == [error]
    old = lease()
    for obj in (old, new := lease(**spec)):
        obj["metadata"] |= {"uid": "u", "resourceVersion": "1"}
    assert [str(each) for each in STRATEGY.validate_update(new, old)] == [error]


def test_the_table_names_the_holder() -> None:
    created = {"creationTimestamp": "1970-01-01T00:00:00Z"}
    obj = lease(holderIdentity="node-1")
    obj["metadata"] |= created
    assert PRINTER.row(obj, 7.0) == ["l", "node-1", "7s"]
    assert [column.name for column in PRINTER.columns] == ["Name", "Holder", "Age"]
