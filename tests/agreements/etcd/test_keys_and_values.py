"""Our keys and bytes are those of the recorded etcd."""

from __future__ import annotations

import pytest

from lifecycle.agreements.etcd.keys_and_values import etcd_agreement
from lifecycle.api.resources import Resource
from lifecycle.inspector import open_recording


@pytest.mark.parametrize("name", ["kind-1.36.2", "kind-1.36.2-again"])
def test_every_recorded_key_and_value_is_made_again(name: str) -> None:
    table = etcd_agreement(open_recording(name))
    assert [row.input for row in table.rows if not row.equal] == []
    assert len([row for row in table.rows if row.stage == "keys"]) >= 25
    assert len([row for row in table.rows if row.stage == "values"]) >= 10


def test_a_plain_layout_misses_the_special_prefixes() -> None:
    def plain(row: Resource, namespace: str, name: str) -> str:
        return "/".join(filter(None, ("/registry", row.plural, namespace, name)))

    wrong = {row.input for row in etcd_agreement(open_recording(), plain).rows if not row.equal}
    assert {"/registry/minions/", "/registry/services/specs/"} <= wrong
    assert "/registry/pods/" not in wrong
