"""Access reviews: asking the authorizers without doing anything.

`kubectl auth can-i` posts a `SelfSubjectAccessReview`; extension servers ask about
others with a `SubjectAccessReview`. Nothing is stored: the answer is the posted object
with a status.

Upstream: `pkg/registry/authorization/subjectaccessreview/rest.go` and its three
siblings, `pkg/apis/authorization/validation/validation.go`, v1.36.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import partial

from lifecycle.api.field_errors import (
    FieldError,
    invalid,
    invalid_object,
    required,
)
from lifecycle.api.http.wire import ANONYMOUS, Object, Request, UserInfo
from lifecycle.api.loop.pauses import Pauses
from lifecycle.api.loop.worker import beside, size_of
from lifecycle.api.schema.internal_types import internal_value
from lifecycle.api.status import bad_request
from lifecycle.apiserver.authz.access_review_spec import (
    request_info_from,
    selector_problems,
    user_from,
)
from lifecycle.apiserver.authz.authorizer import Authorizer, Decision, decide
from lifecycle.apiserver.authz.union import aggregate
from lifecycle.apiserver.registry.admission import Validate
from lifecycle.apiserver.registry.metadata import in_go_order
from lifecycle.apiserver.registry.rest.label_selectors import validate_requirement

GROUP = "authorization.k8s.io"

Review = Callable[[Request, Object, Validate], Awaitable[Object]]
"""A virtual resource's create: the request, the posted object and what admission says
of it in, the answer out. Raises StatusError.
"""


class AccessReviews:
    """The four reviews over one authorizer."""

    def __init__(self, authorizer: Authorizer) -> None:
        self._authorizer = authorizer

    def virtual_resources(self) -> dict[tuple[str, str], Review]:
        """Which function serves which (group, plural)."""
        return {
            (GROUP, "subjectaccessreviews"): self.subject,
            (GROUP, "localsubjectaccessreviews"): self.local_subject,
            (GROUP, "selfsubjectaccessreviews"): self.self_subject,
            (GROUP, "selfsubjectrulesreviews"): self.self_rules,
        }

    async def subject(
        self, request: Request, obj: Object, validate: Validate
    ) -> Object:
        """May some user do something?"""
        spec = obj.get("spec") or {}
        errors = await _errors(spec, named=True) + _metadata_errors(obj)
        return await self._answer(obj, user_from(spec), errors, validate)

    async def local_subject(
        self, request: Request, obj: Object, validate: Validate
    ) -> Object:
        """The same, within one namespace."""
        spec = obj.get("spec") or {}
        namespace = request.info.namespace if request.info else ""
        errors = await _errors(spec, named=True) + _metadata_errors(obj, ("namespace",))
        what = spec.get("resourceAttributes")
        if what is not None and what.get("namespace", "") != namespace:
            message = "must match metadata.namespace"
            errors.append(
                invalid(
                    "spec.resourceAttributes.namespace",
                    what.get("namespace", ""),
                    message,
                )
            )
        if spec.get("nonResourceAttributes") is not None:
            message = "disallowed on this kind of request"
            errors.append(
                invalid(
                    "spec.nonResourceAttributes",
                    _internal_attributes(spec["nonResourceAttributes"]),
                    message,
                )
            )
        return await self._answer(obj, user_from(spec), errors, validate)

    async def self_subject(
        self, request: Request, obj: Object, validate: Validate
    ) -> Object:
        """May I do something?"""
        errors = await _errors(obj.get("spec") or {}) + _metadata_errors(obj)
        return await self._answer(obj, request.user or ANONYMOUS, errors, validate)

    async def self_rules(
        self, request: Request, obj: Object, validate: Validate
    ) -> Object:
        """What may I do in a namespace? The answer is a new object, without the spec
        that asked.
        """
        namespace = (obj.get("spec") or {}).get("namespace", "")
        if not namespace:
            raise bad_request("no namespace on request")
        await validate(obj, None)
        await Pauses().pause()  # who has many rules may ask many times at once
        rules = self._authorizer.rules_for(request.user or ANONYMOUS, namespace)
        status: Object = {
            "resourceRules": rules.resource_rules,
            "nonResourceRules": rules.non_resource_rules,
            "incomplete": rules.incomplete,
        }
        if rules.errors:
            status["evaluationError"] = aggregate(rules.errors)
        return {
            "kind": "SelfSubjectRulesReview",
            "apiVersion": obj.get("apiVersion", f"{GROUP}/v1"),
            "metadata": {},
            "spec": {},
            "status": status,
        }

    async def _answer(
        self,
        obj: Object,
        user: UserInfo,
        errors: list[FieldError],
        validate: Validate,
    ) -> Object:
        if errors:
            raise invalid_object(
                "", GROUP, "", errors
            )  # upstream names the kind of the internal object, which has none
        await validate(obj, None)
        spec = obj["spec"]
        info = await beside(size_of(spec), request_info_from, spec)
        verdict = await decide(self._authorizer.authorize, user, info)
        status: Object = {"allowed": verdict.allowed}
        if verdict.decision is Decision.DENY:
            status["denied"] = True
        if verdict.reason:
            status["reason"] = verdict.reason
        problems = await beside(size_of(spec), selector_problems, spec)
        if verdict.error or problems:
            said = [verdict.error] if verdict.error else []
            status["evaluationError"] = "; ".join((*said, *problems))
        return {**obj, "metadata": obj.get("metadata") or {}, "status": status}


async def _errors(spec: Object, *, named: bool = False) -> list[FieldError]:
    return await beside(size_of(spec), partial(_spec_errors, spec, named=named))


def _spec_errors(spec: Object, *, named: bool = False) -> list[FieldError]:
    """`named`: it says whom it asks about."""
    resource, path = spec.get("resourceAttributes"), spec.get("nonResourceAttributes")
    errors: list[FieldError] = []
    if resource is not None and path is not None:
        message = "cannot be specified in combination with resourceAttributes"
        shown = _internal_attributes(path)
        errors.append(invalid("spec.nonResourceAttributes", shown, message))
    if resource is None and path is None:
        message = (
            "exactly one of nonResourceAttributes or resourceAttributes must be"
            " specified"
        )
        errors.append(invalid("spec.resourceAttributes", None, message))
    if named:
        errors += _user_errors(spec)
    for key in ("fieldSelector", "labelSelector"):
        selector = (resource or {}).get(key)
        if selector is not None:
            errors += _selector_errors(selector, f"spec.resourceAttributes.{key}")
    return errors


def _selector_errors(selector: Object, path: str) -> list[FieldError]:
    errors: list[FieldError] = []
    raw, requirements = selector.get("rawSelector"), selector.get("requirements") or ()
    if raw and requirements:
        why = "may not specified at the same time as requirements"
        errors.append(invalid(f"{path}.rawSelector", raw, why))
    if not raw and not requirements:
        why = f"when {path} is specified, requirements or rawSelector is required"
        errors.append(required(f"{path}.requirements", why))
    for index, requirement in enumerate(requirements):
        errors += _requirement_errors(requirement, f"{path}.requirements[{index}]")
    return errors


def _requirement_errors(requirement: Object, path: str) -> list[FieldError]:
    """Operators nobody knows pass: a newer client may know them. Upstream:
    `ValidateLabelSelectorRequirement`, `ValidateFieldSelectorRequirement`.
    """
    errors = [
        error
        for error in validate_requirement(requirement, path)
        if error.field != f"{path}.operator"
    ]
    if ".labelSelector." in path:
        return errors
    about_values = [error for error in errors if error.field == f"{path}.values"]
    if requirement.get("key"):
        return about_values
    return [required(f"{path}.key", "must be specified"), *about_values]


def _internal_attributes(attributes: Object) -> Object:
    return dict(internal_value("authorization/v1.NonResourceAttributes", attributes))


def _user_errors(spec: Object) -> list[FieldError]:
    if spec.get("user") or spec.get("groups"):
        return []
    return [invalid("spec.user", "", "at least one of user or group must be specified")]


def _metadata_errors(obj: Object, allowed: tuple[str, ...] = ()) -> list[FieldError]:
    meta = {key: value for key, value in (obj.get("metadata") or {}).items() if value}
    if set(meta) <= {"managedFields", "creationTimestamp", *allowed}:
        return []
    but = f" except for {allowed[0]}" if allowed else ""
    return [invalid("metadata", in_go_order(meta), f"must be empty{but}")]
