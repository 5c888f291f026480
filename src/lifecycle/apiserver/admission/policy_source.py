"""Policies with their bindings: read from the caches again only when one of them has
changed, and compiled when a request first needs them.

Upstream: `apiserver/pkg/admission/plugin/policy/generic/policy_source.go`
(`policySource`), `policy_dispatcher.go` (`CollectParams`), v1.36.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Generic, NamedTuple, TypeVar

from lifecycle.api.http.wire import Object
from lifecycle.api.labels import selector_from_label_selector
from lifecycle.api.loop.worker import OnDemand
from lifecycle.api.resources import Resource, resource
from lifecycle.apiserver.storage.object_reader import ObjectReader

E = TypeVar("E")


class ConfigurationError(Exception):
    """A policy or a binding that cannot be put to work. `failurePolicy` decides what
    this means.
    """


def refuses_failures(policy: Object) -> bool:
    """Whether what cannot be evaluated is refused: `failurePolicy`."""
    return bool(policy["spec"].get("failurePolicy") != "Ignore")


class Hook(NamedTuple, Generic[E]):
    """A policy, its bindings, and what is compiled of it."""

    policy: Object
    bindings: Sequence[Object]
    evaluator: OnDemand[E]

    @property
    def fails(self) -> bool:
        """See `refuses_failures`."""
        return refuses_failures(self.policy)

    @property
    def name(self) -> str:
        """The policy's."""
        return str(self.policy["metadata"]["name"])


class PolicySource(Generic[E]):
    """The hooks of one kind of policy. `kind` is `validating` or `mutating`."""

    def __init__(
        self, reader: ObjectReader, kind: str, compile_policy: Callable[[Object], E]
    ) -> None:
        self._reader, self._compile = reader, compile_policy
        self._policies = resource(
            f"{kind}admissionpolicies.admissionregistration.k8s.io"
        )
        self._bindings = resource(
            f"{kind}admissionpolicybindings.admissionregistration.k8s.io"
        )
        self._versions = (-1, -1)
        self._compiled: dict[tuple[str, int], OnDemand[E]] = {}
        self._hooks: list[Hook[E]] = []

    def hooks(self) -> list[Hook[E]]:
        """Policies with at least one binding, in the order of their names."""
        reader = self._reader
        versions = (
            reader.resource_version(self._policies),
            reader.resource_version(self._bindings),
        )
        if versions != self._versions:
            self._hooks, self._versions = self._read(), versions
        return self._hooks

    def _read(self) -> list[Hook[E]]:
        by_policy: dict[str, list[Object]] = {}
        for binding in self._reader.list(self._bindings):
            by_policy.setdefault(binding["spec"]["policyName"], []).append(binding)
        compiled: dict[tuple[str, int], OnDemand[E]] = {}
        hooks = []
        for policy in self._reader.list(self._policies):
            meta = policy["metadata"]
            bindings = by_policy.get(meta["name"])
            if not bindings:
                continue
            key = (meta.get("uid", meta["name"]), meta.get("generation", 0))
            evaluator = self._compiled.get(key)
            if evaluator is None:
                evaluator = OnDemand(self._compile, policy)
            compiled[key] = evaluator
            hooks.append(Hook(policy, bindings, evaluator))
        self._compiled = compiled
        return hooks

    async def params_of(self, hook: Hook[E]) -> Params | None:
        """Where a policy's parameters are; None for a policy without.

        Raises ConfigurationError for a kind that nobody knows.
        """
        kind = hook.policy["spec"].get("paramKind")
        if not kind:
            return None
        found = await self._reader.reader_of(kind["apiVersion"], kind["kind"])
        if found is None:
            group_version_kind = f"{kind['apiVersion']}, Kind={kind['kind']}"
            raise ConfigurationError(
                "failed to find resource referenced by paramKind:"
                f" '{group_version_kind}'"
            )
        return Params(kind, *found)


class Params(NamedTuple):
    """The parameters that the bindings of a policy may name: of which kind, and who
    reads them.
    """

    kind: Object
    resource: Resource
    reader: ObjectReader

    def collect(self, reference: Object, namespace: str) -> Sequence[Object]:
        """Those of one binding (`paramRef`), with each of which its policy is
        evaluated. Upstream: `CollectParams`.

        Raises ConfigurationError.
        """
        row, where = self.resource, ""
        if row.namespaced:
            where = reference.get("namespace") or namespace
            if not where:
                raise ConfigurationError(
                    "cannot use namespaced paramRef in policy binding that matches"
                    " cluster-scoped resources"
                )
        elif reference.get("namespace"):
            raise ConfigurationError(
                "paramRef.namespace must not be provided for a cluster-scoped"
                " `paramKind`"
            )
        if "list" not in row.verbs or "watch" not in row.verbs:
            api_version, kind = self.kind["apiVersion"], self.kind["kind"]
            raise ConfigurationError(
                f"paramKind kind `&ParamKind{{APIVersion:{api_version},Kind:{kind},}}`"
                " not yet synced to use for admission"
            )
        if reference.get("name"):
            one = self.reader.get(row, where, reference["name"])
            params = [one] if one is not None else []
        else:
            selector = selector_from_label_selector(reference.get("selector") or {})
            params = [
                obj
                for obj in self.reader.list(row, where)
                if selector.matches(obj["metadata"].get("labels"))
            ]
        if not params and reference.get("parameterNotFoundAction") == "Deny":
            raise ConfigurationError(
                "no params found for policy binding with `Deny` parameterNotFoundAction"
            )
        return params


def params_for(
    binding: Object, params: Params | None, namespace: str
) -> Sequence[Object | None]:
    """What a binding evaluates its policy with, one after the other; `[None]` if it
    names no parameters. Raises ConfigurationError.
    """
    reference = binding["spec"].get("paramRef")
    if params is None or not reference:
        return [None]
    return params.collect(reference, namespace)
