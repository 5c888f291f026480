"""Defaults of the smaller groups: RBAC, networking, storage, discovery, scheduling,
admission, custom resources, flow control.

Upstream:
`pkg/apis/{rbac,networking,storage,scheduling,discovery,admissionregistration,flowcontrol,authentication}/v1/defaults.go`,
`apiextensions-apiserver/pkg/apis/apiextensions/v1/defaults.go`,
`kube-aggregator/pkg/apis/apiregistration/v1/defaults.go`, v1.36.
"""

from __future__ import annotations

from typing import Any

from lifecycle.api.wire import Object

RBAC_GROUP = "rbac.authorization.k8s.io"


def _default(holder: Object, key: str, value: Any) -> None:
    if holder.get(key) is None:
        holder[key] = value


def set_binding_defaults(binding: Object) -> None:
    """The group of the role, and of users and groups."""
    role = binding.setdefault("roleRef", {})
    if not role.get("apiGroup"):
        role["apiGroup"] = RBAC_GROUP
    for subject in binding.get("subjects") or ():
        if not subject.get("apiGroup") and subject.get("kind") in ("User", "Group"):
            subject["apiGroup"] = RBAC_GROUP


def set_ingress_class_defaults(ingress_class: Object) -> None:
    """Parameters are cluster-wide unless they say otherwise."""
    parameters = (ingress_class.get("spec") or {}).get("parameters")
    if parameters is not None:
        _default(parameters, "scope", "Cluster")


def set_network_policy_defaults(policy: Object) -> None:
    """TCP ports; a policy is about Ingress, and about Egress if it has such rules."""
    spec = policy.setdefault("spec", {})
    for rules in ("ingress", "egress"):
        for rule in spec.get(rules) or ():
            for port in rule.get("ports") or ():
                _default(port, "protocol", "TCP")
    if not spec.get("policyTypes"):
        spec["policyTypes"] = (
            ["Ingress", "Egress"] if spec.get("egress") else ["Ingress"]
        )


def set_storage_class_defaults(storage_class: Object) -> None:
    """Volumes are deleted with their claims and bound at once."""
    _default(storage_class, "reclaimPolicy", "Delete")
    _default(storage_class, "volumeBindingMode", "Immediate")


def set_csi_driver_defaults(driver: Object) -> None:
    """What a driver needs unless it says otherwise."""
    spec = driver.setdefault("spec", {})
    for key, value in (
        ("attachRequired", True),
        ("podInfoOnMount", False),
        ("storageCapacity", False),
        ("fsGroupPolicy", "ReadWriteOnceWithFSType"),
        ("requiresRepublish", False),
        ("seLinuxMount", False),
    ):
        _default(spec, key, value)
    if not spec.get("volumeLifecycleModes"):
        spec["volumeLifecycleModes"] = ["Persistent"]


def set_endpoint_slice_defaults(endpoint_slice: Object) -> None:
    """Ports: the empty name, TCP."""
    for port in endpoint_slice.get("ports") or ():
        _default(port, "name", "")
        _default(port, "protocol", "TCP")


def set_priority_class_defaults(priority_class: Object) -> None:
    """Pods of the class may preempt."""
    _default(priority_class, "preemptionPolicy", "PreemptLowerPriority")


def _set_service_reference_defaults(config: Object | None) -> None:
    service = (config or {}).get("service")
    if service is not None:
        _default(service, "port", 443)


def set_webhook_configuration_defaults(configuration: Object) -> None:
    """Fail closed, match equivalent requests, every namespace and object, ten
    seconds.
    """
    mutating = configuration.get("kind") == "MutatingWebhookConfiguration"
    for webhook in configuration.get("webhooks") or ():
        _set_service_reference_defaults(webhook.get("clientConfig"))
        _default(webhook, "failurePolicy", "Fail")
        _default(webhook, "matchPolicy", "Equivalent")
        _default(webhook, "namespaceSelector", {})
        _default(webhook, "objectSelector", {})
        _default(webhook, "timeoutSeconds", 10)
        if mutating:
            _default(webhook, "reinvocationPolicy", "Never")
        for rule in webhook.get("rules") or ():
            _default(rule, "scope", "*")


def _set_match_resources_defaults(match: Object | None) -> None:
    if match is None:
        return
    _default(match, "matchPolicy", "Equivalent")
    _default(match, "namespaceSelector", {})
    _default(match, "objectSelector", {})
    for key in ("resourceRules", "excludeResourceRules"):
        for rule in match.get(key) or ():
            _default(rule, "scope", "*")


def set_admission_policy_defaults(policy: Object) -> None:
    """Fail closed; match equivalent requests everywhere."""
    spec = policy.setdefault("spec", {})
    _default(spec, "failurePolicy", "Fail")
    _set_match_resources_defaults(spec.get("matchConstraints"))


def set_admission_policy_binding_defaults(binding: Object) -> None:
    """The same for the resources of a binding."""
    _set_match_resources_defaults((binding.get("spec") or {}).get("matchResources"))


def set_custom_resource_definition_defaults(definition: Object) -> None:
    """Names from the kind, no conversion, the storage version remembered."""
    spec = definition.setdefault("spec", {})
    names = spec.setdefault("names", {})
    kind = names.get("kind", "")
    if not names.get("singular"):
        names["singular"] = kind.lower()
    if not names.get("listKind") and kind:
        names["listKind"] = f"{kind}List"
    if spec.get("conversion") is None:
        spec["conversion"] = {"strategy": "None"}
    webhook = spec["conversion"].get("webhook")
    if webhook:
        _set_service_reference_defaults(webhook.get("clientConfig"))
    status = definition.setdefault("status", {})
    if not status.get("storedVersions"):
        stored = [
            version.get("name", "")
            for version in spec.get("versions") or ()
            if version.get("storage")
        ]
        status["storedVersions"] = stored[:1] or None


def set_api_service_defaults(service: Object) -> None:
    """Port 443."""
    _set_service_reference_defaults(service.get("spec"))


def set_flow_schema_defaults(schema: Object) -> None:
    """Precedence 1000."""
    spec = schema.setdefault("spec", {})
    if not spec.get("matchingPrecedence"):
        spec["matchingPrecedence"] = 1000


def set_priority_level_defaults(level: Object) -> None:
    """Shares and queues."""
    spec = level.setdefault("spec", {})
    exempt, limited = spec.get("exempt"), spec.get("limited")
    if exempt is not None:
        _default(exempt, "nominalConcurrencyShares", 0)
        _default(exempt, "lendablePercent", 0)
    if limited is not None:
        _default(limited, "nominalConcurrencyShares", 30)
        _default(limited, "lendablePercent", 0)
        queuing = (limited.get("limitResponse") or {}).get("queuing")
        if queuing is not None:
            for key, value in (
                ("handSize", 8),
                ("queues", 64),
                ("queueLengthLimit", 50),
            ):
                if not queuing.get(key):
                    queuing[key] = value


def set_token_request_defaults(request: Object) -> None:
    """An hour."""
    _default(request.setdefault("spec", {}), "expirationSeconds", 3600)
