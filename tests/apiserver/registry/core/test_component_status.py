"""ComponentStatuses: read without a store."""

from __future__ import annotations

import pytest

from lifecycle.api.status import StatusError
from lifecycle.apiserver.registry.core.component_status import NAMES, STRATEGY


def test_without_a_name_there_is_the_list_of_all() -> None:
    assert STRATEGY.read is not None
    listed = STRATEGY.read("")
    assert listed["kind"] == "ComponentStatusList"
    assert [item["metadata"]["name"] for item in listed["items"]] == list(NAMES)


def test_one_component_says_what_it_is_and_an_unknown_one_is_not_found() -> None:
    assert STRATEGY.read is not None
    one = STRATEGY.read("etcd-0")
    assert (one["kind"], one["apiVersion"], one["metadata"]["name"]) == ("ComponentStatus", "v1", "etcd-0")
    with pytest.raises(StatusError) as refused:
        STRATEGY.read("etcd-1")
    assert (refused.value.code, refused.value.message) == (404, 'componentstatus "etcd-1" not found')
    assert refused.value.status["details"] == {"name": "etcd-1", "kind": "componentstatus"}


def test_every_answer_says_that_the_kind_will_go() -> None:
    assert STRATEGY.deprecation == "v1 ComponentStatus is deprecated in v1.19+"


def test_a_component_without_a_condition_is_unknown() -> None:
    component = {"metadata": {"name": "x"}}
    assert STRATEGY.printer.row(component, 0.0) == ["x", "Unknown", "", ""]
    component["conditions"] = [{"type": "Healthy", "status": "False", "error": "gone"}]
    assert STRATEGY.printer.row(component, 0.0) == ["x", "Unhealthy", "", "gone"]
