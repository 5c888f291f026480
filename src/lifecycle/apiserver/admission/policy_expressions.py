"""The expressions of policies and match conditions: their variables, and how a policy's
own variables are put together.

Every expression sees `object`, `oldObject`, `request` and `namespaceObject`; some see
`params`, `authorizer` and `authorizer.requestResource`. A policy's `variables` are
expressions themselves. One is evaluated when somebody first asks for it, once per
request, and it knows the type that its expression has, so `variables.replicas > 'a'` is
refused when the policy is written.

Upstream: `apiserver/pkg/admission/plugin/cel/{compile,composition,activation}.go`,
v1.36.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache, partial
from typing import Any

from lifecycle.api.aggregate import aggregate
from lifecycle.api.http.wire import ANONYMOUS, Object
from lifecycle.api.resources import Resource
from lifecycle.apiserver.admission.admission_request import admission_request
from lifecycle.apiserver.admission.attributes import Attributes
from lifecycle.apiserver.admission.matching import converted
from lifecycle.apiserver.authz.authorizer import Authorize
from lifecycle.apiserver.cel.authorizer import Asking, asking
from lifecycle.apiserver.cel.environment import (
    DYN,
    CompileError,
    Environment,
    EvaluationError,
    Program,
    message_type,
)
from lifecycle.apiserver.cel.types import message, message_from

_USED = re.compile(r"\bvariables\s*\.\s*([A-Za-z_]\w*)")


@lru_cache(maxsize=16)
def base_environment(
    params: bool, authorizer: bool, literals: bool = False
) -> Environment:
    """Which variables there are. Upstream: `createEnvForOpts`."""
    variables = {
        "object": DYN,
        "oldObject": DYN,
        "namespaceObject": message_type("Namespace"),
        "request": message_type("AdmissionRequest"),
    }
    if params:
        variables["params"] = DYN
    if authorizer:
        variables["authorizer"] = message_type("authorization.Authorizer")
        variables["authorizer.requestResource"] = message_type(
            "authorization.ResourceCheck"
        )
    return Environment(variables, literals=literals)


class Composition:
    """The compiled variables of one policy, and a compiler for its other expressions,
    which may refer to them.
    """

    def __init__(self, *, params: bool = False, literals: bool = False) -> None:
        self.programs: dict[str, Program] = {}
        self._params, self._literals = params, literals
        self._types: dict[str, Any] = {}
        self._environments: dict[bool, Environment] = {}

    def add(self, name: str, expression: str) -> None:
        """One variable more; it may refer to those before. Raises CompileError; then
        later ones may take it for anything.
        """
        try:
            program = self._environment(True).compile(expression)
            self.programs[name] = program
            self._types[f"variables.{name}"] = program.type
        finally:
            self._types.setdefault(f"variables.{name}", DYN)
            self._environments.clear()

    def compile(
        self, expression: str, returns: Sequence[str], *, authorizer: bool = True
    ) -> Program:
        """An expression that may use the variables. Raises CompileError."""
        return self._environment(authorizer).compile(expression, returns)

    def _environment(self, authorizer: bool) -> Environment:
        environment = self._environments.get(authorizer)
        if environment is None:
            base = base_environment(self._params, authorizer, self._literals)
            environment = self._environments[authorizer] = (
                base.extended(self._types) if self._types else base
            )
        return environment


class Evaluation:
    """One request, as the expressions of one policy see it. Programs are evaluated by
    `evaluate`, more than once if an expression asks an authorizer that has to wait.
    """

    def __init__(
        self,
        attributes: Attributes,
        row: Resource,
        *,
        namespace: Object | None,
        params: Object | None = None,
        authorize: Authorize | None = None,
        composition: Composition | None = None,
    ) -> None:
        self._composition = composition
        self._asking = (
            Asking(authorize, attributes.user or ANONYMOUS)
            if authorize is not None
            else None
        )
        self._turn = attributes.turn
        self._objects = (attributes.obj, attributes.old_obj, params)
        self._begin = partial(
            _values,
            attributes,
            (attributes.obj, attributes.old_obj),
            row,
            namespace,
            params,
        )
        self._values: dict[str, Any] = {}
        self._failed: dict[str, str] = {}

    async def evaluate(self, program: Program) -> Any:
        """The value. Raises EvaluationError with upstream's text: `expression '…'
        resulted in error: …`.
        """
        if not self._turn.over and program.takes_long(self._objects):
            self._turn.end()
        while True:
            if self._asking is not None:
                self._asking.at_once = not self._turn.over
            try:
                await self._prepare(program)
                value = await self._turn.work(self._evaluate, program)
            except EvaluationError:
                if not self._is_waiting():
                    raise
            else:
                if not self._is_waiting():
                    return value
            assert self._asking is not None
            await self._asking.settle()

    def _is_waiting(self) -> bool:
        return self._asking is not None and bool(self._asking.waiting)

    async def _prepare(self, program: Program) -> None:
        """Evaluate the variables that an expression mentions, each for itself. One that
        fails is an error only where it is really used.
        """
        programs = self._composition.programs if self._composition is not None else {}
        for name in dict.fromkeys(_USED.findall(program.source)):
            known = f"variables.{name}" in self._values or name in self._failed
            if name not in programs or known:
                continue
            await self._prepare(programs[name])
            try:
                value = await self._turn.work(self._value, programs[name])
            except EvaluationError as error:
                if not self._is_waiting():
                    self._failed[name] = (
                        f'composited variable "{name}" fails to evaluate: {error}'
                    )
            else:
                if not self._is_waiting():
                    self._values[f"variables.{name}"] = value

    def _evaluate(self, program: Program) -> Any:
        try:
            return self._value(program)
        except EvaluationError as error:
            mentioned = str(error).partition("variables.")[2]
            why = self._failed.get(mentioned, "") or str(error)
            raise EvaluationError(
                f"expression '{program.source}' resulted in error: {why}"
            ) from None

    def _value(self, program: Program) -> Any:
        if not self._values:
            self._values = self._begin()
        with asking(self._asking):
            return program.evaluate(self._values)


def _values(
    attributes: Attributes,
    objects: tuple[Object | None, Object | None],
    row: Resource,
    namespace: Object | None,
    params: Object | None,
) -> dict[str, Any]:
    """What the variables of every expression stand for."""
    check = {
        "group": attributes.resource.group,
        "resource": attributes.resource.plural,
        "subresource": attributes.subresource,
        "namespace": attributes.namespace,
        "name": attributes.name,
    }
    obj, old_obj = (converted(each, row) for each in objects)
    return {
        "object": obj,
        "oldObject": old_obj,
        "request": message_from("AdmissionRequest", admission_request(attributes, row)),
        "namespaceObject": message_from("Namespace", namespace)
        if namespace is not None
        else None,
        "params": params,
        "authorizer": message("authorization.Authorizer"),
        "authorizer.requestResource": message("authorization.ResourceCheck", **check),
    }


class MatchConditions:
    """Compiled match conditions of a webhook or a policy. Upstream:
    `matchconditions.matcher`.
    """

    def __init__(self, conditions: Iterable[Object], *, params: bool = False) -> None:
        self._programs: list[Program | CompileError] = []
        environment = base_environment(params, True)
        for condition in conditions:
            try:
                self._programs.append(
                    environment.compile(condition["expression"].strip(), ("bool",))
                )
            except CompileError as error:
                self._programs.append(error)

    async def match(self, evaluation: Evaluation, failure_policy: str) -> bool:
        """Whether all hold. One that is false decides; else errors count as
        `failurePolicy` says.

        Raises EvaluationError (policy Fail).
        """
        errors = []
        for program in self._programs:
            if isinstance(program, CompileError):
                errors.append(f"compilation error: {program}")
                continue
            try:
                if await evaluation.evaluate(program) is False:
                    return False
            except EvaluationError as error:
                errors.append(str(error))
        if not errors:
            return True
        if failure_policy == "Ignore":
            return False
        raise EvaluationError(aggregate(errors))
