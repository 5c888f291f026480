"""Whom a webhook or a policy is about: rules, and selectors on labels of the object and
of its namespace.

A rule names groups, versions, resources and operations. A request for the same thing
under another group (an Event is served under two) matches as well where `matchPolicy`
is Equivalent; the webhook is then shown the object as its rule knows it.

Upstream: `apiserver/pkg/admission/plugin/webhook/predicates/{rules,namespace,object}`,
`plugin/policy/matching/matching.go` (`Matcher.Matches`),
`plugin/webhook/generic/webhook.go` (`Webhook.ShouldCallHook`), v1.36.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import NamedTuple

from lifecycle.api.http.wire import Object
from lifecycle.api.labels import selector_from_label_selector
from lifecycle.api.resources import Resource, all_resources, resource
from lifecycle.api.status import not_found
from lifecycle.apiserver.admission.attributes import CREATE, UPDATE, Attributes
from lifecycle.apiserver.apis.autoscaler_versions import (
    AUTOSCALING_V1,
    AUTOSCALING_V2,
    to_v1,
    to_v2,
)
from lifecycle.apiserver.apis.event_versions import CORE, EVENTS, from_core, to_core
from lifecycle.apiserver.storage.object_reader import ObjectReader

GROUP = "admissionregistration.k8s.io"
EXEMPT = frozenset(
    {
        "validatingwebhookconfigurations",
        "mutatingwebhookconfigurations",
        "validatingadmissionpolicies",
        "validatingadmissionpolicybindings",
        "mutatingadmissionpolicies",
        "mutatingadmissionpolicybindings",
    }
)
"""Resources that no webhook and no policy sees: nobody can lock themselves out of
repairing what they have configured.
"""


def admission_configuration() -> list[Resource]:
    """The resources that webhooks and policies are configured with."""
    return [resource(f"{plural}.{GROUP}") for plural in sorted(EXEMPT)]


def is_exempt(row: Resource) -> bool:
    """Whether a resource configures admission itself. Upstream:
    `IsExemptAdmissionConfigurationResource`.
    """
    return row.group == GROUP and row.plural in EXEMPT


ANSWERS = frozenset(
    {
        ("authentication.k8s.io", "selfsubjectreviews"),
        ("authentication.k8s.io", "tokenreviews"),
        ("authorization.k8s.io", "localsubjectaccessreviews"),
        ("authorization.k8s.io", "selfsubjectaccessreviews"),
        ("authorization.k8s.io", "selfsubjectrulesreviews"),
        ("authorization.k8s.io", "subjectaccessreviews"),
    }
)
"""Questions that are answered and not stored. A cluster whose components cannot ask who
somebody is, or what they may, is broken; so no policy has a say in them, webhooks have.
Upstream: `pkg/kubeapiserver/admission/exclusion/resources.go` (`excluded`).
"""


def is_excluded_from_policies(row: Resource) -> bool:
    """Whether no policy sees a resource."""
    return is_exempt(row) or (row.group, row.plural) in ANSWERS


class Match(NamedTuple):
    """What the rule that matched knows the request's resource as."""

    resource: Resource


_CONVERSIONS: dict[str, dict[str, Callable[[Object], Object]]] = {
    "events": {CORE: to_core, EVENTS: from_core},
    "horizontalpodautoscalers": {AUTOSCALING_V1: to_v1, AUTOSCALING_V2: to_v2},
}
"""What is served under two names, and how it gets from one to the other."""


@lru_cache(1024)
def equivalents(row: Resource) -> tuple[Resource, ...]:
    """Other rows that serve the same objects, this one left out. Upstream:
    `EquivalentResourceMapper`.
    """
    if row.plural not in _CONVERSIONS:
        return ()
    return tuple(
        other
        for other in all_resources()
        if other.plural == row.plural and other is not row
    )


def converted(obj: Object | None, row: Resource) -> Object | None:
    """The object as another row's version has it."""
    conversions = _CONVERSIONS.get(row.plural)
    if obj is None or obj.get("apiVersion") == row.api_version or conversions is None:
        return obj
    return conversions[row.api_version](obj)


@lru_cache(1024)
def conversions_from(row: Resource) -> dict[str, Callable[[Object], Object]]:
    """How an object of a row gets to the other versions that it is served in."""
    conversions = _CONVERSIONS.get(row.plural, {})
    return {
        other.api_version: conversions[other.api_version] for other in equivalents(row)
    }


def _exact_or_wildcard(items: Sequence[str], requested: str) -> bool:
    return "*" in items or requested in items


def rule_matches(rule: Object, attributes: Attributes, row: Resource) -> bool:
    """Whether a `RuleWithOperations` is about a request, its resource being `row`."""
    if not _exact_or_wildcard(rule.get("operations") or (), attributes.operation):
        return False
    if not _exact_or_wildcard(
        rule.get("apiGroups") or (), row.group
    ) or not _exact_or_wildcard(rule.get("apiVersions") or (), row.version):
        return False
    scope = rule.get("scope") or "*"
    if scope != "*" and (scope == "Namespaced") != (
        row.namespaced and bool(attributes.namespace)
    ):
        return False
    for pattern in rule.get("resources") or ():
        name, _, subresource = pattern.partition("/")
        if name in ("*", row.plural) and subresource in ("*", attributes.subresource):
            return True
    return False


class Matcher:
    """Answers for one server: namespaces come from its caches."""

    def __init__(self, reader: ObjectReader) -> None:
        self._reader = reader
        self._namespaces = resource("namespaces")

    def namespace(self, name: str) -> Object:
        """A namespace. Raises StatusError 404."""
        namespace_obj = self._reader.get(self._namespaces, "", name)
        if namespace_obj is None:
            raise not_found("namespaces", name)
        return namespace_obj

    def selects(self, criteria: Object, attributes: Attributes) -> bool:
        """Whether both selectors let the request through. Raises StatusError 404 for a
        namespace that is not there.
        """
        return self._selects_namespace(criteria, attributes) and _selects_object(
            criteria, attributes
        )

    def _selects_namespace(self, criteria: Object, attributes: Attributes) -> bool:
        selector = selector_from_label_selector(criteria.get("namespaceSelector") or {})
        is_namespace = (
            attributes.resource.plural == "namespaces" and not attributes.resource.group
        )
        if selector.empty or not (attributes.namespace or is_namespace):
            return True
        if (
            is_namespace
            and not attributes.subresource
            and attributes.operation in (CREATE, UPDATE)
        ):
            namespace_obj: Object = attributes.obj or {}
        else:
            namespace_obj = self.namespace(attributes.namespace or attributes.name)
        return selector.matches(namespace_obj.get("metadata", {}).get("labels"))

    def rules(self, criteria: Object, attributes: Attributes, key: str) -> Match | None:
        """The resource that one of the rules under `key` knows the request by.
        Upstream: `matchesResourceRules`.
        """
        rules = criteria.get(key) or ()
        rows = (
            attributes.resource,
            *(
                equivalents(attributes.resource)
                if criteria.get("matchPolicy") != "Exact"
                else ()
            ),
        )
        for row in rows:
            for rule in rules:
                names = rule.get("resourceNames") or ()
                if rule_matches(rule, attributes, row) and (
                    not names or attributes.name in names
                ):
                    return Match(row)
        return None

    def webhook(self, hook: Object, attributes: Attributes) -> Match | None:
        """Whether a webhook is to be called, match conditions apart."""
        match = self.rules(hook, attributes, "rules")
        return match if match is not None and self.selects(hook, attributes) else None

    def resources(self, criteria: Object, attributes: Attributes) -> Match | None:
        """Whether `matchConstraints` or `matchResources` let the request through."""
        if self.rules(criteria, attributes, "excludeResourceRules") is not None:
            return None
        rules = criteria.get("resourceRules")
        match = (
            self.rules(criteria, attributes, "resourceRules")
            if rules
            else Match(attributes.resource)
        )
        return (
            match if match is not None and self.selects(criteria, attributes) else None
        )


def _selects_object(criteria: Object, attributes: Attributes) -> bool:
    selector = selector_from_label_selector(criteria.get("objectSelector") or {})
    if selector.empty:
        return True
    objects = (attributes.obj, attributes.old_obj)
    return any(
        obj is not None and selector.matches((obj.get("metadata") or {}).get("labels"))
        for obj in objects
    )
