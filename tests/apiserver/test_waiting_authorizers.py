"""Authorizers that ask outside: whoever puts them a question waits for the answer, and for nothing else twice."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from lifecycle.api.http.wire import MASTERS, Object, Request, RequestInfo, Response, UserInfo
from lifecycle.apiserver.admission.webhook_server import WebhookServer
from lifecycle.apiserver.authz.always import AlwaysAllow, AlwaysDeny
from lifecycle.apiserver.authz.authorizer import NO_OPINION, Decision, UserRules, Verdict, at_once, decide
from lifecycle.apiserver.authz.modes import AuthorizationOptions
from lifecycle.apiserver.authz.union import UnionAuthorizer
from lifecycle.apiserver.server.create_server_chain import create_server_chain
from lifecycle.cluster.outside_services import Webhook
from lifecycle.etcd.memory import MemoryStore
from tests.apiserver.admission_server import REGISTRATION
from tests.furnished import restored

ROOT, JANE = UserInfo("root", (MASTERS,)), UserInfo("jane")
RBAC = "rbac.authorization.k8s.io/v1"
QUESTION = RequestInfo(True, "", "get", version="v1", resource="pods")


class Slow:
    """Answers after a turn of the loop."""

    def __init__(self, verdict: Verdict) -> None:
        self.verdict, self.questions = verdict, 0

    async def authorize(self, user: UserInfo, info: RequestInfo) -> Verdict:
        self.questions += 1
        await asyncio.sleep(0)
        return self.verdict

    def rules_for(self, user: UserInfo, namespace: str) -> UserRules:
        return UserRules()


@pytest.mark.parametrize(
    ("verdicts", "decision", "asked"),
    [
        ([NO_OPINION, Verdict(Decision.ALLOW, "b")], Decision.ALLOW, [1, 1]),
        ([Verdict(Decision.DENY, "a"), Verdict(Decision.ALLOW, "b")], Decision.DENY, [1, 0]),
        ([Verdict(Decision.NO_OPINION, "a"), Verdict(Decision.NO_OPINION, "b")], Decision.NO_OPINION, [1, 1]),
    ],
)
def test_a_union_waits_for_one_voice_after_the_other(
    verdicts: list[Verdict], decision: Decision, asked: list[int]
) -> None:
    voices = [Slow(verdict) for verdict in verdicts]
    verdict = asyncio.run(decide(UnionAuthorizer(AlwaysDeny(), *voices).authorize, JANE, QUESTION))
    assert verdict.decision is decision
    assert [voice.questions for voice in voices] == asked
    if decision is Decision.NO_OPINION:
        assert verdict.reason == f"{at_once(AlwaysDeny().authorize(JANE, QUESTION)).reason}\na\nb"


def test_a_union_answers_at_once_as_long_as_nobody_has_to_be_asked() -> None:
    async def main() -> None:
        slow = Slow(NO_OPINION)
        assert at_once(UnionAuthorizer(AlwaysAllow(), slow).authorize(JANE, QUESTION)).allowed
        assert slow.questions == 0
        answer: Any = UnionAuthorizer(slow).authorize(JANE, QUESTION)
        with pytest.raises(TypeError, match=r"this authorizer has to ask somebody else first$"):
            at_once(answer)
        assert not (await answer).allowed

    asyncio.run(main())


Ask = Callable[..., Awaitable[Response]]


def served(
    folder: Path, decision: Callable[[Object], Object], scene: Callable[[Ask, Webhook], Awaitable[None]]
) -> None:
    """A server whose last authorizer is a webhook that remembers nothing."""

    async def main() -> None:
        async with Webhook(decision) as webhook:
            options = AuthorizationOptions(
                modes=("RBAC", "Webhook"),
                webhook_config_file=webhook.write_kubeconfig(folder / "hook"),
                webhook_authorized_ttl=0,
                webhook_unauthorized_ttl=0,
            )
            server = create_server_chain(MemoryStore(), authorization=options)
            await server.start(restored)

            async def ask(method: str, path: str, obj: Any = None, user: UserInfo = ROOT) -> Response:
                return await server.handler(Request(method, path, obj=obj, accepts_object=True, user=user))

            try:
                await scene(ask, webhook)
            finally:
                await server.stop()

    asyncio.run(asyncio.wait_for(main(), 30))


def verbs(webhook: Webhook) -> list[str]:
    return [spec["resourceAttributes"]["verb"] for spec in webhook.specs]


@pytest.mark.parametrize(("allowed", "status"), [(True, 201), (False, 403)])
def test_a_mutating_webhook_before_the_check_against_escalation_is_called_once(
    tmp_path: Path, allowed: bool, status: int
) -> None:
    async def scene(ask: Ask, webhook: Webhook) -> None:
        with WebhookServer(lambda request: {"allowed": True, "warnings": ["seen"]}) as hooks:
            rule = {"apiGroups": ["*"], "apiVersions": ["*"], "resources": ["clusterroles"], "operations": ["*"]}
            hook = {"name": "a.example.com", "clientConfig": hooks.client_config(), "rules": [rule]}
            hook |= {"sideEffects": "None", "admissionReviewVersions": ["v1"]}
            configuration = {"apiVersion": REGISTRATION, "kind": "MutatingWebhookConfiguration"}
            configuration |= {"metadata": {"name": "hooks"}, "webhooks": [hook]}
            path = "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations"
            assert (await ask("POST", path, configuration)).status == 201
            role = {"apiVersion": RBAC, "kind": "ClusterRole", "metadata": {"name": "all"}}
            role |= {"rules": [{"verbs": ["*"], "apiGroups": ["*"], "resources": ["*"]}]}
            response = await ask("POST", f"/apis/{RBAC}/clusterroles", role, JANE)
            assert response.status == status, response.obj
            assert len(hooks.asked) == 1
            assert verbs(webhook) == ["create", "escalate"]

    served(tmp_path, lambda spec: {"allowed": allowed or spec["resourceAttributes"]["verb"] == "create"}, scene)


def test_an_expression_of_a_policy_waits_for_the_authorizer_that_it_asks(tmp_path: Path) -> None:
    """Its variables as well; a question is put once for each evaluation, however often the expression has it."""

    async def scene(ask: Ask, webhook: Webhook) -> None:
        check = "authorizer.group('').resource('widgets').check"
        policy = {
            "paramKind": None,
            "matchConstraints": {
                "resourceRules": [
                    {"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["configmaps"]}
                ]
            },
            "variables": [{"name": "mayPaint", "expression": f"{check}('paint').allowed()"}],
            "validations": [
                {"expression": f"variables.mayPaint && !{check}('burn').allowed()", "message": "no widgets"},
                {"expression": f"{check}('paint').reason() == 'artist'"},
            ],
        }
        group = "/apis/admissionregistration.k8s.io/v1"
        head = {"apiVersion": REGISTRATION, "metadata": {"name": "widgets"}}
        made = {**head, "kind": "ValidatingAdmissionPolicy", "spec": policy}
        assert (await ask("POST", f"{group}/validatingadmissionpolicies", made)).status == 201
        bound = {"policyName": "widgets", "validationActions": ["Deny"]}
        made = {**head, "kind": "ValidatingAdmissionPolicyBinding", "spec": bound}
        assert (await ask("POST", f"{group}/validatingadmissionpolicybindings", made)).status == 201
        config_map = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c"}}
        path = "/api/v1/namespaces/default/configmaps"
        assert (await ask("POST", path, config_map, JANE)).status == 201
        assert sorted(verbs(webhook)) == ["burn", "create", "paint"]
        config_map["metadata"] = {"name": "d"}
        refused = await ask("POST", path, config_map, UserInfo("joe"))
        assert (refused.status, refused.obj["message"].endswith("denied request: no widgets")) == (422, True)  # type: ignore[index]

    def decision(spec: Object) -> Object:
        if spec["resourceAttributes"]["resource"] != "widgets":
            return {"allowed": True}
        if spec["resourceAttributes"]["verb"] == "paint" and spec["user"] == "jane":
            return {"allowed": True, "reason": "artist"}
        return {"allowed": False}

    served(tmp_path, decision, scene)
