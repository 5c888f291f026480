"""Webhook configurations, certificate signing requests and autoscalers in the versions that are gone."""

from __future__ import annotations

import pytest

from lifecycle.api.http.wire import Object
from tests.apiserver.emulation.signing_request import signing_request
from tests.apiserver.emulation.test_emulator import INGRESS, OLD, ask, old
from tests.apiserver.https_site import Site

HOOKS = "/apis/admissionregistration.k8s.io/v1beta1"
REQUESTS = "/apis/certificates.k8s.io/v1beta1/certificatesigningrequests"
_JSON_PATCH = "application/json-patch+json"


def hooks(kind: str) -> Object:
    rule = {"operations": ["CREATE"], "apiGroups": [""], "apiVersions": ["v1"], "resources": ["configmaps"]}
    hook = {"name": "a.example.org", "clientConfig": {"url": "https://127.0.0.1:1"}, "rules": [rule]}
    return {
        "apiVersion": "admissionregistration.k8s.io/v1beta1",
        "kind": f"{kind}WebhookConfiguration",
        "metadata": {"name": "hooks"},
        "webhooks": [hook],
    }


@pytest.mark.parametrize("kind", ["Mutating", "Validating"])
def test_an_old_webhook_fails_open_and_reads_old_reviews(kind: str) -> None:
    async def body(site: Site) -> None:
        path = f"{HOOKS}/{kind.lower()}webhookconfigurations"
        status, made = await ask(site, "POST", path, hooks(kind))
        assert (status, made["apiVersion"]) == (201, "admissionregistration.k8s.io/v1beta1"), made
        (hook,) = made["webhooks"]
        assert {key: hook[key] for key in hook if key not in ("name", "clientConfig", "rules")} == {
            "failurePolicy": "Ignore",
            "matchPolicy": "Exact",
            "namespaceSelector": {},
            "objectSelector": {},
            "sideEffects": "Unknown",
            "timeoutSeconds": 30,
            "admissionReviewVersions": ["v1beta1"],
            **({"reinvocationPolicy": "Never"} if kind == "Mutating" else {}),
        }
        # one more, by a patch, has the same defaults, whatever its name
        added = [{"op": "add", "path": "/webhooks/-", "value": hooks(kind)["webhooks"][0]}]
        status, patched = await ask(site, "PATCH", f"{path}/hooks", added, Content_Type=_JSON_PATCH)
        assert (status, patched["webhooks"]) == (200, [hook, hook]), patched
        # today's version takes what is stored, and refuses the same of a new one
        today = path.replace("v1beta1", "v1")
        status, patched = await ask(
            site,
            "PATCH",
            f"{today}/hooks",
            {"metadata": {"labels": {"a": "b"}}},
            Content_Type="application/merge-patch+json",
        )
        assert (status, patched["metadata"]["labels"]) == (200, {"a": "b"}), patched
        new = {**hooks(kind), "apiVersion": "admissionregistration.k8s.io/v1", "metadata": {"name": "new"}}
        new["webhooks"] = [{**new["webhooks"][0], "sideEffects": "Unknown", "admissionReviewVersions": ["v1"]}]
        status, refused = await ask(site, "POST", today, new)
        assert (status, [c["field"] for c in refused["details"]["causes"]]) == (422, ["webhooks[0].sideEffects"])
        # nobody listens there: the failure is not heard, but a dry run is refused
        config_map = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c"}}
        config_maps = "/api/v1/namespaces/default/configmaps"
        status, refused = await ask(site, "POST", f"{config_maps}?dryRun=All", config_map)
        why = 'admission webhook "a.example.org" does not support dry run'
        assert (status, refused["message"]) == (400, why)
        assert (await ask(site, "POST", config_maps, config_map))[0] == 201

    old(body)


@pytest.mark.parametrize(
    ("group", "version", "policy", "called"),
    [
        ("extensions", "v1beta1", "Exact", False),
        ("extensions", "v1beta1", "Equivalent", False),
        ("networking.k8s.io", "v1beta1", "Exact", False),
        ("networking.k8s.io", "v1", "Exact", True),
    ],
)
def test_webhooks_are_asked_about_todays_versions(group: str, version: str, policy: str, called: bool) -> None:
    async def body(site: Site) -> None:
        made = hooks("Validating")
        rule = {"operations": ["*"], "apiGroups": [group], "apiVersions": [version], "resources": ["ingresses"]}
        made["webhooks"][0] |= {"rules": [rule], "failurePolicy": "Fail", "matchPolicy": policy}
        assert (await ask(site, "POST", f"{HOOKS}/validatingwebhookconfigurations", made))[0] == 201
        old_group = INGRESS | {"apiVersion": "extensions/v1beta1"}
        path = OLD.replace("networking.k8s.io", "extensions")
        status, answer = await ask(site, "POST", path, old_group)
        assert status == (500 if called else 201), answer

    old(body)


_BOTH = ["digital signature", "key encipherment"]
_NODE = ("system:node:n", "system:nodes")


@pytest.mark.parametrize(
    ("request_", "signer"),
    [
        (signing_request("jane"), "legacy-unknown"),
        (signing_request(*_NODE), "legacy-unknown"),
        (signing_request(*_NODE, usages=[*_BOTH, "client auth"]), "kube-apiserver-client-kubelet"),
        (signing_request(*_NODE, usages=[*_BOTH, "server auth"], dns="n"), "kubelet-serving"),
        (signing_request(*_NODE, usages=[*_BOTH, "client auth"], dns="n"), "legacy-unknown"),
        (signing_request(*_NODE, "others", usages=[*_BOTH, "client auth"]), "legacy-unknown"),
    ],
)
def test_the_signer_of_an_old_request_is_guessed(request_: Object, signer: str) -> None:
    async def body(site: Site) -> None:
        status, made = await ask(site, "POST", REQUESTS, request_)
        assert (status, made["apiVersion"]) == (201, "certificates.k8s.io/v1beta1"), made
        assert made["spec"]["signerName"] == f"kubernetes.io/{signer}"
        assert made["spec"]["usages"] == request_["spec"].get("usages", _BOTH)

    old(body)


def test_an_old_request_is_approved_without_saying_that_it_is_true() -> None:
    async def body(site: Site) -> None:
        odd = ["signing", "signing", "of my own"]
        status, made = await ask(site, "POST", REQUESTS, signing_request("jane", usages=odd))
        assert (status, made["spec"]["usages"]) == (201, odd), made
        approved = {**made, "status": {"conditions": [{"type": "Approved"}, {"type": "Approved"}, {"type": ""}]}}
        status, answer = await ask(site, "PUT", f"{REQUESTS}/r/approval", approved)
        assert status == 200, answer
        assert [each["status"] for each in answer["status"]["conditions"]] == ["True"] * 3
        denied = {**answer, "status": {"conditions": [*answer["status"]["conditions"], {"type": "Denied"}]}}
        status, refused = await ask(site, "PUT", f"{REQUESTS}/r/approval", denied)
        assert (status, refused["details"]["causes"][0]["field"]) == (422, "status.conditions")
        # a certificate is what the signer says it is, and as often as it likes
        for certificate in ("bm90IHBlbQ==", "bm90IHBlbSBlaXRoZXI="):
            issued = {**answer, "status": {**answer["status"], "certificate": certificate}}
            status, answer = await ask(site, "PUT", f"{REQUESTS}/r/status", issued)
            assert (status, answer["status"]["certificate"]) == (200, certificate)
        today = REQUESTS.replace("v1beta1", "v1")
        status, stored = await ask(site, "GET", f"{today}/r")
        changed = {**stored, "status": {**stored["status"], "certificate": "eA=="}}
        status, refused = await ask(site, "PUT", f"{today}/r/status", changed)
        why = "Forbidden: updates may not modify existing certificate content"
        assert (status, refused["details"]["causes"][0]["message"]) == (422, why)
        # today the old signer is nobody's, but what is stored may be kept
        again = {**made, "apiVersion": "certificates.k8s.io/v1", "metadata": {"name": "again"}}
        status, refused = await ask(site, "POST", today, again)
        assert (status, refused["details"]["causes"][-1]["message"]) == (
            422,
            'Invalid value: "kubernetes.io/legacy-unknown": the legacy signerName is not allowed via this API version',
        )
        patch = {"metadata": {"labels": {"a": "b"}}}
        status, _ = await ask(site, "PATCH", f"{today}/r", patch, Content_Type="application/merge-patch+json")
        assert status == 200

    old(body)


def test_an_autoscaler_of_two_betas_ago_has_flat_metrics() -> None:
    async def body(site: Site) -> None:
        path = "/apis/autoscaling/v2beta1/namespaces/default/horizontalpodautoscalers"
        metric = {"type": "Resource", "resource": {"name": "memory", "targetAverageValue": "1Gi"}}
        autoscaler = {
            "apiVersion": "autoscaling/v2beta1",
            "kind": "HorizontalPodAutoscaler",
            "metadata": {"name": "web"},
            "spec": {
                "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"},
                "maxReplicas": 3,
                "metrics": [metric],
            },
        }
        status, made = await ask(site, "POST", path, autoscaler)
        assert (status, made["apiVersion"], made["spec"]["metrics"]) == (201, "autoscaling/v2beta1", [metric]), made
        newer = path.replace("v2beta1", "v2beta2")
        behavior = {"spec": {"behavior": {"scaleUp": {"stabilizationWindowSeconds": 7}}}}
        status, _ = await ask(site, "PATCH", f"{newer}/web", behavior, Content_Type="application/merge-patch+json")
        assert status == 200
        status, read = await ask(site, "GET", f"{path}/web")
        assert "behavior" not in read["spec"]
        assert "autoscaling.alpha.kubernetes.io/behavior" in read["metadata"]["annotations"]
        read["spec"]["maxReplicas"] = 4
        assert (await ask(site, "PUT", f"{path}/web", read))[0] == 200
        _, stored = await ask(site, "GET", f"{newer}/web")
        assert (stored["spec"]["maxReplicas"], stored["spec"]["behavior"]["scaleUp"]["stabilizationWindowSeconds"]) == (
            4,
            7,
        )
        assert "annotations" not in stored["metadata"]

    old(body)
