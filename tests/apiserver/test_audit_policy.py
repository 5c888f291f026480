"""Which rule of an audit policy counts, and which policies are none: the cases of upstream's `checker_test.go` and `validation_test.go`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

import pytest

from lifecycle.api.http.wire import Object, RequestInfo, UserInfo
from lifecycle.apiserver.audit.policy import AuditPolicy
from lifecycle.apiserver.audit.policy_reader import load_policy, validate_policy

TIM = UserInfo("tim@k8s.io", ("humans", "developers"))
RBAC = "rbac.authorization.k8s.io"
PODS = "/api/v1/namespaces/default/pods/busybox"
POD = RequestInfo(True, PODS, "get", namespace="default", version="v1", resource="pods", name="busybox")
ROLE = RequestInfo(True, "/apis", "get", group=RBAC, version="v1beta1", resource="clusterroles", name="edit")

REQUESTS: dict[str, tuple[UserInfo | None, RequestInfo]] = {
    "namespaced": (TIM, POD),
    "cluster": (TIM, ROLE),
    "nonResource": (TIM, RequestInfo(False, "/logs/kubelet.log", "get")),
    "subresource": (TIM, replace(POD, subresource="log")),
    "Unauthorized": (None, POD),
    "ClusterRoleUpdate": (TIM, replace(ROLE, verb="update", subresource="status", name="somerole")),
}
LATE = ["RequestReceived", "ResponseStarted", "ResponseComplete"]
RULES: dict[str, Object] = {
    "default": {"level": "Metadata"},
    "create": {"level": "Request", "verbs": ["create"]},
    "tims": {"level": "Metadata", "users": ["tim@k8s.io"]},
    "humans": {"level": "Metadata", "userGroups": ["humans"]},
    "serviceAccounts": {"level": "Request", "userGroups": ["system:serviceaccounts"]},
    "getPods": {"level": "RequestResponse", "verbs": ["get"], "resources": [{"resources": ["pods"]}]},
    "getPodLogs": {"level": "Request", "verbs": ["get"], "resources": [{"resources": ["pods/log"]}]},
    "anything": {"level": "Request", "verbs": ["get"], "resources": [{"resources": ["*"]}]},
    "anyLog": {"level": "Request", "verbs": ["get"], "resources": [{"resources": ["*/log"]}]},
    "podsAnything": {"level": "Request", "verbs": ["get"], "resources": [{"resources": ["pods/*"]}]},
    "getClusterRoles": {
        "level": "RequestResponse",
        "verbs": ["get"],
        "resources": [{"group": RBAC, "resources": ["clusterroles"]}],
        "namespaces": [""],
    },
    "anyStatus": {
        "level": "RequestResponse",
        "verbs": ["update"],
        "resources": [{"group": "*", "resources": ["*/status"]}],
    },
    "getLogs": {"level": "RequestResponse", "verbs": ["get"], "nonResourceURLs": ["/logs*"]},
    "getMetrics": {"level": "Request", "verbs": ["get"], "nonResourceURLs": ["/metrics"]},
    "clusterRoleEdit": {
        "level": "Request",
        "resources": [{"group": RBAC, "resources": ["clusterroles"], "resourceNames": ["edit"]}],
    },
    "omit RequestReceived": {"level": "Request", "omitStages": LATE[:1]},
    "only audit panic": {"level": "Request", "omitStages": LATE},
}
CASES = [
    ("namespaced", "Metadata", "default"),
    ("namespaced", "None", "create"),
    ("namespaced", "Metadata", "tims"),
    ("namespaced", "Metadata", "humans"),
    ("namespaced", "None", "serviceAccounts"),
    ("namespaced", "RequestResponse", "getPods"),
    ("namespaced", "None", "getClusterRoles"),
    ("namespaced", "None", "getLogs"),
    ("namespaced", "None", "getMetrics"),
    ("namespaced", "Metadata", "getMetrics serviceAccounts default"),
    ("namespaced", "RequestResponse", "getMetrics getPods default"),
    ("namespaced", "RequestResponse", "getPodLogs getPods"),
    ("cluster", "Metadata", "default"),
    ("cluster", "None", "create"),
    ("cluster", "Metadata", "humans"),
    ("cluster", "None", "getPods"),
    ("cluster", "RequestResponse", "getClusterRoles"),
    ("cluster", "Request", "clusterRoleEdit getClusterRoles"),
    ("cluster", "None", "getLogs"),
    ("cluster", "RequestResponse", "getMetrics getClusterRoles default"),
    ("nonResource", "Metadata", "default"),
    ("nonResource", "None", "serviceAccounts"),
    ("nonResource", "None", "getPods"),
    ("nonResource", "RequestResponse", "getLogs"),
    ("nonResource", "None", "getMetrics"),
    ("nonResource", "RequestResponse", "getLogs getClusterRoles default"),
    ("subresource", "Request", "getPodLogs getPods"),
    ("subresource", "None", "getPods"),
    ("subresource", "Request", "anything"),
    ("subresource", "Request", "anyLog"),
    ("subresource", "Request", "podsAnything"),
    ("namespaced", "None", "anyLog"),
    ("namespaced", "Request", "podsAnything"),
    ("Unauthorized", "None", "tims"),
    ("Unauthorized", "Metadata", "tims default"),
    ("Unauthorized", "None", "humans"),
    ("Unauthorized", "Metadata", "humans default"),
    ("ClusterRoleUpdate", "RequestResponse", "anyStatus"),
    ("ClusterRoleUpdate", "None", "clusterRoleEdit"),
]


@pytest.mark.parametrize("everywhere", [[], LATE[:2]])
@pytest.mark.parametrize(("request_name", "level", "rules"), CASES)
def test_the_first_rule_that_matches_decides(request_name: str, level: str, rules: str, everywhere: list[str]) -> None:
    policy = AuditPolicy({"omitStages": everywhere, "rules": [RULES[name] for name in rules.split()]})
    found = policy.evaluate(*REQUESTS[request_name])
    assert (found.level, set(found.omit_stages)) == (level, set(everywhere))


@pytest.mark.parametrize("request_name", ["namespaced", "cluster", "nonResource"])
def test_stages_are_left_out_by_the_policy_and_by_the_rule(request_name: str) -> None:
    for everywhere in ([], LATE[:2]):
        for rule, omitted in (("omit RequestReceived", LATE[:1]), ("only audit panic", LATE)):
            policy = AuditPolicy({"omitStages": everywhere, "rules": [RULES[rule], RULES["default"]]})
            assert set(policy.evaluate(*REQUESTS[request_name]).omit_stages) == {*everywhere, *omitted}


@pytest.mark.parametrize(
    ("policy", "rule", "omitted"),
    [(False, None, False), (True, None, True), (True, False, False), (False, True, True)],
)
def test_a_rule_has_the_last_word_on_managed_fields(policy: bool, rule: bool | None, omitted: bool) -> None:
    body: Object = {"level": "RequestResponse", "verbs": ["get"]}
    if rule is not None:
        body["omitManagedFields"] = rule
    found = AuditPolicy({"omitManagedFields": policy, "rules": [body]}).evaluate(None, POD)
    assert found.omit_managed_fields is omitted


@pytest.mark.parametrize(
    ("rule", "message"),
    [
        ({"level": "Metadata", "nonResourceURLs": ["/logs*", "/healthz*", "/metrics", "*"]}, ""),
        ({"level": "None", "resources": [{"group": "*", "resources": ["pods"], "resourceNames": ["x"]}]}, ""),
        ({}, "rules[0].level: Required value"),
        (
            {"level": "FooBar"},
            'rules[0].level: Unsupported value: "FooBar": '
            'supported values: "None", "Metadata", "Request", "RequestResponse"',
        ),
        (
            {"level": "Metadata", "nonResourceURLs": ["logs"]},
            "rules[0].nonResourceURLs[0]: Invalid value: \"logs\": non-resource URL rules must begin with a '/' character",
        ),
        (
            {"level": "Metadata", "nonResourceURLs": ["/", "/*/x"]},
            'rules[0].nonResourceURLs[1]: Invalid value: "/*/x": '
            "non-resource URL wildcards '*' must be the final character of the rule",
        ),
        (
            {"level": "Metadata", "namespaces": ["default"], "nonResourceURLs": ["/logs*"]},
            'rules[0].nonResourceURLs: Invalid value: ["/logs*"]: '
            "rules cannot apply to both regular resources and non-resource URLs",
        ),
        (
            {"level": "Metadata", "resources": [{"group": "rbac.authorization.k8s.io/v1beta1"}]},
            'rules[0].resources.group: Invalid value: "rbac.authorization.k8s.io/v1beta1": a lowercase RFC 1123 subdomain',
        ),
        (
            {"level": "Metadata", "resources": [{"resourceNames": ["leader"]}]},
            'rules[0].resources.resourceNames: Invalid value: ["leader"]: using resourceNames requires at least one resource',
        ),
        (
            {"level": "Metadata", "omitStages": ["foo"]},
            'rules[0].omitStages[0]: Invalid value: "foo": '
            "allowed stages are RequestReceived,ResponseStarted,ResponseComplete,Panic",
        ),
    ],
)
def test_a_rule_says_what_is_wrong_with_it(rule: Object, message: str) -> None:
    errors = [str(error) for error in validate_policy({"rules": [rule]})]
    assert len(errors) == bool(message)
    assert not message or errors[0].startswith(message)


def test_a_field_in_the_wrong_place_is_overlooked_and_a_stage_of_the_policy_is_not() -> None:
    head = "apiVersion: audit.k8s.io/v1\nkind: Policy\n"
    misplaced = "rules:\n- level: None\n  resources:\n  - group: coordination.k8s.io\n    verbs: [watch]\n"
    assert load_policy(head + misplaced)["rules"][0]["level"] == "None"
    with pytest.raises(ValueError, match=re.escape("omitStages[0]: Invalid value")):
        load_policy(head + "omitStages: [Never]\n")
    with pytest.raises(
        ValueError,
        match=r"failed decoding: json: cannot unmarshal object into Go struct field Policy\.rules of type \[\]v1\.PolicyRule$",
    ):
        load_policy(head + "rules: {level: None}\n")


class Walked(list[str]):
    """A list that counts how often somebody goes through it."""

    times = 0

    def __iter__(self) -> Iterator[str]:
        Walked.times += 1
        return super().__iter__()

    def __contains__(self, what: object) -> bool:
        Walked.times += 1
        return super().__contains__(what)


def test_the_lists_of_a_rule_are_gone_through_once_whatever_is_asked() -> None:
    """Each request asks all rules, and of both there may be thousands."""
    everything = Walked(f"x{number}" for number in range(100))
    entry = {"group": RBAC, "resources": everything, "resourceNames": everything}
    rules = [
        {"level": "None", "users": everything},
        {"level": "None", "userGroups": everything},
        {"level": "None", "verbs": everything},
        {"level": "None", "namespaces": everything},
        {"level": "None", "resources": [entry]},
        {"level": "Metadata"},
    ]
    policy = AuditPolicy({"rules": rules})
    at_first = Walked.times
    for _ in range(10):
        assert policy.evaluate(TIM, ROLE).level == "Metadata"
    assert Walked.times == at_first
