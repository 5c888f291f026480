"""What a recorder did without writing it down is worked out from what came of it."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

from lifecycle.inspector import open_recording
from lifecycle.inspector.exchange import Exchange
from lifecycle.inspector.unrecorded import (
    scenario_before,
    unrecorded_clean_up,
    unrecorded_deletions,
    unrecorded_namespaces,
)

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


def get(n: int, path: str, response: Any) -> Exchange:
    return replace(exchange(n, path, 200, response), method="GET")


def row(uid: str, *, going: bool) -> dict[str, Any]:
    return {"object": {"metadata": {"uid": uid, **({"deletionTimestamp": "t"} if going else {})}}}


def played(**scenarios: list[Exchange]) -> Any:
    """A recording with these scenarios."""
    return SimpleNamespace(scenarios=lambda: list(scenarios), exchanges=scenarios.__getitem__)


def test_the_scenario_before_is_the_one_that_made_what_is_still_going() -> None:
    made = [exchange(0, "/api/v1/namespaces", 201, {"metadata": {"name": "x", "uid": "1"}})]
    table = [
        get(1, "/b", "text"),
        get(2, "/c", {}),
        get(3, "/d", {"rows": None}),
        get(4, "/a", {"rows": [row("1", going=True)]}),
    ]
    assert scenario_before(played(none=[], one=made, other=table), "other") == "one"
    assert scenario_before(played(one=made, other=[get(0, "/a", {"rows": [row("1", going=False)]})]), "other") == ""
    assert scenario_before(played(one=made, other=[get(0, "/a", {"rows": [row("2", going=True)]})]), "other") == ""
    assert scenario_before(played(other=[*made, *table]), "other") == "", "its own"
    sent = replace(table[-1], method="POST", status=200)
    assert scenario_before(played(one=made, other=[sent]), "other") == ""


def test_only_configurations_that_were_really_made_can_be_deleted() -> None:
    through = exchange(4, PODS, 201, {"kind": "Pod"})
    assert unrecorded_deletions([replace(HOOK, status=409), STOPPED, through]) == {}
    assert unrecorded_deletions([replace(HOOK, method="PUT"), STOPPED, through]) == {}
    assert unrecorded_deletions([replace(HOOK, path=f"{HOOKS}/x"), STOPPED, through]) == {}
    assert unrecorded_deletions([HOOK, replace(STOPPED, response="text"), through]) == {}
    assert unrecorded_deletions([HOOK, replace(STOPPED, response={}), through]) == {}
    assert unrecorded_deletions([HOOK, replace(STOPPED, status=501), through]) == {}
    assert unrecorded_deletions([HOOK, STOPPED, replace(through, status=200), replace(through, method="PUT")]) == {}
    other = HOOKS.replace("validating", "mutating")
    hook = exchange(
        1, f"{other}?dryRun=x", 201, {"metadata": {"name": "g"}, "webhooks": [{"name": "a"}, {"name": "pods.guard"}]}
    )
    assert unrecorded_deletions([hook, STOPPED, through]) == {4: f"{other}/g"}


def test_the_clean_up_takes_away_the_last_first_and_nothing_twice() -> None:
    where = "/api/v1/namespaces"
    some = [exchange(n, where, 201, {"metadata": {"name": f"n{n}", "uid": str(n)}}) for n in range(3)]
    assert unrecorded_clean_up(iter(some)) == [f"{where}/n2", f"{where}/n1", f"{where}/n0"]
    assert unrecorded_clean_up([replace(each, status=200) for each in some]) == []
    assert unrecorded_clean_up([replace(each, method="PUT") for each in some]) == []
    assert unrecorded_clean_up([exchange(0, where, 201, {"metadata": None}), exchange(1, where, 201, {})]) == []
    hook = replace(HOOK, response=HOOK.response | {"metadata": {"name": "guard", "uid": "h"}})
    assert unrecorded_clean_up([hook]) == [f"{HOOKS}/guard"]
    through = exchange(4, PODS, 201, {"kind": "Pod"})
    assert unrecorded_clean_up([hook, STOPPED, through]) == [], "that one is known to be gone"


def test_namespaces_that_were_written_to_and_never_created_were_prepared() -> None:
    def write(where: str, status: int = 201, method: str = "POST") -> Exchange:
        return replace(exchange(0, where, status, {}), method=method)

    def namespace(name: str) -> Exchange:
        meta = {"name": name} if name else {}
        return replace(exchange(0, "/api/v1/namespaces?x=1", 201, {}), body={"metadata": meta})

    some = [
        write("/api/v1/namespaces/b/pods"),
        write("/apis/apps/v1/namespaces/a/deployments?x=1", 299, "PATCH"),
        write("/api/v1/namespaces/b/secrets"),
        write("/api/v1/namespaces/refused/pods", 300),
        write("/api/v1/namespaces/read/pods", 200, "GET"),
        write("/api/v1/namespaces/itself", 200, "DELETE"),
        write("/api/v1/nodes/x"),
        namespace(""),
        namespace("created"),
        write("/api/v1/namespaces/created/pods"),
        *(
            write(f"/api/v1/namespaces/{name}/pods")
            for name in ("default", "kube-node-lease", "kube-public", "kube-system", "local-path-storage")
        ),
    ]
    assert unrecorded_namespaces(some) == ["b", "a"]
