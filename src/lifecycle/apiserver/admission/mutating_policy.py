"""MutatingAdmissionPolicy: the server changes objects itself, by expressions instead of
webhooks.

A mutation is either an *apply configuration*, an `Object{…}` with the fields that are
to be as it says, merged as an apply would merge them; or a *JSON patch*, a list of
`JSONPatch{…}`. The mutations of a policy run in order, each on what the one before has
left.

Upstream: `apiserver/pkg/admission/plugin/policy/mutating/{dispatcher,compilation}.go`,
`patch/{smd,json_patch}.go`, v1.36. Left out: cost budgets, metrics.
"""

from __future__ import annotations

from collections.abc import Awaitable, Iterator, Sequence
from typing import Any, NamedTuple

from lifecycle.api.go.format import go_quote
from lifecycle.api.http.wire import Object
from lifecycle.api.patch.json_document import FailedTestError, JSONPatchError
from lifecycle.api.patch.json_patch import apply_operations
from lifecycle.api.resources import Resource
from lifecycle.api.status import StatusError
from lifecycle.apiserver.admission.attributes import Attributes
from lifecycle.apiserver.admission.chain import Plugin
from lifecycle.apiserver.admission.matching import (
    Match,
    Matcher,
    is_excluded_from_policies,
)
from lifecycle.apiserver.admission.mutating_webhook import Defaulter, replace_object
from lifecycle.apiserver.admission.policy_expressions import (
    Composition,
    Evaluation,
    MatchConditions,
)
from lifecycle.apiserver.admission.policy_source import (
    ConfigurationError,
    Hook,
    PolicySource,
    params_for,
)
from lifecycle.apiserver.admission.reinvocation import Reinvocation
from lifecycle.apiserver.authz.authorizer import Authorize
from lifecycle.apiserver.cel import object_literals
from lifecycle.apiserver.cel.environment import CompileError, EvaluationError, Program
from lifecycle.apiserver.managedfields.merge import merge
from lifecycle.apiserver.managedfields.typed import Type, type_for
from lifecycle.apiserver.storage.object_reader import ObjectReader

RETURNS = {"ApplyConfiguration": "Object", "JSONPatch": "list(JSONPatch)"}
EXPRESSIONS = {"ApplyConfiguration": "applyConfiguration", "JSONPatch": "jsonPatch"}


class MutationError(Exception):
    """A mutation that cannot be made."""


class Mutator:
    """A compiled policy. A mutation that does not compile is kept as its error.
    Upstream: `PolicyEvaluator`.
    """

    def __init__(self, policy: Object) -> None:
        spec = policy["spec"]
        params = bool(spec.get("paramKind"))
        self.composition = Composition(params=params, literals=True)
        self.conditions = MatchConditions(
            spec.get("matchConditions") or (), params=params
        )
        self.mutations: list[tuple[str, Program | CompileError]] = []
        for variable in spec.get("variables") or ():
            try:
                self.composition.add(variable["name"], variable["expression"])
            except CompileError:
                continue  # whoever mentions it will say so
        for mutation in spec.get("mutations") or ():
            kind = mutation["patchType"]
            try:
                expression = mutation[EXPRESSIONS[kind]]["expression"]
                self.mutations.append(
                    (kind, self.composition.compile(expression, (RETURNS[kind],)))
                )
            except CompileError as error:
                self.mutations.append((kind, error))


class Invocation(NamedTuple):
    """A policy with one binding and one parameter."""

    hook: Hook[Mutator]
    mutator: Mutator
    binding: Object
    params: Object | None
    match: Match

    @property
    def key(self) -> tuple[str, str, str, str]:
        """What tells it from others between two rounds."""
        meta = (self.params or {}).get("metadata") or {}
        return (
            self.hook.name,
            self.binding["metadata"]["name"],
            meta.get("namespace", ""),
            meta.get("name", ""),
        )


class MutatingAdmissionPolicy(Plugin):
    """Evaluates the mutations of every policy that has a binding for the request."""

    name = "MutatingAdmissionPolicy"
    subresources = None

    def __init__(
        self,
        reader: ObjectReader,
        authorize: Authorize | None = None,
        *,
        defaulter: Defaulter,
    ) -> None:
        self._defaulter = defaulter
        self._matcher = Matcher(reader)
        self._authorize = authorize
        self._source: PolicySource[Mutator] = PolicySource(reader, "mutating", Mutator)

    def configured(self) -> bool:
        """Whether any policy is bound."""
        return bool(self._source.hooks())

    def handles(self, resource: Resource, subresource: str, operation: str) -> bool:
        """Everything but the configuration of admission, and what is only answered."""
        return not is_excluded_from_policies(resource)

    def admit(self, attributes: Attributes) -> Awaitable[None] | None:
        """Change the object. Raises StatusError for what cannot be evaluated, under
        failurePolicy Fail.
        """
        hooks = self._source.hooks()
        return self._dispatch(hooks, attributes) if hooks else None

    async def _dispatch(
        self, hooks: Sequence[Hook[Mutator]], attributes: Attributes
    ) -> None:
        problems: list[tuple[Hook[Mutator], Object | None, str, str]] = []
        invocations = [
            relevant
            for hook in hooks
            for relevant in await self._invocations(hook, attributes, problems)
        ]
        rounds = attributes.reinvocation = attributes.reinvocation or Reinvocation()
        memory = rounds.of(self.name)
        if rounds.second:
            memory.begin(attributes.obj)
        for invocation in invocations:
            await self._invoke(invocation, attributes, rounds, problems)
        await memory.keep(attributes.obj, attributes.grown)
        problems = [problem for problem in problems if problem[0].fails]
        if problems:
            raise _denial(attributes, problems)

    async def _invocations(
        self, hook: Hook[Mutator], attributes: Attributes, problems: list[Any]
    ) -> list[Invocation]:
        match = self._matcher.resources(
            hook.policy["spec"].get("matchConstraints") or {}, attributes
        )
        invocations: list[Invocation] = []
        if match is None:
            return invocations
        try:
            params = await self._source.params_of(hook)
        except ConfigurationError as error:
            problems.append((hook, None, f"failed to configure policy: {error}", ""))
            return invocations
        mutator = await hook.evaluator.get()
        for binding in hook.bindings:
            criteria = binding["spec"].get("matchResources")
            if criteria and self._matcher.resources(criteria, attributes) is None:
                continue
            try:
                each = params_for(binding, params, attributes.namespace)
            except ConfigurationError as error:
                problems.append(
                    (hook, binding, f"failed to configure binding: {error}", "")
                )
                continue
            invocations += [
                Invocation(hook, mutator, binding, one, match) for one in each
            ]
        return invocations

    async def _invoke(
        self,
        invocation: Invocation,
        attributes: Attributes,
        rounds: Reinvocation,
        problems: list[Any],
    ) -> None:
        hook, memory = invocation.hook, rounds.of(self.name)
        mutator = invocation.mutator
        try:
            policy = "Fail" if hook.fails else "Ignore"
            if not await mutator.conditions.match(
                self._evaluation(invocation, attributes), policy
            ):
                return
        except EvaluationError as error:
            problems.append((hook, invocation.binding, str(error), "Invalid"))
            return
        if rounds.second and invocation.key not in memory.again:
            return
        changed = False
        for kind, program in mutator.mutations if attributes.obj is not None else ():
            try:
                if isinstance(program, CompileError):
                    raise MutationError(str(program))
                changed |= await self._mutate(kind, program, invocation, attributes)
            except (
                EvaluationError,
                MutationError,
                object_literals.TypeMismatch,
            ) as error:
                problems.append((hook, invocation.binding, str(error), "Invalid"))
        if changed:
            memory.require()
            rounds.should_reinvoke = True
        if hook.policy["spec"].get("reinvocationPolicy") == "IfNeeded":
            memory.called.add(invocation.key)

    def _evaluation(self, invocation: Invocation, attributes: Attributes) -> Evaluation:
        namespace = None
        if attributes.namespace and attributes.resource.plural != "namespaces":
            namespace = self._matcher.namespace(attributes.namespace)
        return Evaluation(
            attributes, invocation.match.resource, namespace=namespace,
            params=invocation.params,
            authorize=self._authorize,
            composition=invocation.mutator.composition,
        )  # fmt: skip

    async def _mutate(
        self,
        kind: str,
        program: Program,
        invocation: Invocation,
        attributes: Attributes,
    ) -> bool:
        """One mutation. Returns whether the object is another one now."""
        value = await self._evaluation(invocation, attributes).evaluate(program)
        return await attributes.turn.work(self._change, kind, value, attributes)

    def _change(self, kind: str, value: Any, attributes: Attributes) -> bool:
        obj = attributes.obj
        assert obj is not None
        if kind == "JSONPatch":
            try:
                patched = apply_operations(obj, object_literals.untyped(value))
            except FailedTestError:
                return False  # it calls the patch off
            except JSONPatchError as error:
                raise MutationError(f"JSON Patch: {error}") from None
            return replace_object(attributes, patched, self._defaulter, strict=True)
        if obj["apiVersion"] != attributes.resource.api_version:
            # a Scale or an Eviction: its types are published among those of others
            raise MutationError(
                "error applying patch: failed to convert patch object to typed object:"
                f" no corresponding type for {obj['apiVersion']}, Kind={obj['kind']}"
            )
        apply_configuration = object_literals.plain(value)
        whole = type_for(obj["apiVersion"], obj["kind"])
        atomics = list(_atomics(whole, apply_configuration, ""))
        if atomics:
            why = f"may not mutate atomic arrays, maps or structs: {', '.join(atomics)}"
            raise MutationError(
                f"error applying patch: invalid ApplyConfiguration: {why}"
            )
        apply_configuration.update(apiVersion=obj["apiVersion"], kind=obj["kind"])
        return replace_object(
            attributes, merge(whole, obj, apply_configuration), self._defaulter
        )


def _atomics(kind: Type, value: Any, path: str) -> Iterator[str]:
    """Where a configuration has lists and maps that can only be replaced as a whole.
    Upstream: `findAtomics`.
    """
    if kind.leaf:
        if isinstance(value, dict | list):
            yield path
    elif isinstance(value, dict):
        for name, item in value.items():
            known = kind.fields.get(name)
            yield from _atomics(
                known[1] if known is not None else kind.element, item, f"{path}.{name}"
            )
    elif isinstance(value, list):
        for item in value:
            yield from _atomics(kind.element, item, path)


def _denial(attributes: Attributes, problems: list[Any]) -> StatusError:
    causes = []
    for hook, binding, message, _ in problems:
        if binding is None:
            who = f"policy {go_quote(hook.name)}"
        else:
            who = f"policy '{hook.name}' with binding '{binding['metadata']['name']}'"
        causes.append({"message": f"{who} denied request: {message}"})
    status = attributes.forbidden("admission request denied by policy").status
    details = {**(status.get("details") or {}), "causes": causes}
    reason = problems[0][3] or status["reason"]
    return StatusError(
        {
            **status,
            "message": causes[0]["message"],
            "reason": reason,
            "details": details,
        }
    )
