"""What a recorder did without writing it down is worked out from what came of it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from lifecycle.inspector import open_recording
from lifecycle.inspector.exchange import Exchange
from lifecycle.inspector.unrecorded import scenario_before, unrecorded_clean_up, unrecorded_deletions

HOOKS = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations"
PODS = "/api/v1/namespaces/a/pods"


def exchange(n: int, path: str, status: int, response: dict[str, Any]) -> Exchange:
    return Exchange("any", n, n, 1.0, "admin", "", "POST", path, "", "", {}, {}, status, {}, response)


HOOK = exchange(1, HOOKS, 201, {"metadata": {"name": "guard"}, "webhooks": [{"name": "pods.guard"}]})
STOPPED = exchange(2, f"{PODS}?dryRun=All", 500, {"message": 'failed calling webhook "pods.guard": refused'})


def test_a_request_that_goes_through_after_its_webhook_failed_tells_of_a_deletion():
    through = exchange(4, PODS, 201, {"kind": "Pod"})
    elsewhere = exchange(3, "/api/v1/namespaces/b/pods", 201, {"kind": "Pod"})
    assert unrecorded_deletions([HOOK, STOPPED, elsewhere, through]) == {4: f"{HOOKS}/guard"}


def test_it_is_told_once():
    through = [exchange(n, PODS, 201, {"kind": "Pod"}) for n in (3, 4)]
    assert list(unrecorded_deletions([HOOK, STOPPED, *through])) == [3]


def test_other_failures_and_unknown_webhooks_tell_nothing():
    other = exchange(2, PODS, 500, {"message": "etcdserver: request timed out"})
    through = exchange(3, PODS, 201, {"kind": "Pod"})
    assert unrecorded_deletions([HOOK, other, through]) == {}
    assert unrecorded_deletions([STOPPED, through]) == {}


def test_the_recorded_clusters_have_one_each():
    for name in ("kind-1.36.2", "kind-1.36.2-again"):
        deletions = unrecorded_deletions(open_recording(name).exchanges("admission"))
        assert list(deletions.values()) == [
            "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations/rec-hook"
        ]


def test_storage_was_played_while_what_admission_had_made_was_still_going() -> None:
    for name in ("kind-1.36.2", "kind-1.36.2-again"):
        recording = open_recording(name)
        assert scenario_before(recording, "storage") == "admission"
        assert [each for each in recording.scenarios() if each != "storage" and scenario_before(recording, each)] == []
        cleaned = unrecorded_clean_up(recording.exchanges("admission"))
        assert {path.rpartition("/")[2] for path in cleaned if path.startswith("/api/v1/namespaces/")} == {
            "rec-baseline", "rec-limits", "rec-quota", "rec-restricted",
        }  # fmt: skip


def test_what_was_only_tried_or_deleted_on_the_way_needs_no_clean_up() -> None:
    made, where = {"metadata": {"name": "a", "uid": "1"}}, "/api/v1/namespaces"
    exchanges = [
        exchange(0, where, 201, made),
        exchange(1, f"{where}?dryRun=All", 201, {"metadata": {"name": "b", "uid": "2"}}),
        exchange(2, f"{where}/a/configmaps", 201, {"metadata": {"name": "c", "uid": "3"}}),
    ]
    assert unrecorded_clean_up(exchanges) == [f"{where}/a"]
    deleted = replace(exchange(3, f"{where}/a", 200, made), method="DELETE")
    assert unrecorded_clean_up([*exchanges, deleted]) == []
