"""ValidatingAdmissionPolicy: rules that the server itself checks, written in CEL, no
webhook needed.

A policy says what must hold, a binding says where, with which parameters, and what
happens otherwise: refuse, warn, or note it in the audit log. Without a binding a policy
does nothing.

Upstream:
`apiserver/pkg/admission/plugin/policy/validating/{dispatcher,validator,plugin}.go`,
v1.36. Left out: cost budgets, metrics, policies from files.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Iterator, Sequence
from typing import Any, NamedTuple

from lifecycle.api.http.wire import Object
from lifecycle.api.resources import Resource
from lifecycle.api.status import StatusError
from lifecycle.apiserver.admission.attributes import Attributes
from lifecycle.apiserver.admission.chain import Plugin
from lifecycle.apiserver.admission.matching import (
    Match,
    Matcher,
    is_excluded_from_policies,
)
from lifecycle.apiserver.admission.policy_expressions import (
    Composition,
    Evaluation,
    MatchConditions,
)
from lifecycle.apiserver.admission.policy_source import (
    ConfigurationError,
    Hook,
    Params,
    PolicySource,
    params_for,
    refuses_failures,
)
from lifecycle.apiserver.audit.context import annotate
from lifecycle.apiserver.authz.authorizer import Authorize
from lifecycle.apiserver.cel.environment import CompileError, EvaluationError, Program
from lifecycle.apiserver.storage.object_reader import ObjectReader

CODES = {
    "Forbidden": 403,
    "Unauthorized": 401,
    "RequestEntityTooLarge": 413,
    "Invalid": 422,
}
FAILURE = "validation.policy.admission.k8s.io/validation_failure"
MAX_MESSAGE = 5 * 1024
MAX_ANNOTATION = 10 * 1024


class Decision(NamedTuple):
    """One reason to refuse. `number` is the validation's place in the policy."""

    number: int
    message: str
    reason: str = "Invalid"


class Validation(NamedTuple):
    """One compiled validation."""

    spec: Object
    expression: Program
    message: Program | None


class Validator:
    """A compiled policy. Upstream: `validator`."""

    def __init__(self, policy: Object) -> None:
        spec = policy["spec"]
        params = bool(spec.get("paramKind"))
        self.fails = refuses_failures(policy)
        self.composition = Composition(params=params)
        self.problem = ""
        self.conditions = MatchConditions(
            spec.get("matchConditions") or (), params=params
        )
        self.validations: list[Validation] = []
        self.annotations: list[tuple[str, Program]] = []
        try:
            for variable in spec.get("variables") or ():
                self.composition.add(variable["name"], variable["expression"])
            self.validations = [
                self._validation(validation)
                for validation in spec.get("validations") or ()
            ]
            for item in spec.get("auditAnnotations") or ():
                program = self.composition.compile(
                    item["valueExpression"].strip(), ("string", "null_type")
                )
                self.annotations.append((item["key"], program))
        except CompileError as error:  # stored by a server that knew more
            self.problem = f"compilation error: {error}"

    def _validation(self, spec: Object) -> Validation:
        compiled = self.composition.compile(spec["expression"], ("bool",))
        text = spec.get("messageExpression")
        return Validation(
            spec,
            compiled,
            (
                self.composition.compile(text, ("string",), authorizer=False)
                if text
                else None
            ),
        )

    async def decisions(self, evaluation: Evaluation) -> list[Decision]:
        """What speaks against the request. What cannot be evaluated does, under
        failurePolicy Fail.
        """
        if self.problem:
            return self._error(0, self.problem)
        decisions: list[Decision] = []
        for index, validation in enumerate(self.validations):
            try:
                if await evaluation.evaluate(validation.expression) is not True:
                    reason = validation.spec.get("reason") or "Invalid"
                    message = await self._message(validation, evaluation)
                    decisions.append(Decision(index, message, reason))
            except EvaluationError as error:
                decisions += self._error(index, str(error))
        return decisions

    def _error(self, index: int, why: str) -> list[Decision]:
        return [Decision(index, why)] if self.fails else []

    @staticmethod
    async def _message(validation: Validation, evaluation: Evaluation) -> str:
        """`messageExpression` if it gives one line of text, else `message`, else the
        expression.
        """
        if validation.message is not None:
            try:
                text = await evaluation.evaluate(validation.message)
            except EvaluationError:
                text = ""
            if (
                isinstance(text, str)
                and text.strip()
                and "\n" not in text.strip()
                and len(text) <= MAX_MESSAGE
            ):
                return text.strip()
        spec = validation.spec
        return (
            spec.get("message") or ""
        ).strip() or f"failed expression: {spec['expression'].strip()}"

    async def audit(self, evaluation: Evaluation) -> list[tuple[str, str] | Decision]:
        """Annotations for the audit log; a Decision for one that cannot be
        evaluated.
        """
        notes: list[tuple[str, str] | Decision] = []
        for key, program in self.annotations:
            try:
                value = await evaluation.evaluate(program)
            except EvaluationError as error:
                notes += self._error(0, str(error))
                continue
            if isinstance(value, str) and value.strip():
                notes.append((key, value.strip()[:MAX_ANNOTATION]))
        return notes


class ValidatingAdmissionPolicy(Plugin):
    """Evaluates every policy that has a binding for the request."""

    name = "ValidatingAdmissionPolicy"
    subresources = None

    def __init__(
        self, reader: ObjectReader, authorize: Authorize | None = None
    ) -> None:
        self._matcher = Matcher(reader)
        self._authorize = authorize
        self._source: PolicySource[Validator] = PolicySource(
            reader, "validating", Validator
        )

    def configured(self) -> bool:
        """Whether any policy is bound."""
        return bool(self._source.hooks())

    def handles(self, resource: Resource, subresource: str, operation: str) -> bool:
        """Everything but the configuration of admission, and what is only answered."""
        return not is_excluded_from_policies(resource)

    def validate(self, attributes: Attributes) -> Awaitable[None] | None:
        """Raises StatusError for the first reason to refuse."""
        hooks = self._source.hooks()
        return self._dispatch(hooks, attributes) if hooks else None

    async def _dispatch(
        self, hooks: Sequence[Hook[Validator]], attributes: Attributes
    ) -> None:
        denials = [
            denial for hook in hooks for denial in await self._policy(hook, attributes)
        ]
        if denials:
            raise denials[0]

    async def _policy(
        self, hook: Hook[Validator], attributes: Attributes
    ) -> list[StatusError]:
        match = self._matcher.resources(
            hook.policy["spec"].get("matchConstraints") or {}, attributes
        )
        denials: list[StatusError] = []
        if match is None:
            return denials
        try:
            params = await self._source.params_of(hook)
        except ConfigurationError as error:
            if hook.fails:
                why = Decision(0, f"failed to configure policy: {error}")
                denials.append(_denial(attributes, hook, None, why))
            return denials
        validator = await hook.evaluator.get()
        noted: dict[str, list[str]] = {}
        for binding in hook.bindings:
            criteria = binding["spec"].get("matchResources")
            if criteria and self._matcher.resources(criteria, attributes) is None:
                continue
            denials += await self._binding(
                hook, validator, binding, params, match, attributes, noted
            )
        for key, values in noted.items():
            annotate(f"{hook.name}/{key}", ", ".join(values))
        return denials

    async def _binding(
        self,
        hook: Hook[Validator],
        validator: Validator,
        binding: Object,
        params: Params | None,
        match: Match,
        attributes: Attributes,
        noted: dict[str, list[str]],
    ) -> list[StatusError]:
        denials: list[StatusError] = []
        try:
            each = params_for(binding, params, attributes.namespace)
        except ConfigurationError as error:
            if hook.fails:
                why = Decision(0, f"failed to configure binding: {error}")
                denials.append(_denial(attributes, hook, binding, why))
            return denials
        composition = validator.composition
        for evaluation in self._evaluations(each, match, attributes, composition):
            try:
                policy = "Fail" if hook.fails else "Ignore"
                if not validator.problem and not await validator.conditions.match(
                    evaluation, policy
                ):
                    continue
                decisions = await validator.decisions(evaluation)
            except EvaluationError as error:
                decisions = [Decision(0, str(error))]
            for decision in decisions:
                denials += _act(attributes, hook, binding, decision)
            for note in await validator.audit(evaluation):
                if isinstance(note, Decision):
                    denials.append(_denial(attributes, hook, binding, note))
                elif note[1] not in noted.setdefault(note[0], []):
                    noted[note[0]].append(note[1])
        return denials

    def _evaluations(
        self,
        params: Any,
        match: Match,
        attributes: Attributes,
        composition: Composition,
    ) -> Iterator[Evaluation]:
        namespace = None
        if (
            params
            and attributes.namespace
            and attributes.resource.plural != "namespaces"
        ):
            namespace = self._matcher.namespace(attributes.namespace)
        for one in params:
            yield Evaluation(
                attributes, match.resource, namespace=namespace, params=one,
                authorize=self._authorize, composition=composition,
            )  # fmt: skip


def _act(
    attributes: Attributes, hook: Hook[Any], binding: Object, decision: Decision
) -> Iterator[StatusError]:
    """What the binding wants done about it: `validationActions`."""
    name, actions = (
        binding["metadata"]["name"],
        binding["spec"].get("validationActions") or (),
    )
    for action in actions:
        if action == "Deny":
            yield _denial(attributes, hook, binding, decision)
        elif action == "Warn":
            attributes.warnings.append(
                f"Validation failed for ValidatingAdmissionPolicy '{hook.name}' with"
                f" binding '{name}': {decision.message}"
            )
        else:
            noted = {
                "message": decision.message,
                "policy": hook.name,
                "binding": name,
                "expressionIndex": decision.number,
                "validationActions": list(actions),
            }
            annotate(FAILURE, json.dumps([noted], separators=(",", ":")))


def _denial(
    attributes: Attributes, hook: Hook[Any], binding: Object | None, decision: Decision
) -> StatusError:
    who = f"ValidatingAdmissionPolicy '{hook.name}'"
    if binding is not None:
        who += f" with binding '{binding['metadata']['name']}'"
    message = f"{who} denied request: {decision.message}"
    status = attributes.forbidden(message).status
    details = {**(status.get("details") or {}), "causes": [{"message": message}]}
    code = CODES.get(decision.reason, 422)
    return StatusError(
        {**status, "reason": decision.reason, "details": details, "code": code}
    )
