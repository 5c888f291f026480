"""Which paths an added server answers, and which stay here."""

from __future__ import annotations

import pytest

from lifecycle.agreements.claim_checks.aggregation import API_SERVICE, SERVICE, through

ROOT = "/apis/added.example/v1"
OWN = {**API_SERVICE, "metadata": {"name": "v1.apps"}, "spec": {"group": "apps", "version": "v1"}}


@pytest.mark.parametrize(
    ("path", "goes"),
    [
        (ROOT, True),
        (f"{ROOT}/things", True),
        (f"{ROOT}/namespaces/n/things/t", True),
        (f"{ROOT}/namespaces/n/things/t/status", True),
        (f"{ROOT}/namespaces/n/things/t/proxy/further/down", True),
        ("/apis/added.example/v2/things", False),  # another version may be somebody else's
        ("/apis/added.example.com/v1/things", False),
        ("/apis/apps/v1/deployments", False),
        ("/apis/apps/v1", False),
        ("/api/v1/namespaces/n/pods", False),
        ("/api/v1/namespaces/n/pods/p/status", False),
        ("/healthz", False),
        ("/version", False),
        ("/logs/apis/added.example/v1", False),
    ],
)
def test_an_added_server_has_its_group_and_version_and_nothing_else(path: str, goes: bool) -> None:
    _, behind, entered, local = through(("boss", path), objects=(SERVICE, API_SERVICE, OWN))
    assert entered[0] == "aggregator"
    assert behind.asked == ([("boss", path)] if goes else [])
    assert local == ([] if goes else [path])


def test_without_an_added_server_all_stays_here() -> None:
    paths = [ROOT, f"{ROOT}/things", "/apis/apps/v1/deployments", "/healthz"]
    _, behind, _, local = through(*(("boss", path) for path in paths), objects=(OWN,))
    assert (behind.asked, local) == ([], paths)
