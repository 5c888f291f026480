"""How little is too little: what is usual, what can be said, and how it is told."""

from __future__ import annotations

import pytest

from lifecycle.kubelet.eviction.thresholds import (
    RESOURCES,
    Threshold,
    binary,
    node_condition,
    parse_threshold,
    parse_thresholds,
)


def test_what_holds_if_nobody_says_anything() -> None:
    usual = {threshold.signal: threshold for threshold in parse_thresholds()}
    assert {signal: round(threshold.share, 6) for signal, threshold in usual.items()} == {
        "memory.available": 0.0,
        "nodefs.available": 0.1,
        "nodefs.inodesFree": 0.05,
        "imagefs.available": 0.15,
        "imagefs.inodesFree": 0.05,
    }
    assert str(usual["memory.available"].quantity) == "100Mi"
    assert all(threshold.quantity is None for signal, threshold in usual.items() if signal != "memory.available")


@pytest.mark.parametrize(
    ("signal", "resource", "condition"),
    [
        ("memory.available", "memory", "MemoryPressure"),
        ("nodefs.available", "ephemeral-storage", "DiskPressure"),
        ("nodefs.inodesFree", "inodes", "DiskPressure"),
        ("imagefs.available", "ephemeral-storage", "DiskPressure"),
        ("imagefs.inodesFree", "inodes", "DiskPressure"),
    ],
)
def test_each_signal_is_of_a_resource_and_shows_as_a_condition(signal: str, resource: str, condition: str) -> None:
    assert RESOURCES[signal] == resource
    assert node_condition(signal) == condition


@pytest.mark.parametrize(
    ("text", "amount", "told"),
    [
        ("1Gi", 1 << 30, "1Gi"),
        ("500M", 500_000_000, "500M"),
        ("25%", 250, "250"),
        ("12.5%", 125, "125"),
        ("10%", 100, "100"),
        ("0", 0, "0"),
    ],
)
def test_a_threshold_is_an_amount_or_a_share(text: str, amount: int, told: str) -> None:
    threshold = parse_threshold("nodefs.available", text)
    assert threshold.amount(1000) == amount
    assert threshold.format_quantity(1000) == told


def test_bytes_are_written_in_powers_of_two_from_1024_on() -> None:
    assert (binary(1 << 20), binary(1000), binary(1 << 30 | 1 << 20)) == ("1Mi", "1k", "1025Mi")


def test_none_and_all_mean_that_there_is_no_threshold() -> None:
    settings = {
        "memory.available": "0%",
        "nodefs.available": "100%",
        "imagefs.available": "99%",
        "nodefs.inodesFree": "0",
    }
    assert [threshold.signal for threshold in parse_thresholds(settings)] == ["imagefs.available", "nodefs.inodesFree"]


@pytest.mark.parametrize(
    ("signal", "text", "why"),
    [
        ("pid.none", "5%", "unsupported eviction signal pid.none"),
        (
            "memory.available",
            "100.5%",
            "eviction percentage threshold memory.available must be between 0% and 100%: 100.5%",
        ),
        ("memory.available", "-1Mi", "eviction threshold memory.available must be positive: -1Mi"),
    ],
)
def test_what_is_no_threshold_is_named(signal: str, text: str, why: str) -> None:
    with pytest.raises(ValueError, match="evict") as refused:
        parse_threshold(signal, text)
    assert str(refused.value) == why


def test_a_share_of_all_can_be_said() -> None:
    assert parse_threshold("memory.available", "100%") == Threshold("memory.available", share=1.0)
