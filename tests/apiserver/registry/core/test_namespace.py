"""Namespaces: a name that becomes a label, finalizers of their own, a deletion that waits."""

from __future__ import annotations

from typing import Any

import pytest

from lifecycle.api.schema import decode
from lifecycle.api.status import StatusError
from lifecycle.apiserver.registry.core.namespace import STRATEGY
from lifecycle.apiserver.registry.rest.create import before_create, canonicalize
from lifecycle.apiserver.registry.rest.update import before_update, validate_update


def namespace(name: str = "n") -> dict[str, Any]:
    obj, _ = decode({"metadata": {"name": name, "resourceVersion": "7", "uid": "u"}}, "v1", "Namespace")
    STRATEGY.set_defaults(obj)
    before_create(STRATEGY, obj)
    return obj


def test_a_new_namespace_is_active_and_held_by_its_own_finalizer() -> None:
    obj = namespace()
    assert (obj["status"], obj["spec"]) == ({"phase": "Active"}, {"finalizers": ["kubernetes"]})
    assert STRATEGY.is_held(obj)


def test_a_generated_name_becomes_the_label_too() -> None:
    obj = namespace("")
    assert "labels" not in obj["metadata"]
    obj["metadata"]["name"] = "n-x7k2p"
    canonicalize(STRATEGY, obj)
    assert obj["metadata"]["labels"] == {"kubernetes.io/metadata.name": "n-x7k2p"}


def test_only_finalize_takes_the_finalizer_off() -> None:
    old = namespace()
    new = {**old, "metadata": dict(old["metadata"]), "spec": {}, "status": {"phase": "Terminating"}}
    before_update(STRATEGY, new, old)
    assert (new["spec"], new["status"]) == (old["spec"], old["status"])
    finalized = {**new, "spec": {}, "status": {"phase": "Terminating"}}
    before_update(STRATEGY, finalized, old, "finalize")
    assert (finalized["spec"], finalized["status"]) == ({}, {"phase": "Active"})
    assert STRATEGY.is_held(finalized)
    assert not STRATEGY.is_held({**finalized, "metadata": {**finalized["metadata"], "deletionTimestamp": "now"}})


@pytest.mark.parametrize(
    ("deleted", "phase", "why"),
    [
        (False, "Terminating", "may only be 'Active' if `deletionTimestamp` is empty"),
        (True, "Active", "may only be 'Terminating' if `deletionTimestamp` is not empty"),
    ],
)
def test_the_phase_follows_the_deletion(deleted: bool, phase: str, why: str) -> None:
    old = namespace()
    if deleted:
        old["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z"
    new = {**old, "status": {"phase": phase}}
    assert [error.detail for error in validate_update(STRATEGY, new, old, "status")] == [why]


def test_a_marked_namespace_is_terminating_and_the_stored_one_is_not_touched() -> None:
    stored = namespace()
    marked = dict(stored)
    STRATEGY.mark_deleted(marked)
    assert (marked["status"]["phase"], stored["status"]["phase"]) == ("Terminating", "Active")


@pytest.mark.parametrize(
    ("uid", "version", "what"),
    [
        ("other", "", "Precondition failed: UID in precondition: other, UID in object meta: u"),
        ("", "6", "Precondition failed: ResourceVersion in precondition: 6, ResourceVersion in object meta: 7"),
    ],
)
def test_preconditions_have_the_words_of_the_namespaces_own_registry(uid: str, version: str, what: str) -> None:
    with pytest.raises(StatusError) as refused:
        STRATEGY.check_deletion(namespace(), uid, version)
    assert refused.value.code == 409
    assert refused.value.message == f'Operation cannot be fulfilled on namespaces "n": {what}'


def test_preconditions_that_hold_are_silent() -> None:
    STRATEGY.check_deletion(namespace(), "", "")
    STRATEGY.check_deletion(namespace(), "u", "7")
