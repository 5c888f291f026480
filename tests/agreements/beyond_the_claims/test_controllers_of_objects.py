"""Of several owners the one who runs an object, wherever it stands among them."""

from __future__ import annotations

from typing import Any

import pytest

from lifecycle.controllers.owner_references import (
    get_controller_of,
    index_by_controller_uid,
    is_controlled_by,
    new_controller_ref,
)


def owner(uid: str, controller: bool | None) -> dict[str, Any]:
    said = {} if controller is None else {"controller": controller}
    return {"apiVersion": "v1", "kind": "Thing", "name": uid, "uid": uid, **said}


OWNERS: list[tuple[list[dict[str, Any]] | None, str]] = [
    (None, ""),
    ([], ""),
    ([owner("a", True)], "a"),
    ([owner("a", False)], ""),
    ([owner("a", None)], ""),
    ([owner("a", None), owner("b", True)], "b"),
    ([owner("a", False), owner("b", True), owner("c", None)], "b"),
    ([owner("a", True), owner("b", None)], "a"),
]


@pytest.mark.parametrize(("owners", "runs"), OWNERS)
def test_who_runs_it_is_whom_it_is_filed_under_and_else_it_is_an_orphan_of_its_namespace(
    owners: list[dict[str, Any]] | None, runs: str
) -> None:
    """Upstream: `GetControllerOf`, `AddPodControllerIndexer`."""
    meta = {"namespace": "shop", **({} if owners is None else {"ownerReferences": owners})}
    obj = {"metadata": meta}
    found = get_controller_of(obj)
    assert (found or {}).get("uid", "") == runs
    assert index_by_controller_uid(obj) == ((runs,) if runs else ("orphan:shop",))
    for uid in ("a", "b", "c"):
        assert is_controlled_by(obj, {"metadata": {"uid": uid}}) is (uid == runs)


def test_an_orphan_of_the_cluster_has_no_namespace() -> None:
    assert index_by_controller_uid({"metadata": {}}) == ("orphan:",)


def test_a_controllers_reference_says_who_it_is_that_it_runs_it_and_that_it_waits_for_it() -> None:
    """Upstream: `NewControllerRef`."""
    made = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "metadata": {"name": "web", "uid": "u", "namespace": "shop"}}
    assert new_controller_ref(made) == {
        "apiVersion": "apps/v1",
        "kind": "ReplicaSet",
        "name": "web",
        "uid": "u",
        "controller": True,
        "blockOwnerDeletion": True,
    }
