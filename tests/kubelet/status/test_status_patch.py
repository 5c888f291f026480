"""Every status patch that the real kubelets sent during the journey, computed again from the status before and after."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from lifecycle.kubelet.status.status_patch import status_patch
from tests.conftest import RECORDINGS


def recorded_patches() -> Iterator[tuple[dict[str, Any], dict[str, Any], dict[str, Any]]]:
    """Status before (as the kubelet read it), the patch, status after."""
    read: dict[str, dict[str, Any]] = {}
    with (RECORDINGS / "kind-1.36.2" / "audit" / "journey.jsonl").open() as lines:
        for line in lines:
            entry = json.loads(line)
            if entry["stage"] != "ResponseComplete" or not entry.get("userAgent", "").startswith("kubelet/"):
                continue
            ref = entry.get("objectRef") or {}
            if ref.get("resource") != "pods" or entry["responseStatus"]["code"] != 200:
                continue
            pod = entry["responseObject"]
            if entry["verb"] == "get":
                read[ref["name"]] = pod["status"]
            elif entry["verb"] == "patch":
                yield read[ref["name"]], entry["requestObject"], pod["status"]


def test_patches_are_the_recorded_ones() -> None:
    patches = list(recorded_patches())
    assert len(patches) > 50
    for before, patch, after in patches:
        assert status_patch(patch["metadata"]["uid"], before, after) == patch


def test_nothing_changed_is_no_patch() -> None:
    _, _, after = next(recorded_patches())
    assert status_patch("u", after, after) == {}


def test_conditions_that_disappear_are_deleted_by_key() -> None:
    old = {"conditions": [{"type": "A", "status": "True"}, {"type": "B", "status": "True"}]}
    new = {"conditions": [{"type": "A", "status": "True"}]}
    assert status_patch("u", old, new)["status"] == {
        "$setElementOrder/conditions": [{"type": "A"}],
        "conditions": [{"$patch": "delete", "type": "B"}],
    }
