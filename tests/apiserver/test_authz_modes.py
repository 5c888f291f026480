"""The authorizers that a stock cluster does not use: policies in a file, a webhook, always and never; and how they are put in a row."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from itertools import permutations
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from lifecycle.api.http.wire import MASTERS, Request, RequestInfo, UserInfo
from lifecycle.api.loop.clock import Clock
from lifecycle.apiserver.authz.abac import Policy, PolicyLoadError, parse_policy, read_policy_file
from lifecycle.apiserver.authz.always import AlwaysAllow, AlwaysDeny
from lifecycle.apiserver.authz.authorizer import Decision, UserRules, Verdict, decide
from lifecycle.apiserver.authz.configuration import (
    ConfiguredAuthorizer,
    build_authorization,
    validate_authorization_configuration,
)
from lifecycle.apiserver.authz.modes import AuthorizationOptions
from lifecycle.apiserver.authz.union import UnionAuthorizer
from lifecycle.apiserver.authz.webhook import WebhookAuthorizer, review_spec
from lifecycle.apiserver.storage.object_reader import StaticReader
from lifecycle.apiserver.webhook.call import WebhookError
from lifecycle.apiserver.webhook.client import WebhookClient, read_webhook_kubeconfig
from lifecycle.cluster.cluster import Cluster
from lifecycle.cluster.cluster_config import ClusterConfig
from lifecycle.cluster.outside_services import Webhook

JANE = UserInfo("jane", ("devs", "system:authenticated"), "7", {"scopes": ("view",)})


def ask(verb: str = "get", resource: str = "pods", namespace: str = "shop", **more: Any) -> RequestInfo:
    return RequestInfo(True, "", verb, version="v1", resource=resource, namespace=namespace, **more)


def path(text: str, verb: str = "get") -> RequestInfo:
    return RequestInfo(False, text, verb)


def on_a_loop(scenario: Callable[[], Awaitable[None]]) -> None:
    asyncio.run(asyncio.wait_for(scenario(), 30))  # type: ignore[arg-type]


def build(**options: Any) -> Any:
    return build_authorization(AuthorizationOptions(**options), StaticReader(), Clock())


# -- policies in a file ---------------------------------------------------------------------------------------------------------


def test_policies_match_as_text() -> None:
    reads_all = Policy(user="jane", readonly=True, api_group="*", resource="*", namespace="*")
    assert reads_all.matches(JANE, ask("watch", group="apps"))
    assert not reads_all.matches(JANE, ask("delete"))
    assert not reads_all.matches(JANE, path("/healthz")), "a policy about resources says nothing about paths"
    assert not reads_all.matches(UserInfo("joe"), ask())
    both = Policy(user="jane", group="ops", resource="*", namespace="*", api_group="*")
    assert not both.matches(JANE, ask()), "user and group: both must be"
    assert not Policy(resource="*", namespace="*", api_group="*").matches(JANE, ask()), "nobody is nobody"
    core = Policy(user="jane", resource="pods", namespace="shop")
    assert core.matches(JANE, ask("delete"))
    assert not core.matches(JANE, ask(group="apps")), "an empty group is the core group"
    assert not core.matches(JANE, ask(namespace=""))


@pytest.mark.parametrize(("pattern", "asked", "yes"), [
    ("*", "/anything", True), ("/healthz", "/healthz", True), ("/healthz", "/healthz/etcd", False),
    ("/logs/*", "/logs/x", True), ("/logs/*", "/log", False), ("", "/x", False),
])  # fmt: skip
def test_paths_may_end_in_a_star(pattern: str, asked: str, yes: bool) -> None:
    assert Policy(user="jane", non_resource_path=pattern).matches(JANE, path(asked)) is yes


def test_everybody_means_everybody_who_is_somebody() -> None:
    line = '{"apiVersion": "abac.authorization.kubernetes.io/v1beta1", "kind": "Policy", "spec": {"user": "*", "nonResourcePath": "*"}}'
    assert parse_policy(line).group == "system:authenticated"
    assert not parse_policy(line).matches(UserInfo("system:anonymous", ("system:unauthenticated",)), path("/x"))
    assert parse_policy(line).matches(JANE, path("/x"))


def test_a_line_without_a_version_is_of_the_old_form() -> None:
    assert parse_policy('{"user": "jane"}') == Policy(
        user="jane", api_group="*", resource="*", namespace="*", non_resource_path="*"
    )
    assert parse_policy('{"resource": "pods", "readonly": true}') == Policy(
        group="system:authenticated", api_group="*", resource="pods", namespace="*", readonly=True
    )


def test_a_policy_file_is_read_once(tmp_path: Path) -> None:
    file = tmp_path / "policy.jsonl"
    policy = {"apiVersion": "abac.authorization.kubernetes.io/v1beta1", "kind": "Policy"}
    spec = {"user": "jane", "namespace": "shop", "resource": "pods", "apiGroup": "*"}
    file.write_text("# who may what\n\n" + json.dumps({**policy, "spec": spec}) + "\n")
    abac = read_policy_file(file)
    assert abac.authorize(JANE, ask()).allowed
    assert abac.authorize(JANE, ask(resource="secrets")) == Verdict(Decision.NO_OPINION, "No policy matched.")
    assert abac.rules_for(JANE, "shop").resource_rules == [{"verbs": ["*"], "apiGroups": ["*"], "resources": ["pods"]}]
    file.write_text("")
    assert abac.authorize(JANE, ask()).allowed, "a changed file waits for the next start"
    file.write_text('{"apiVersion": "v1", "kind": "Pod"}\n')
    with pytest.raises(
        PolicyLoadError, match=rf'error reading policy file {file}, line 1: .*: no kind "Pod" is registered'
    ):
        read_policy_file(file)
    file.write_text("[")
    with pytest.raises(PolicyLoadError, match="line 1"):
        read_policy_file(file)


WHO, WHAT = st.sampled_from(["", "*", "jane", "devs"]), st.sampled_from(["", "*", "shop", "pods"])


@given(st.builds(Policy, WHO, WHO, st.booleans(), WHAT, WHAT, WHAT),
       st.sampled_from(["get", "list", "watch", "create", "delete"]))  # fmt: skip
def test_a_readonly_policy_allows_a_subset(policy: Policy, verb: str) -> None:
    from dataclasses import replace

    full, only = replace(policy, readonly=False), replace(policy, readonly=True)
    if only.matches(JANE, ask(verb)):
        assert full.matches(JANE, ask(verb))
        assert verb in ("get", "list", "watch")


# -- the webhook ------------------------------------------------------------------------------------------------------------------


def webhook_document(file: Path, **more: Any) -> dict[str, Any]:
    webhook = {
        "timeout": "3s",
        "authorizedTTL": "5m",
        "unauthorizedTTL": "30s",
        "subjectAccessReviewVersion": "v1",
        "failurePolicy": "NoOpinion",
        "connectionInfo": {"type": "KubeConfigFile", "kubeConfigFile": str(file)},
        **more,
    }
    entry = {"type": "Webhook", "name": "hook", "webhook": webhook}
    return {
        "apiVersion": "apiserver.config.k8s.io/v1",
        "kind": "AuthorizationConfiguration",
        "authorizers": [entry],
    }


def test_a_question_is_an_access_review() -> None:
    info = ask("list", field_selector="spec.nodeName=n1", label_selector="app in (a,b),!old")
    assert review_spec(JANE, info) == {
        "resourceAttributes": {
            "namespace": "shop",
            "verb": "list",
            "version": "v1",
            "resource": "pods",
            "fieldSelector": {"requirements": [{"key": "spec.nodeName", "operator": "In", "values": ["n1"]}]},
            "labelSelector": {
                "requirements": [
                    {"key": "app", "operator": "In", "values": ["a", "b"]},
                    {"key": "old", "operator": "DoesNotExist"},
                ]
            },
        },
        "user": "jane",
        "groups": ["devs", "system:authenticated"],
        "extra": {"scopes": ["view"]},
        "uid": "7",
    }
    assert review_spec(JANE, path("/healthz"))["nonResourceAttributes"] == {"path": "/healthz", "verb": "get"}


def test_the_webhooks_answers_are_kept_for_their_time(tmp_path: Path) -> None:
    answers = {
        "pods": {"allowed": True, "reason": "fine"},
        "secrets": {"allowed": False},
        "nodes": {"denied": True, "reason": "no"},
    }

    async def scenario() -> None:
        async with Webhook(lambda spec: answers[spec["resourceAttributes"]["resource"]]) as webhook:
            hook = build(modes=("Webhook",), webhook_config_file=webhook.write_kubeconfig(tmp_path / "hook"))
            for _ in range(3):
                assert await decide(hook.authorize, JANE, ask()) == Verdict(Decision.ALLOW, "fine")
                assert (await decide(hook.authorize, JANE, ask(resource="secrets"))).decision is Decision.NO_OPINION
                assert await decide(hook.authorize, JANE, ask(resource="nodes")) == Verdict(Decision.DENY, "no")
            assert len(webhook.requests) == 3
            assert webhook.specs[0]["group"] == list(JANE.groups), "v1beta1 spells it without an s"
            assert (await decide(hook.authorize, UserInfo("root", (MASTERS,)), ask())).allowed
            assert len(webhook.requests) == 3, "masters are not asked about"
            long = ask(name="x" * 10_000)
            await decide(hook.authorize, JANE, long)
            await decide(hook.authorize, JANE, long)
            assert len(webhook.requests) == 5, "very long questions are not kept"

    on_a_loop(scenario)


@pytest.mark.parametrize(("policy", "decision"), [("NoOpinion", Decision.NO_OPINION), ("Deny", Decision.DENY)])
def test_a_webhook_that_is_away_fails_by_its_policy(tmp_path: Path, policy: str, decision: Decision) -> None:
    async def scenario() -> None:
        async with Webhook(lambda spec: {"allowed": True}) as webhook:
            file, url = webhook.write_kubeconfig(tmp_path / "hook"), webhook.url
        (tmp_path / "config").write_text(yaml.safe_dump(webhook_document(file, failurePolicy=policy)))
        verdict = await decide(build(config=tmp_path / "config").authorize, JANE, ask())
        assert verdict.decision is decision
        assert verdict.error.startswith(f'Post "{url}/review?timeout=3s": dial tcp 127.0.0.1:')

    on_a_loop(scenario)


def test_a_webhook_that_stumbles_is_asked_again(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with Webhook(lambda spec: {"allowed": True}) as webhook:
            connection = read_webhook_kubeconfig(webhook.write_kubeconfig(tmp_path / "hook"))
            webhook.failures = 4
            answer = await WebhookClient(connection, retry_delay=0).post({"spec": {}})
            assert answer["status"] == {"allowed": True}
            assert len(webhook.requests) == 5
            webhook.failures = 5
            with pytest.raises(WebhookError, match=r"out to lunch$"):
                await WebhookClient(connection, retry_delay=0).post({"spec": {}})

    on_a_loop(scenario)


@pytest.mark.parametrize(("code", "tries"), [(500, 5), (429, 5), (504, 5), (404, 1), (403, 1), (401, 1), (503, 1)])
def test_what_may_pass_is_tried_again_and_no_failure_is_kept(tmp_path: Path, code: int, tries: int) -> None:
    """As in upstream's `TestV1WebhookCache`: an answer is kept, whatever would come now; another question is another."""

    class Failing(Webhook):
        code = 201

        def answer(self, request: Request) -> tuple[int, Any]:
            return (201, super().answer(request)[1]) if self.code == 201 else (self.code, {"message": "no"})

    async def scenario() -> None:
        async with Failing(lambda spec: {"allowed": spec["user"] == "jane"}) as webhook:
            connection = read_webhook_kubeconfig(webhook.write_kubeconfig(tmp_path / "hook"))
            hook = WebhookAuthorizer(WebhookClient(connection, retry_delay=0), Clock())
            webhook.code = code
            verdict = await decide(hook.authorize, JANE, ask())
            assert (verdict.decision, bool(verdict.error)) == (Decision.NO_OPINION, True)
            assert len(webhook.requests) == tries
            webhook.code = 201
            assert (await decide(hook.authorize, JANE, ask())).allowed
            webhook.code = code
            assert (await decide(hook.authorize, JANE, ask())).allowed
            assert len(webhook.requests) == tries + 1, "kept"
            assert (await decide(hook.authorize, UserInfo("bob"), ask())).error
            webhook.code = 201
            assert await decide(hook.authorize, UserInfo("bob"), ask()) == Verdict(Decision.NO_OPINION)
            webhook.code = code
            assert await decide(hook.authorize, UserInfo("bob"), ask()) == Verdict(Decision.NO_OPINION)
            assert len(webhook.requests) == 2 * (tries + 1)

    on_a_loop(scenario)


def test_conditions_say_what_a_webhook_wants_to_see(tmp_path: Path) -> None:
    conditions = [
        {"expression": "has(request.resourceAttributes)"},
        {"expression": "request.resourceAttributes.namespace == 'shop'"},
        {"expression": "!('system:nodes' in request.groups)"},
    ]

    async def scenario() -> None:
        async with Webhook(lambda spec: {"denied": True}) as webhook:
            file, config = webhook.write_kubeconfig(tmp_path / "hook"), tmp_path / "config"
            more = {"matchConditions": conditions, "matchConditionSubjectAccessReviewVersion": "v1"}
            config.write_text(yaml.safe_dump(webhook_document(file, **more)))
            hook = build(config=config)
            assert (await decide(hook.authorize, JANE, ask())).decision is Decision.DENY
            node = UserInfo("system:node:n", ("system:nodes",))
            for user, info in ((JANE, ask(namespace="bank")), (JANE, path("/x")), (node, ask())):
                assert (await decide(hook.authorize, user, info)).decision is Decision.NO_OPINION
            assert len(webhook.requests) == 1
            text = "request.resourceAttributes.namespace == 'shop'"
            more["matchConditions"] = [{"expression": text}]
            hook.reload(webhook_document(file, failurePolicy="Deny", **{**more}))
            verdict = await decide(hook.authorize, JANE, path("/x"))
            assert verdict.decision is Decision.DENY
            assert verdict.error == (
                f"cel evaluation error: expression '{text}' resulted in error: no such key: resourceAttributes"
            )
            for text, why in (
                ("request.nothing == 'x'", "undefined field 'nothing'"),
                ("request.user", "must evaluate to bool but got string"),
            ):
                more["matchConditions"] = [{"expression": text}]
                with pytest.raises(ValueError, match=why):
                    hook.reload(webhook_document(file, failurePolicy="Deny", **{**more}))

    on_a_loop(scenario)


# -- in a row -----------------------------------------------------------------------------------------------------------------------


class Fixed:
    def __init__(self, verdict: Verdict) -> None:
        self.verdict = verdict

    def authorize(self, user: UserInfo, info: RequestInfo) -> Verdict:
        return self.verdict

    def rules_for(self, user: UserInfo, namespace: str) -> UserRules:
        return UserRules()


def test_the_first_who_has_an_opinion_decides_in_every_order() -> None:
    voices = {each: Fixed(Verdict(each, each.value)) for each in Decision}
    for order in permutations(Decision):
        first = next(each for each in order if each is not Decision.NO_OPINION)
        assert UnionAuthorizer(*(voices[each] for each in order)).authorize(JANE, ask()).decision is first
    assert UnionAuthorizer(AlwaysDeny(), AlwaysAllow()).authorize(JANE, ask()).allowed, "always deny denies nothing"


def test_flags_that_do_not_go_together() -> None:
    def wrong(**options: Any) -> list[str]:
        return AuthorizationOptions(**options).errors()

    assert wrong() == []
    assert wrong(modes=()) == ["at least one authorization-mode must be passed"]
    assert wrong(modes=("AllowAll",)) == ['authorization-mode "AllowAll" is not a valid mode']
    assert wrong(modes=("ABAC",)) == ["authorization-mode ABAC's authorization policy file not passed"]
    assert wrong(modes=("Webhook",)) == ["authorization-mode Webhook's authorization config file not passed"]
    assert wrong(policy_file=Path("x")) == ["cannot specify --authorization-policy-file without mode ABAC"]
    assert wrong(modes=("RBAC", "RBAC")) == ['authorization-mode ["RBAC" "RBAC"] has mode specified more than once']
    with pytest.raises(ValueError, match=r'authorization-mode "DenyAll" is not a valid mode$'):
        build(modes=("DenyAll",))


def test_a_configuration_is_checked_and_exchanged_whole(tmp_path: Path) -> None:
    def document(*types: str) -> dict[str, Any]:
        return {
            "apiVersion": "apiserver.config.k8s.io/v1",
            "kind": "AuthorizationConfiguration",
            "authorizers": [{"type": kind, "name": kind.lower()} for kind in types],
        }

    file = tmp_path / "config"
    file.write_text(yaml.safe_dump(document("AlwaysDeny")))
    ours = build(config=file)
    assert not ours.authorize(JANE, ask()).allowed
    ours.reload(document("AlwaysDeny", "AlwaysAllow"))
    assert ours.authorize(JANE, ask()).allowed
    with pytest.raises(ValueError, match=r'authorizers\[1\].type: Duplicate value: "RBAC"$'):
        ours.reload(document("RBAC", "RBAC"))
    assert ours.authorize(JANE, ask()).allowed
    errors = [
        str(each)
        for each in validate_authorization_configuration(
            webhook_document(Path("hook"), timeout="1m", failurePolicy="Open")
        )
    ]
    assert errors == [
        'authorizers[0].timeout: Invalid value: "1m0s": must be > 0s and <= 30s',
        'authorizers[0].failurePolicy: Unsupported value: "Open": supported values: "NoOpinion", "Deny"',
        'authorizers[0].connectionInfo.kubeConfigFile: Invalid value: "hook": must be an absolute path',
    ]


def test_a_webhook_may_be_the_cluster_itself_but_only_inside_one() -> None:
    webhook = {"timeout": "3s", "authorizedTTL": "5m", "unauthorizedTTL": "30s", "subjectAccessReviewVersion": "v1"}
    webhook |= {"failurePolicy": "Deny"}
    entry: Any = {"type": "Webhook", "name": "w", "webhook": {**webhook, "connectionInfo": {"type": "InClusterConfig"}}}
    assert validate_authorization_configuration({"authorizers": [entry]}) == []
    with pytest.raises(
        ValueError,
        match=r"unable to load in-cluster configuration, KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT must be defined$",
    ):
        ConfiguredAuthorizer({"authorizers": [entry]}, StaticReader(), Clock())
    entry["webhook"]["connectionInfo"]["kubeConfigFile"] = "/x"
    (error,) = validate_authorization_configuration({"authorizers": [entry]})
    assert str(error).endswith('kubeConfigFile: Invalid value: "/x": can only be set when type=KubeConfigFile')


# -- through a whole server ---------------------------------------------------------------------------------------------------------


def test_every_place_that_asks_can_wait_for_a_webhook(tmp_path: Path) -> None:
    """The filter, impersonation, a review and the check against escalation: each needs answers from outside, some several at once."""

    def rule(spec: dict[str, Any]) -> dict[str, Any]:
        verb = (spec.get("resourceAttributes") or {}).get("verb", "")
        return {"denied": True, "reason": "not today"} if verb == "delete" else {"allowed": spec["user"] != "mallory"}

    async def scenario() -> None:
        async with Webhook(rule) as webhook:
            file = webhook.write_kubeconfig(tmp_path / "hook")
            options = AuthorizationOptions(
                modes=("Node", "RBAC", "Webhook"),
                webhook_config_file=file,
                webhook_authorized_ttl=0,
                webhook_unauthorized_ttl=0,
            )
            cluster = Cluster(
                ClusterConfig(
                    nodes=1, https=False, authorization=options, without=("controllers", "scheduler", "kubelet")
                )
            )
            await cluster.start()
            try:
                server = cluster.server

                async def ask_as(
                    name: str, method: str, where: str, obj: Any = None, **headers: str
                ) -> tuple[int, Any]:
                    request = Request(method, where, obj=obj, accepts_object=True, headers=headers)
                    answer = await server.in_process_transport(UserInfo(name)).round_trip(request)
                    return answer.status, answer.obj

                assert (await ask_as("jane", "GET", "/api/v1/namespaces/default/pods"))[0] == 200
                status, said = await ask_as("jane", "DELETE", "/api/v1/namespaces/default/pods/x")
                assert (status, said["message"]) == (
                    403,
                    'pods "x" is forbidden: User "jane" cannot delete resource "pods" in API group "" in the namespace "default": '
                    "not today",
                )
                impersonate = {"impersonate-user": "mallory", "impersonate-group": "devs"}
                assert (await ask_as("jane", "GET", "/api/v1/namespaces/default/pods", **impersonate))[0] == 403
                review = {"apiVersion": "authorization.k8s.io/v1", "kind": "SelfSubjectAccessReview"}
                review["spec"] = {"resourceAttributes": {"verb": "list", "resource": "nodes"}}  # type: ignore[assignment]
                status, said = await ask_as(
                    "jane", "POST", "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", review
                )
                assert (status, said["status"]) == (201, {"allowed": True})
                rbac = "rbac.authorization.k8s.io"
                role = {"apiVersion": f"{rbac}/v1", "kind": "ClusterRole", "metadata": {"name": "all"}}
                role["rules"] = [{"verbs": ["*"], "apiGroups": ["*"], "resources": ["*"]}]  # type: ignore[assignment]
                status, _ = await ask_as("jane", "POST", f"/apis/{rbac}/v1/clusterroles", role)
                assert status == 201, "the webhook allows `escalate`"
                await webhook.stop()
                status, said = await ask_as("jane", "GET", "/api/v1/namespaces/default/pods")
                assert status == 500
                assert "connect: connection refused" in said["message"]
            finally:
                await cluster.stop()

    on_a_loop(scenario)
