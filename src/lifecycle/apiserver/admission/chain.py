"""The admission chain: every plugin may change a new object, then every plugin may
refuse it.

Mutating plugins all run before the first validating one, so a validator sees the object
as it will be stored. Within each phase the order is fixed: defaults that others read
(the service account, the priority) are set early, the quota is charged last, when
nothing else can refuse any more.

A plugin says which operations and resources it cares about. The chain works out, once
for each resource and operation, the few methods to call, so creating a ConfigMap does
not walk past thirty plugins that only want pods. Plugins that do what configuration
objects say (webhooks, policies) are left out as long as there is no such object; a
counter tells when that may have changed.

Upstream: `apiserver/pkg/admission/chain.go` (`chainAdmissionHandler`), `handler.go`
(`Handler.Handles`), order in `pkg/kubeapiserver/options/plugins.go`
(`AllOrderedPlugins`), `reinvocation.go`, v1.36. Left out: metrics.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable

from lifecycle.api.resources import Resource
from lifecycle.api.tracing import heard, span
from lifecycle.apiserver.admission.attributes import (
    CONNECT,
    CREATE,
    DELETE,
    UPDATE,
    Attributes,
)

ALL_ORDERED_PLUGINS = (
    "AlwaysAdmit",
    "NamespaceAutoProvision",
    "NamespaceLifecycle",
    "NamespaceExists",
    "LimitPodHardAntiAffinityTopology",
    "LimitRanger",
    "ServiceAccount",
    "NodeRestriction",
    "TaintNodesByCondition",
    "AlwaysPullImages",
    "ImagePolicyWebhook",
    "PodSecurity",
    "PodNodeSelector",
    "Priority",
    "DefaultTolerationSeconds",
    "PodTolerationRestriction",
    "EventRateLimit",
    "ExtendedResourceToleration",
    "DefaultStorageClass",
    "StorageObjectInUseProtection",
    "OwnerReferencesPermissionEnforcement",
    "PersistentVolumeClaimResize",
    "RuntimeClass",
    "CertificateApproval",
    "CertificateSigning",
    "ClusterTrustBundleAttest",
    "CertificateSubjectRestriction",
    "DefaultIngressClass",
    "DenyServiceExternalIPs",
    "PodTopologyLabels",
    "NodeDeclaredFeatureValidator",
    "PodResizeValidator",
    "MutatingAdmissionPolicy",
    "MutatingAdmissionWebhook",
    "ValidatingAdmissionPolicy",
    "ValidatingAdmissionWebhook",
    "ResourceQuota",
    "AlwaysDeny",
)
"""Upstream's order. Not every name has a module here; a plugin finds its place by its
name.
"""

PODS = frozenset({("", "pods")})


class Plugin:
    """Base of every plugin: what it is called and what it wants to see.

    A plugin defines `admit` (may change `attributes.obj`), `validate` (may only
    refuse), or both. Either returns None, or an awaitable if it has to wait for
    something. Both raise `StatusError` to refuse. `resources` holds (group, plural)
    pairs, None for all; `subresources` names the subresources it handles beside the
    main resource (`""`).
    """

    name: str = ""
    operations: frozenset[str] = frozenset({CREATE, UPDATE, DELETE, CONNECT})
    resources: frozenset[tuple[str, str]] | None = None
    subresources: frozenset[str] | None = frozenset({""})

    def configured(self) -> bool:
        """Whether there is anything to do at all. Asked again whenever the chain's
        `changes` has counted on.
        """
        return True

    def handles(self, resource: Resource, subresource: str, operation: str) -> bool:
        """Whether the plugin wants to see an operation on a resource. Asked once for
        each combination.
        """
        if operation not in self.operations:
            return False
        if (
            self.resources is not None
            and (resource.group, resource.plural) not in self.resources
        ):
            return False
        return self.subresources is None or subresource in self.subresources


Step = Callable[[Attributes], Awaitable[None] | None]
"""One plugin's part in one phase."""


class AdmissionChain:
    """All plugins of a server, in upstream's order whatever order they are given in.

    `changes` counts the changes of the objects that plugins are configured with;
    without it, every plugin always has its turn.
    """

    def __init__(
        self, plugins: Iterable[Plugin] = (), changes: Callable[[], int] | None = None
    ) -> None:
        self._changes = changes or _never
        self._leave_out = changes is not None
        self._seen = -1
        self._plans: dict[
            tuple[str, str, str, bool, str, str],
            tuple[tuple[Step, ...], tuple[Step, ...]],
        ] = {}
        self.use(plugins)

    def use(self, plugins: Iterable[Plugin]) -> None:
        """These from now on, and no others."""
        order = {name: i for i, name in enumerate(ALL_ORDERED_PLUGINS)}
        self.plugins = sorted(
            plugins, key=lambda plugin: order.get(plugin.name, len(order))
        )
        self._plans.clear()

    def _plan(
        self, attributes: Attributes
    ) -> tuple[tuple[Step, ...], tuple[Step, ...]]:
        changes = self._changes()
        if changes != self._seen:
            self._plans.clear()
            self._seen = changes
        resource = attributes.resource
        key = (
            resource.group,
            resource.version,
            resource.plural,
            resource.namespaced,  # a definition that is made anew may change it
            attributes.subresource,
            attributes.operation,
        )
        plan = self._plans.get(key)
        if plan is None:
            plan = self._plans[key] = self.plan_for(
                resource, attributes.subresource, attributes.operation
            )
        return plan

    def plan_for(
        self, resource: Resource, subresource: str, operation: str
    ) -> tuple[tuple[Step, ...], tuple[Step, ...]]:
        """The mutating and the validating steps for an operation on a resource."""
        handling = [
            plugin
            for plugin in self.plugins
            if plugin.handles(resource, subresource, operation)
            and (plugin.configured() or not self._leave_out)
        ]
        phases = []
        for phase in ("admit", "validate"):
            methods = [
                getattr(plugin, phase) for plugin in handling if hasattr(plugin, phase)
            ]
            phases.append(tuple(methods))
        return phases[0], phases[1]

    async def admit(self, attributes: Attributes) -> None:
        """The mutating phase, in a second round if one is wanted. Raises StatusError
        from the first plugin that refuses.
        """
        steps = self._plan(attributes)[0]
        await _run(steps, attributes)
        rounds = attributes.reinvocation
        if rounds is not None and rounds.should_reinvoke and not rounds.second:
            rounds.second = True
            await _run(steps, attributes)

    async def validate(self, attributes: Attributes) -> None:
        """The validating phase. Raises StatusError from the first plugin that
        refuses.
        """
        await _run(self._plan(attributes)[1], attributes)


def _never() -> int:
    return 0


async def _run(steps: tuple[Step, ...], attributes: Attributes) -> None:
    if not heard():
        for step in steps:
            waiting = step(attributes)
            if waiting is not None:
                await waiting
        return
    for step in steps:
        with span("apiserver", "admission", plugin=step.__self__.name):  # type: ignore[attr-defined]
            waiting = step(attributes)
            if waiting is not None:
                await waiting
