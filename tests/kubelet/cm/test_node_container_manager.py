"""What pods may have of a node."""

from __future__ import annotations

from lifecycle.kubelet.cm.node_container_manager import node_allocatable
from lifecycle.kubelet.eviction.thresholds import KIND_EVICTION_HARD, hard_eviction_reservation, parse_thresholds

CAPACITY = {"cpu": "2", "ephemeral-storage": "1000Ki", "memory": "1Gi", "pods": "110"}


def test_what_is_kept_free_by_evicting_is_not_given_away() -> None:
    kept = parse_thresholds({"memory.available": "100Mi", "nodefs.available": "10%", "imagefs.available": "50%"})
    assert node_allocatable(CAPACITY, eviction_hard=hard_eviction_reservation(kept, CAPACITY)) == {
        "cpu": "2",
        "ephemeral-storage": "900Ki",
        "memory": "924Mi",
        "pods": "110",
    }


def test_kinds_thresholds_of_no_percent_keep_nothing() -> None:
    assert hard_eviction_reservation(parse_thresholds(KIND_EVICTION_HARD), CAPACITY) == {}
    assert node_allocatable(CAPACITY) == CAPACITY


def test_huge_pages_are_no_memory_for_others_and_nothing_gets_less_than_none() -> None:
    pages = {"memory": "1Gi", "hugepages-2Mi": "512Mi", "hugepages-1Gi": "0"}
    assert node_allocatable(pages)["memory"] == "512Mi"
    assert node_allocatable({"memory": "1Mi", "hugepages-2Mi": "512Mi"})["memory"] == "0"


def test_allocatable_is_capacity_less_what_is_reserved() -> None:
    left = node_allocatable(
        {"cpu": "4", "memory": "8Gi", "pods": "110"},
        kube_reserved={"cpu": "500m"},
        system_reserved={"cpu": "500m", "memory": "1Gi"},
        eviction_hard={"memory": "100Mi"},
    )
    assert left == {"cpu": "3", "memory": "7068Mi", "pods": "110"}
