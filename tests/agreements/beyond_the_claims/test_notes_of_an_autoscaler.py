"""What an autoscaler's older form keeps in notes: what that form has no fields for, and nothing that was written there before."""

from __future__ import annotations

import json
from typing import Any

import pytest

from lifecycle.apiserver.apis.autoscaler_versions import to_v1

NOTES = "autoscaling.alpha.kubernetes.io/"
STALE = {f"{NOTES}{name}": "stale" for name in ("metrics", "current-metrics", "conditions", "behavior")}


def cpu(utilization: int, kind: str = "target") -> dict[str, Any]:
    return {
        "type": "Resource",
        "resource": {"name": "cpu", kind: {"type": "Utilization", "averageUtilization": utilization}},
    }


def memory() -> dict[str, Any]:
    return {
        "type": "Resource",
        "resource": {"name": "memory", "target": {"type": "AverageValue", "averageValue": "1Gi"}},
    }


def shown(annotations: dict[str, str] | None, **more: Any) -> dict[str, Any]:
    meta = {"name": "a", **({} if annotations is None else {"annotations": annotations})}
    spec = {"scaleTargetRef": {"kind": "Deployment", "name": "web"}, "maxReplicas": 3, **more.pop("spec", {})}
    return to_v1(
        {"apiVersion": "autoscaling/v2", "kind": "HorizontalPodAutoscaler", "metadata": meta, "spec": spec, **more}
    )


@pytest.mark.parametrize("annotations", [None, {}, {"own": "note"}, STALE, {**STALE, "own": "note"}])
def test_what_was_written_for_a_round_trip_before_is_dropped_and_all_else_stays(
    annotations: dict[str, str] | None,
) -> None:
    """Upstream: `DropRoundTripHorizontalPodAutoscalerAnnotations`."""
    made = shown(annotations, spec={"metrics": [cpu(50)]})
    own = {key: value for key, value in (annotations or {}).items() if key == "own"}
    assert (made["metadata"].get("annotations") or {}) == own
    assert made["spec"]["targetCPUUtilizationPercentage"] == 50


@pytest.mark.parametrize(
    ("metrics", "utilization", "kept"),
    [
        ([], None, 0),
        ([cpu(50)], 50, 0),
        ([memory()], None, 1),
        ([memory(), cpu(50)], 50, 1),
        ([memory(), memory()], None, 2),
    ],
)
def test_of_the_metrics_the_cpu_has_a_field_and_the_others_are_noted(
    metrics: list[dict[str, Any]], utilization: int | None, kept: int
) -> None:
    made = shown(STALE, spec={"metrics": metrics})
    notes = made["metadata"].get("annotations") or {}
    assert made["spec"].get("targetCPUUtilizationPercentage") == utilization
    assert len(json.loads(notes.get(f"{NOTES}metrics", "[]"))) == kept
    assert set(notes) == ({f"{NOTES}metrics"} if kept else set())


def test_how_it_is_doing_is_noted_as_well() -> None:
    status = {
        "currentReplicas": 2,
        "desiredReplicas": 3,
        "currentMetrics": [cpu(40, "current")],
        "conditions": [{"type": "AbleToScale", "status": "True"}],
    }
    made = shown(None, status=status)
    assert made["status"]["currentCPUUtilizationPercentage"] == 40
    assert {key: made["status"][key] for key in ("currentReplicas", "desiredReplicas")} == {
        "currentReplicas": 2,
        "desiredReplicas": 3,
    }
    notes = made["metadata"]["annotations"]
    assert set(notes) == {f"{NOTES}current-metrics", f"{NOTES}conditions"}
    assert [each["type"] for each in json.loads(notes[f"{NOTES}conditions"])] == ["AbleToScale"]
