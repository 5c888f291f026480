"""Rules that take two: fields that do not go together, lists of which one member excludes the others, numbers against each other.

`Fields` tries one odd value at a time and meets none of these. Each is a dry run of a new object.
"""

from __future__ import annotations

import copy
from collections.abc import Iterable, Iterator
from typing import Any

from tests.differential import pod_rules
from tests.differential.case import Case, Step

Object = dict[str, Any]
Changes = Iterable[dict[str, Any]]

STARS: tuple[list[str], ...] = ([], ["*"], ["*", "a"], ["a", "*"], ["*", "*"], ["a", "a"], [""], ["A b"])
SELECTORS: tuple[Any, ...] = (
    {},
    {"matchLabels": {"a b": "c"}},
    {"matchExpressions": [{"key": "a", "operator": "In"}]},
    {"matchExpressions": [{"key": "a", "operator": "Exists", "values": ["b"]}]},
    {"matchExpressions": [{"key": "a", "operator": "X"}]},
)


def _changed(obj: Object, changes: dict[str, Any]) -> Object:
    """A copy with values at paths such as `spec.rules.0.verbs`; None takes a field away."""
    found = copy.deepcopy(obj)
    for path, value in changes.items():
        *way, last = path.split(".")
        place: Any = found
        for key in way:
            place = place[int(key)] if isinstance(place, list) else place.setdefault(key, {})
        if value is None:
            place.pop(last)
        else:
            place[int(last) if isinstance(place, list) else last] = copy.deepcopy(value)
    return found


def _each(path: str, values: Iterable[Any]) -> list[dict[str, Any]]:
    return [{path: value} for value in values]


def _flow_schemas() -> Changes:
    rule, url = "spec.rules.0.resourceRules.0", "spec.rules.0.nonResourceRules"
    subject = "spec.rules.0.subjects.0"
    for key in ("verbs", "apiGroups", "resources", "namespaces"):
        yield from _each(f"{rule}.{key}", STARS)
    yield from _each(f"{rule}.verbs", (["get", "X"], ["get", "deletecollection"], ["X"]))
    yield from ({f"{rule}.namespaces": names, f"{rule}.clusterScope": True} for names in ([], ["a"], ["*"]))
    for urls in (
        *STARS, ["/a"], ["/a b"], ["//a"], ["/a//b"], ["/a*"], ["/a/*"], ["/*/b"], ["/*/*"], ["a"], ["/"], ["/a", "/b*"],
    ):  # fmt: skip
        yield {url: [{"verbs": ["get"], "nonResourceURLs": urls}]}
    yield {url: [{"verbs": ["*", "get"], "nonResourceURLs": ["*"]}], "spec.rules.0.resourceRules": []}
    yield {"spec.rules.0.resourceRules": []}
    for kind, given in (
        ("User", {"group": {"name": "g"}}), ("User", {"user": {"name": "u"}, "group": {"name": "g"}}), ("User", {"user": {}}),
        ("Group", {}), ("Group", {"group": {"name": "g"}, "serviceAccount": {"name": "s", "namespace": "n"}}), ("X", {}),
        ("ServiceAccount", {"serviceAccount": {"name": "*", "namespace": "n"}}),
        ("ServiceAccount", {"serviceAccount": {"name": "A b", "namespace": "n"}}),
        ("ServiceAccount", {"serviceAccount": {"name": "s"}}), ("ServiceAccount", {"serviceAccount": {"namespace": "A b"}}),
        ("ServiceAccount", {"serviceAccount": {"name": "s", "namespace": "n"}, "user": {"name": "u"}}), ("ServiceAccount", {}),
    ):  # fmt: skip
        yield {subject: {"kind": kind, **given}}
    yield from _each("spec.matchingPrecedence", (-1, 0, 1, 2, 10_000, 10_001))
    yield from ({"metadata.name": name, "spec.matchingPrecedence": 1} for name in ("exempt", "catch-all"))


def _priority_levels() -> Changes:
    queuing = "spec.limited.limitResponse.queuing"
    yield from _each(
        "spec", ({"type": "Limited"}, {"type": "Exempt"}, {"type": "X"}, {"type": "Limited", "exempt": {}})
    )
    yield {"spec.type": "Exempt"}
    yield {"spec.limited.limitResponse": {"type": "Queue"}}
    yield {"spec.limited.limitResponse.type": "Reject"}
    yield {"spec.limited.limitResponse": {"type": "X"}}
    for queues, hand in (
        (8, 9),
        (8, 8),
        (10_000_000, 8),
        (10_000_001, 8),
        (0, 0),
        (-1, -1),
        (64, 16),
        (1, 1),
        (512, 12),
    ):
        yield {f"{queuing}.queues": queues, f"{queuing}.handSize": hand}
    yield from _each(f"{queuing}.queueLengthLimit", (-1, 0, 1))
    for key in ("nominalConcurrencyShares", "lendablePercent", "borrowingLimitPercent"):
        yield from _each(f"spec.limited.{key}", (-1, 0, 100, 101))
        yield {"spec": {"type": "Exempt", "exempt": {key: -1}}}


def _network_policies() -> Changes:
    port, peer = "spec.ingress.0.ports.0", "spec.egress.0.to.0"
    yield from _each(f"{port}.protocol", ("TCP", "UDP", "SCTP", "X", ""))
    yield from _each(f"{port}.port", (0, 1, 65_535, 65_536, -1, "http", "a b", "", "a-name-too-long-x", "8"))
    for given, end in ((80, 80), (80, 81), (80, 79), (80, 65_536), (80, 0), ("http", 81), (None, 81), (70_000, 70_001)):
        yield {port: {"endPort": end, **({} if given is None else {"port": given})}}
    yield {peer: {}}
    for block in (
        {"cidr": "10.0.0.0/8"}, {"cidr": "10.0.0.1/8"}, {"cidr": "x"}, {"cidr": ""}, {"cidr": "10.0.0.0/8", "except": ["10.1.0.0/16"]},
        {"cidr": "10.0.0.0/8", "except": ["10.0.0.0/8"]}, {"cidr": "10.0.0.0/8", "except": ["11.0.0.0/16"]},
        {"cidr": "10.0.0.0/8", "except": ["10.0.0.0/7"]}, {"cidr": "10.0.0.0/8", "except": ["x"]},
        {"cidr": "fd00::/16", "except": ["fd00:1::/64", "10.1.0.0/16"]},
    ):  # fmt: skip
        yield {peer: {"ipBlock": block}}
    yield {peer: {"ipBlock": {"cidr": "10.0.0.0/8"}, "podSelector": {}}}
    yield {peer: {"ipBlock": {"cidr": "10.0.0.0/8"}, "namespaceSelector": {}}}
    for selector in SELECTORS:
        yield from (
            {path: selector} for path in (f"{peer}.podSelector", f"{peer}.namespaceSelector", "spec.podSelector")
        )
    yield from _each(
        "spec.policyTypes",
        (["Egress"], ["X"], ["Ingress", "Egress", "Ingress"], ["Ingress", "Ingress"], ["", "Egress"]),
    )


def _webhooks() -> Changes:
    rule = "webhooks.0.rules.0"
    for key in ("operations", "apiGroups", "apiVersions", "resources"):
        yield from _each(f"{rule}.{key}", STARS)
    yield from _each(f"{rule}.operations", (["CREATE", "*"], ["CREATE", "X"], ["CONNECT", "DELETE"]))
    for resources in (
        ["*", "pods"], ["*", "pods/status"], ["*/*", "pods"], ["*/*"], ["pods/*", "pods/status"], ["pods/*", "nodes/status"],
        ["*/status", "pods/status"], ["*/status", "pods/scale"], ["pods", "pods/*"], ["pods/"], ["/status"], ["*/*", "*"], ["*", "*/x"],
    ):  # fmt: skip
        yield {f"{rule}.resources": resources}
    yield from _each(f"{rule}.scope", ("*", "Cluster", "X", ""))


def _policies() -> Changes:
    validation = "spec.validations.0"
    yield {"spec.validations": []}
    yield {"spec.validations": [], "spec.auditAnnotations": [{"key": "k", "valueExpression": "'v'"}]}
    yield {"spec.auditAnnotations": [{"key": f"k{i}", "valueExpression": "'v'"} for i in range(21)]}
    yield {"spec.auditAnnotations": [{"key": f"k{i}", "valueExpression": "'v'"} for i in range(20)]}
    yield {"spec.auditAnnotations": [{"key": "k", "valueExpression": "'v'"}] * 2}
    yield {"spec.auditAnnotations": [{"key": "k", "valueExpression": " "}, {"key": "a b", "valueExpression": "1"}]}
    yield {"metadata": {"generateName": "p-"}, "spec.auditAnnotations": [{"key": "k", "valueExpression": "'v'"}]}
    yield {"metadata": {}, "spec.auditAnnotations": [{"key": "k", "valueExpression": "'v'"}]}
    yield from _each(f"{validation}.message", (" ", "a\nb", "a\rb", "a\n", "\na", "a"))
    yield from _each(
        f"{validation}.messageExpression", (" ", "'a'", "1", "authorizer.path('/').check('get').allowed() ? 'a' : 'b'")
    )
    yield from _each(f"{validation}.expression", ("", " ", "1", "true &&"))
    yield from _each(f"{validation}.reason", ("Forbidden", "Unauthorized", "X", "", "Invalid", "RequestEntityTooLarge"))
    for version in ("", "v1", "a/v1", "a/b/c", "a/", "/v1", "A b/v1", "a/V1", "a b"):
        yield {"spec.paramKind": {"apiVersion": version, "kind": "K"}}
    yield from ({"spec.paramKind": {"apiVersion": "v1", "kind": kind}} for kind in ("", "k", "A b", "1K"))
    rule = "spec.matchConstraints.resourceRules.0"
    yield from _each(f"{rule}.resourceNames", (["a", "a"], ["a", "A b"], [""], ["a"]))
    yield from _each(f"{rule}.resources", (["*", "pods"], ["pods/*", "pods/status"], ["*/*", "a"]))
    yield from _each("spec.matchConstraints", ({}, {"resourceRules": []}))
    for condition in ([("a", "true"), ("a", "true")], [("", "true")], [("a b", "true")], [("a", "")], [("a", "1")]):
        yield {"spec.matchConditions": [{"name": name, "expression": expression} for name, expression in condition]}
    for variable in (
        [("a", "1"), ("a", "2")],
        [("", "1")],
        [("a-b", "1")],
        [("a", "")],
        [("a", "variables.a")],
        [("a", "x")],
    ):
        yield {"spec.variables": [{"name": name, "expression": expression} for name, expression in variable]}


def _bindings() -> Changes:
    yield from _each("spec.validationActions", (
        [], ["Deny"], ["Warn", "Audit"], ["Deny", "Warn"], ["Deny", "Deny"], ["X"], ["Deny", "Audit", "Warn", "X"],
    ))  # fmt: skip
    yield from _each("spec.policyName", ("", "A b", "p.q"))
    for ref in (
        {"name": "a"}, {"selector": {}}, {"name": "a", "selector": {}}, {"namespace": "n"}, {"name": "A b"},
        {"name": "a", "namespace": "A b"},
    ):  # fmt: skip
        yield from ({"spec.paramRef": {**ref, **more}} for more in (
            {}, {"parameterNotFoundAction": "Deny"}, {"parameterNotFoundAction": "X"},
        ))  # fmt: skip


def _api_services() -> Changes:
    yield {"spec.service": None, "spec.caBundle": "YQ==", "spec.insecureSkipTLSVerify": False}
    yield {"spec.service": None, "spec.insecureSkipTLSVerify": True}
    yield {"spec.insecureSkipTLSVerify": True, "spec.caBundle": "YQ=="}
    for key, values in (("groupPriorityMinimum", (-1, 0, 20_000, 20_001)), ("versionPriority", (-1, 0, 1_000, 1_001))):
        yield from _each(f"spec.{key}", values)
    yield from _each("spec.version", ("", "v2", "A b"))
    yield from _each("spec.group", ("", "other.example.com"))
    yield from _each("spec.service.port", (0, 1, 65_536))


def _limit_ranges() -> Changes:
    def item(kind: str, **amounts: str) -> dict[str, Any]:
        return {"spec.limits": [{"type": kind, **{key: {"cpu": value} for key, value in amounts.items()}}]}

    for amounts in (
        {"min": "2", "max": "1"}, {"min": "1", "max": "1"}, {"default": "1", "max": "1"}, {"default": "2", "max": "1"},
        {"default": "1", "min": "2"}, {"defaultRequest": "2", "max": "1"}, {"defaultRequest": "1", "min": "2"},
        {"defaultRequest": "2", "default": "1"}, {"min": "1", "max": "2", "default": "1", "defaultRequest": "2"}, {"min": "-1"},
        {"maxLimitRequestRatio": "2"}, {"maxLimitRequestRatio": "500m"}, {"min": "1", "max": "2", "maxLimitRequestRatio": "2"},
        {"min": "1", "max": "2", "maxLimitRequestRatio": "2001m"}, {"maxLimitRequestRatio": "1", "max": "1", "min": "1"},
    ):  # fmt: skip
        yield from (item(kind, **amounts) for kind in ("Container", "Pod"))
    for amounts in ({}, {"min": "1Gi"}, {"max": "1Gi"}, {"default": "1Gi"}, {"min": "2Gi", "max": "1Gi"}):
        yield {"spec.limits": [{"type": "PersistentVolumeClaim", **{k: {"storage": v} for k, v in amounts.items()}}]}
    yield {"spec.limits": [{"type": "Container", "max": {"cpu": "1"}}] * 2}
    yield {"spec.limits": [{"type": "example.com/x", "max": {"cpu": "1"}}, {"type": "X", "max": {"cpu": "1"}}]}
    for resource, values in (
        ("example.com/x", ("1", "2", "1500m")),
        ("hugepages-2Mi", ("2Mi", "4Mi", "3")),
        ("memory", ("100m",)),
    ):
        for value in values:
            yield {
                "spec.limits": [
                    {"type": "Container", "default": {resource: value}, "defaultRequest": {resource: values[0]}}
                ]
            }


def _stateful_sets() -> Changes:
    yield from _each("spec.updateStrategy", (
        {"type": "OnDelete", "rollingUpdate": {"partition": 1}}, {"type": "RollingUpdate", "rollingUpdate": {"partition": -1}},
        {"type": "X"}, {"rollingUpdate": {"maxUnavailable": 0}}, {"rollingUpdate": {"maxUnavailable": "101%"}},
    ))  # fmt: skip


def _deployments() -> Changes:
    for surge, unavailable in ((0, 0), ("0%", "0%"), (0, 1), (1, 0), ("101%", 0), (0, "101%"), ("x", 0), (-1, 1)):
        yield {"spec.strategy": {"rollingUpdate": {"maxSurge": surge, "maxUnavailable": unavailable}}}
    yield {"spec.strategy": {"type": "Recreate", "rollingUpdate": {}}}
    yield {"spec.template.metadata.annotations": {"pod.beta.kubernetes.io/init-containers": "x"}}
    yield from (
        {"spec.minReadySeconds": ready, "spec.progressDeadlineSeconds": deadline}
        for ready, deadline in ((5, 5), (6, 5), (5, 6))
    )


def _config_maps() -> Changes:
    yield {"data": {"k": ""}, "binaryData": {"k": ""}}
    yield {"data": {"k": ""}, "binaryData": {"l": "YQ=="}}
    yield {"data": {"a b": "", "..": "", "k" * 254: ""}}
    yield {"binaryData": {"a b": "", ".": ""}}


def _autoscalers() -> Changes:
    metric = "spec.metrics.0.resource.target"
    yield from _each(metric, (
        {"type": "Utilization", "averageUtilization": 50, "averageValue": "1"}, {"type": "AverageValue", "averageValue": "1"},
        {"type": "Utilization"}, {"type": "Value", "value": "1"}, {"type": "X", "averageUtilization": 1},
        {"type": "Utilization", "averageUtilization": 0},
    ))  # fmt: skip
    yield {"spec.metrics.0.type": "Pods"}
    yield {"spec.metrics.0.type": "X"}
    yield {"spec.metrics.0.external": {"metric": {"name": "m"}, "target": {"type": "Value", "value": "1"}}}
    for target in (
        {"type": "Value", "value": "1", "averageValue": "1"}, {"type": "AverageValue", "averageValue": "1"}, {"type": "Value"},
        {"type": "Value", "value": "0"}, {"type": "Value", "averageUtilization": 1},
    ):  # fmt: skip
        yield {"spec.metrics.0": {"type": "External", "external": {"metric": {"name": "m"}, "target": target}}}
        described = {"kind": "Service", "name": "s", "apiVersion": "v1"}
        yield {
            "spec.metrics.0": {
                "type": "Object",
                "object": {"describedObject": described, "metric": {"name": "m"}, "target": target},
            }
        }
        yield {"spec.metrics.0": {"type": "Pods", "pods": {"metric": {"name": "m"}, "target": target}}}
    yield from (
        {"spec.minReplicas": least, "spec.maxReplicas": most} for least, most in ((2, 1), (1, 1), (0, 1), (1, 0))
    )
    yield from _each("spec.behavior.scaleDown", (
        {"policies": []}, {"policies": [{"type": "Pods", "value": 0, "periodSeconds": 1}]}, {"selectPolicy": "X"},
        {"policies": [{"type": "X", "value": 1, "periodSeconds": 1801}]}, {"stabilizationWindowSeconds": 3601}, {"tolerance": "-1"},
    ))  # fmt: skip


def _jobs() -> Changes:
    indexed = {"spec.completionMode": "Indexed", "spec.completions": 5, "spec.parallelism": 2}
    yield {"spec.completionMode": "Indexed"}
    yield {**indexed, "metadata.name": "n" * 62}
    yield {**indexed, "spec.parallelism": 100_001}
    for completions, parallelism, most in (
        (100_001, 10_001, None), (100_001, 1, 100_001), (100_001, 10_001, 1), (100_000, 10_000, 10_001), (100_001, 10_000, 10_000),
    ):  # fmt: skip
        yield {
            "spec.completionMode": "Indexed", "spec.completions": completions, "spec.parallelism": parallelism,
            "spec.backoffLimitPerIndex": 1,
            **({} if most is None else {"spec.maxFailedIndexes": most}),
        }  # fmt: skip
    yield {"spec.backoffLimitPerIndex": 1}
    yield {**indexed, "spec.maxFailedIndexes": 1}
    yield {**indexed, "spec.backoffLimitPerIndex": 1, "spec.maxFailedIndexes": 6}
    for rules in (
        [], [{}], [{"succeededIndexes": "0-2-3"}], [{"succeededIndexes": "3-1"}], [{"succeededIndexes": "0,5"}],
        [{"succeededIndexes": "x"}],
        [{"succeededIndexes": "1,1"}], [{"succeededIndexes": "0-2", "succeededCount": 4}], [{"succeededCount": 6}], [{"succeededCount": 0}],
        [{"succeededIndexes": "0-2", "succeededCount": 3}], [{"succeededIndexes": "2,1"}], [{"succeededIndexes": "-1"}],
    ):  # fmt: skip
        yield {**indexed, "spec.successPolicy": {"rules": rules}}
    yield {"spec.successPolicy": {"rules": [{"succeededCount": 1}]}}
    codes, conditions = {"operator": "In", "values": [1]}, [{"type": "DisruptionTarget", "status": "True"}]
    for rule in (
        {"action": "FailJob", "onExitCodes": codes, "onPodConditions": conditions}, {"action": "FailJob"},
        {"action": "X", "onExitCodes": codes},
        {"action": "FailIndex", "onExitCodes": codes}, {"action": "Ignore", "onExitCodes": {**codes, "values": [0, 1]}},
        {"action": "Ignore", "onExitCodes": {**codes, "values": []}}, {"action": "Ignore", "onExitCodes": {**codes, "values": [2, 1]}},
        {"action": "Ignore", "onExitCodes": {**codes, "values": [1, 1]}}, {"action": "Ignore", "onExitCodes": {**codes, "operator": "X"}},
        {"action": "Ignore", "onExitCodes": {**codes, "operator": "NotIn", "values": [0]}},
        {"action": "Ignore", "onExitCodes": {**codes, "containerName": "nobody"}},
        {"action": "Count", "onPodConditions": [{"type": "", "status": "X"}]},
    ):  # fmt: skip
        yield {"spec.podFailurePolicy": {"rules": [rule]}}
    yield {"spec.podFailurePolicy": {"rules": []}, "spec.template.spec.restartPolicy": "OnFailure"}
    yield {"spec.podFailurePolicy": {"rules": []}, "spec.podReplacementPolicy": "TerminatingOrFailed"}
    yield {"spec.manualSelector": True}
    yield {"spec.selector": {"matchLabels": {"a": "b"}}}
    yield {"spec.template.spec.restartPolicy": "Always"}


def _cron_jobs() -> Changes:
    yield from ({"spec.schedule": schedule, "spec.timeZone": zone} for schedule, zone in (
        ("TZ=UTC * * * * *", "Europe/Rome"), ("CRON_TZ=UTC * * * * *", "Etc/UTC"), ("* * * * *", ""), ("* * * * *", "local"),
        ("* * * * *", "Europe/Nowhere"), ("* * * * *", "/etc"), ("* * * * *", "Europe/Rome"), ("x", "Etc/UTC"),
    ))  # fmt: skip
    yield {"spec.schedule": "TZ=UTC * * * * *"}
    yield {"spec.jobTemplate.spec.selector": {"matchLabels": {"a": "b"}}}
    yield {"spec.jobTemplate.spec.manualSelector": True}
    yield from _each("metadata.name", ("n" * 52, "n" * 53, "A b", "a.b"))


_PODS: Object = {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "c", "image": "i"}]}}
_OF_PODS: Object = {"selector": {"matchLabels": {"a": "b"}}, "template": _PODS}
_FINISHED: Object = {"spec": {**_PODS["spec"], "restartPolicy": "Never"}}
_RULE: Object = {"verbs": ["get"], "apiGroups": ["a"], "resources": ["a"], "namespaces": ["a"]}
_MATCHED: Object = {"operations": ["CREATE"], "apiGroups": ["a"], "apiVersions": ["v1"], "resources": ["a"]}
_LIMITED: Object = {"limitResponse": {"type": "Queue", "queuing": {"queues": 8, "handSize": 2, "queueLengthLimit": 1}}}
_SERVICE: Object = {"name": "s", "namespace": "n"}
_HOOK: Object = {
    "name": "a.example.com", "clientConfig": {"service": _SERVICE},
    "rules": [_MATCHED], "sideEffects": "None", "admissionReviewVersions": ["v1"],
}  # fmt: skip

_KINDS: tuple[tuple[str, Object, Any], ...] = (
    (
        "flowcontrol.apiserver.k8s.io/v1/flowschemas",
        {"spec": {
            "priorityLevelConfiguration": {"name": "exempt"}, "matchingPrecedence": 5,
            "rules": [{"subjects": [{"kind": "Group", "group": {"name": "g"}}], "resourceRules": [_RULE]}],
        }},
        _flow_schemas,
    ),
    ("flowcontrol.apiserver.k8s.io/v1/prioritylevelconfigurations", {"spec": {"type": "Limited", "limited": _LIMITED}}, _priority_levels),
    (
        "networking.k8s.io/v1/namespaces/{ns}/networkpolicies",
        {"spec": {"podSelector": {}, "ingress": [{"ports": [{}]}], "egress": [{"to": [{"podSelector": {}}]}]}},
        _network_policies,
    ),
    ("admissionregistration.k8s.io/v1/validatingwebhookconfigurations", {"webhooks": [_HOOK]}, _webhooks),
    (
        "admissionregistration.k8s.io/v1/validatingadmissionpolicies",
        {"spec": {"matchConstraints": {"resourceRules": [_MATCHED]}, "validations": [{"expression": "true"}]}},
        _policies,
    ),
    (
        "admissionregistration.k8s.io/v1/validatingadmissionpolicybindings",
        {"spec": {"policyName": "p", "validationActions": ["Deny"]}},
        _bindings,
    ),
    (
        "apiregistration.k8s.io/v1/apiservices",
        {"metadata": {"name": "v1.example.com"}, "spec": {
            "group": "example.com", "version": "v1", "groupPriorityMinimum": 1, "versionPriority": 1, "service": _SERVICE,
        }},
        _api_services,
    ),
    ("v1/namespaces/{ns}/limitranges", {"spec": {}}, _limit_ranges),
    ("v1/namespaces/{ns}/configmaps", {}, _config_maps),
    ("apps/v1/namespaces/{ns}/statefulsets", {"spec": {"serviceName": "s", **_OF_PODS}}, _stateful_sets),
    ("apps/v1/namespaces/{ns}/deployments", {"spec": _OF_PODS}, _deployments),
    (
        "autoscaling/v2/namespaces/{ns}/horizontalpodautoscalers",
        {"spec": {
            "maxReplicas": 3, "scaleTargetRef": {"kind": "Deployment", "name": "d", "apiVersion": "apps/v1"},
            "metrics": [{"type": "Resource", "resource": {"name": "cpu", "target": {"type": "Utilization", "averageUtilization": 5}}}],
        }},
        _autoscalers,
    ),
    ("batch/v1/namespaces/{ns}/jobs", {"spec": {"template": _FINISHED}}, _jobs),
    (
        "batch/v1/namespaces/{ns}/cronjobs",
        {"spec": {"schedule": "* * * * *", "jobTemplate": {"spec": {"template": _FINISHED}}}},
        _cron_jobs,
    ),
)  # fmt: skip
"""Where to, an object that is good, and what may be wrong with it."""


def cases() -> Iterator[Case]:
    """One for each kind; of pods several."""
    for name, where, good, changes in (
        *((where.rpartition("/")[2], where, *rest) for where, *rest in _KINDS),
        *pod_rules.KINDS,
    ):
        collection = f"/api/{where}" if where.startswith("v1/") else f"/apis/{where}"
        named = {"metadata": {"name": "x"}, **good}
        bodies = [named, _changed(named, {"metadata.name": "A b"}), *(_changed(named, each) for each in changes())]
        yield Case(tuple(Step("POST", f"{collection}?dryRun=All", body) for body in bodies), name=name)
