"""The claims about validation and generators: put to the recordings, and the rest of them to our own kubectl."""

from __future__ import annotations

import shlex

import pytest

from lifecycle.agreements.claim_checks import kubectl as checks
from lifecycle.agreements.claim_checks import kubectl_requests as _requests  # noqa: F401 (binds its checks)
from lifecycle.compare import claims
from lifecycle.inspector import Recording
from tests.conftest import RECORDINGS, ROOT
from tests.kubectl.fake_server import kubectl

STAGES = ("client-validation", "generators")
EVIDENCE = {"v1.36": Recording(RECORDINGS / "kind-1.36.2"), "v1.20": Recording(RECORDINGS / "bare-1.20.2")}
BY_OUR_KUBECTL_ONLY = {
    "client-validation-uses-cached-api-model",
    "client-validation-apply-equivalent-to-create",
    "generators-kind-inferred-from-args-or-manifest",
    "generators-record-command",
    "generators-dry-run-skips-send",
    "generators-maps-object-to-group-version",
    "generators-generators-build-request-body",
}


def test_no_recorded_kubectl_contradicts_the_ledger():
    ledger = [claim for claim in claims.load_claims(ROOT / "book" / "claims.yaml") if claim.stage in STAGES]
    assert checks.printed(EVIDENCE["v1.20"], "run-pod").code == 0
    bound = claims.checks()
    expected = {"holds": True, "changed": False, "removed": False, "wrong-from-the-start": False}
    said = {(claim.id, v): bound[claim.id](e) for claim in ledger if claim.id in bound for v, e in EVIDENCE.items()}
    wrong = [key for key, seen in said.items() for claim in ledger if claim.id == key[0]
             if expected.get(claim.verdicts[key[1]], seen) is not seen]  # fmt: skip
    assert wrong == []
    assert {claim.id for claim in ledger} - set(bound) == BY_OUR_KUBECTL_ONLY


def test_what_no_recording_shows_is_put_to_our_own_kubectl():
    bound = claims.rebuilt_checks()
    assert set(bound) >= BY_OUR_KUBECTL_ONLY
    ledger = {claim.id: claim for claim in claims.load_claims(ROOT / "book" / "claims.yaml")}
    for claim_id in BY_OUR_KUBECTL_ONLY:
        verdict, said = ledger[claim_id].verdicts["v1.36"], bound[claim_id]()
        assert not claims.Cell(verdict, said).contradicted, claim_id


def sent(line: str, **more):
    code, out, err, server = kubectl(line, **more)
    assert code == 0, err
    return server, out, err


def test_validation_is_the_servers_business():
    server, _, _ = sent("create deployment nginx --image=nginx")
    assert server.discovered == []
    assert server.requests[0].query["fieldValidation"] == ["Strict"]


def test_apply_reads_before_it_writes_and_leaves_a_note(tmp_path):
    manifest = tmp_path / "nginx.yaml"
    manifest.write_text(sent("create deployment nginx --image=nginx --dry-run=client -o yaml")[1])
    server, _, _ = sent(f"apply -f {shlex.quote(str(manifest))}")
    assert [request.method for request in server.requests] == ["GET", "POST"]
    assert "kubectl.kubernetes.io/last-applied-configuration" in server.requests[1].obj["metadata"]["annotations"]
    direct, _, _ = sent("create deployment nginx --image=nginx")
    assert [request.method for request in direct.requests] == ["POST"]


def test_a_manifest_must_say_what_it_is(tmp_path):
    manifest = tmp_path / "nothing.yaml"
    manifest.write_text("apiVersion: apps/v1\nmetadata: {name: nginx}\n")
    code, _, err, server = kubectl(f"apply -f {shlex.quote(str(manifest))}")
    assert (code, server.requests) == (1, [])
    assert "kind not set" in err


def test_record_keeps_the_command_on_the_object():
    server, _, err = sent("run n --image=nginx --record")
    assert server.requests[0].obj["metadata"]["annotations"] == {
        "kubernetes.io/change-cause": "kubectl run n --image=nginx --record=true"
    }
    assert err.startswith("Flag --record has been deprecated")
    assert kubectl("create deployment n --image=nginx --record")[0] == 1


@pytest.mark.parametrize(("strategy", "posts"), [("client", []), ("server", [["All"]]), ("none", [None])])
def test_only_a_client_side_dry_run_sends_nothing(strategy, posts):
    server, _, _ = sent(f"run n --image=nginx --dry-run={strategy}")
    assert [request.query.get("dryRun") for request in server.requests] == posts


def test_run_asks_discovery_and_create_deployment_does_not():
    assert sent("run n --image=nginx")[0].discovered == ["/api", "/apis"]
    assert sent("create deployment n --image=nginx")[0].discovered == []


def test_what_was_generated_and_what_was_sent_are_encoded_separately():
    generated = sent("run n --image=nginx")[0].requests[0]
    compiled_in = sent("create deployment n --image=nginx")[0].requests[0]
    assert generated.headers["content-type"] == "application/json"
    assert compiled_in.headers["content-type"] == "application/vnd.kubernetes.protobuf"
    assert compiled_in.body.startswith(b"k8s\0")
