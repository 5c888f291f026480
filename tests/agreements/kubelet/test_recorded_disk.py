"""What a path on a kubelet's disk may differ in: a moment, a random file, a random suffix; each in the form that it has."""

from __future__ import annotations

from collections import Counter

import pytest

from lifecycle.agreements.kubelet.recorded_disk import RANDOM, TIMED, TOKEN, masked_path

VOLUMES = "pods/p/volumes/kubernetes.io~projected"


@pytest.mark.parametrize(
    ("path", "masked", "freedom"),
    [
        (f"{VOLUMES}/kube-api-access-x7k2w", f"{VOLUMES}/kube-api-access-*", TOKEN),
        (f"{VOLUMES}/kube-api-access-x7k2w/token", f"{VOLUMES}/kube-api-access-*/token", TOKEN),
        (f"{VOLUMES}/v/..2026_01_02_03_04_05.123", f"{VOLUMES}/v/..TIME", TIMED),
        ("pods/p/containers/c/0a1b2c3d", "pods/p/containers/c/LAST-WORDS", RANDOM),
    ],
)
def test_what_was_made_up_is_not_compared(path: str, masked: str, freedom: str) -> None:
    freedoms: Counter[str] = Counter()
    assert masked_path(path, freedoms) == masked
    assert +freedoms == {freedom: 1}


@pytest.mark.parametrize(
    "path",
    [
        f"{VOLUMES}/kube-api-access-aeiou",  # letters that are not drawn
        f"{VOLUMES}/kube-api-access-x7k2",
        f"{VOLUMES}/kube-api-access-x7k2wz",
        f"{VOLUMES}/v/..2026_01_02_03_04.123",
        f"{VOLUMES}/v/..2026_01_02_03_04_05",
        f"{VOLUMES}/v/..2026_13_02_03_04_05.123",
        f"{VOLUMES}/v/..2026_01_02_25_04_05.123",
        "pods/p/containers/c/0a1b2c3",
        "pods/p/containers/c/0a1b2c3d/more",
        "pods/p/etc-hosts/0a1b2c3d",
    ],
)
def test_what_only_looks_like_it_is(path: str) -> None:
    freedoms: Counter[str] = Counter()
    assert masked_path(path, freedoms) == path
    assert +freedoms == {}
