"""What is built in this room stays as it was built; the exceptions are known."""

from __future__ import annotations

from tests.changeable import changeable

CHANGEABLE = {
    "admission.attributes.Attributes",
    "admission.reinvocation.PluginRound",
    "admission.reinvocation.Reinvocation",
    "apiextensions.rule_costs.RuleCosts",
    "apiextensions.schema_rules._Rules",
    "apiextensions.served.ServedVersion",
    "authn.options.Authentication",
    "authn.options.AuthenticationOptions",
    "authz.authorizer.UserRules",
    "authz.modes.AuthorizationOptions",
    "authz.rbac._Snapshot",
    "authz.webhook.WebhookSettings",
    "cel.authorizer.Asking",
    "registry.core.pod.containers.PodContext",
    "registry.deletion.DeleteOptions",
    "registry.listing.ListOptions",
    "registry.listing.Page",
    "registry.scope.RequestScope",
    "registry.store.Environment",
    "server.chain.ChainConfig",
    "server.generic_api_server.GenericAPIServer",
    "server.lifecycle_signals.LifecycleSignals",
    "storage.cacher.cache_watcher.Criteria",
    "storage.cacher.cached_object.Change",
}
"""What is filled in step by step, or keeps a state: by module and name."""


def test_what_is_built_is_not_changed_afterwards() -> None:
    assert changeable("apiserver") == CHANGEABLE
