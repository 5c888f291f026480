"""Which authorizers guard a server, and in which order: `--authorization-mode`, as
options.

There are six modes. Their order is the order in which they are asked, and before all of
them stands the shortcut for `system:masters`.

Upstream: `pkg/kubeapiserver/authorizer/modes/modes.go`,
`pkg/kubeapiserver/options/authorization.go` (`BuiltInAuthorizationOptions`,
`Validate`), `pkg/kubeapiserver/authorizer/config.go` (`Config.New`), v1.36. Left out:
feature gates.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from lifecycle.api.aggregate import aggregate
from lifecycle.api.go.format import go_quote
from lifecycle.api.loop.clock import Clock
from lifecycle.apiserver.authz.abac import read_policy_file
from lifecycle.apiserver.authz.always import AlwaysAllow, AlwaysDeny
from lifecycle.apiserver.authz.authorizer import Authorizer
from lifecycle.apiserver.authz.node import NodeAuthorizer
from lifecycle.apiserver.authz.rbac import RBACAuthorizer
from lifecycle.apiserver.authz.webhook import WebhookAuthorizer, WebhookSettings
from lifecycle.apiserver.storage.object_reader import ObjectReader
from lifecycle.apiserver.webhook.client import (
    WebhookClient,
    read_webhook_kubeconfig,
)

ALWAYS_ALLOW, ALWAYS_DENY, ABAC, WEBHOOK, RBAC, NODE = (
    "AlwaysAllow",
    "AlwaysDeny",
    "ABAC",
    "Webhook",
    "RBAC",
    "Node",
)
AUTHORIZATION_MODES = (ALWAYS_ALLOW, ALWAYS_DENY, ABAC, WEBHOOK, RBAC, NODE)
KUBEADM_MODES = (NODE, RBAC)


@dataclass(slots=True)
class AuthorizationOptions:
    """The `--authorization-*` flags, with kubeadm's modes. TTLs are in seconds.
    `config` is an `AuthorizationConfiguration` document, which takes the place of all
    the others.
    """

    modes: tuple[str, ...] = KUBEADM_MODES
    policy_file: Path | None = None
    webhook_config_file: Path | None = None
    webhook_version: str = "v1beta1"
    webhook_authorized_ttl: float = 300.0
    webhook_unauthorized_ttl: float = 30.0
    config: Path | None = field(default=None)

    def errors(self) -> list[str]:
        """What is wrong with the combination, in upstream's words; empty if nothing."""
        if self.config is not None:
            return self._beside_a_config()
        errs = [] if self.modes else ["at least one authorization-mode must be passed"]
        for mode in self.modes:
            if mode not in AUTHORIZATION_MODES:
                errs.append(f"authorization-mode {go_quote(mode)} is not a valid mode")
            if mode == ABAC and self.policy_file is None:
                errs.append(
                    "authorization-mode ABAC's authorization policy file not passed"
                )
            if mode == WEBHOOK and self.webhook_config_file is None:
                errs.append(
                    "authorization-mode Webhook's authorization config file not passed"
                )
        if self.policy_file is not None and ABAC not in self.modes:
            errs.append("cannot specify --authorization-policy-file without mode ABAC")
        if self.webhook_config_file is not None and WEBHOOK not in self.modes:
            errs.append(
                "cannot specify --authorization-webhook-config-file without mode"
                " Webhook"
            )
        if len(set(self.modes)) != len(self.modes):
            modes = "[" + " ".join(map(go_quote, self.modes)) + "]"
            errs.append(f"authorization-mode {modes} has mode specified more than once")
        return errs

    def check(self) -> None:
        """Raises ValueError with upstream's sentence for flags that do not go
        together.
        """
        errors = self.errors()
        if errors:
            raise ValueError(aggregate(errors))

    def _beside_a_config(self) -> list[str]:
        if self.modes != KUBEADM_MODES or self.policy_file or self.webhook_config_file:
            return [
                "--authorization-config can not be specified when --authorization-mode"
                " or --authorization-webhook-* flags are defined"
            ]
        return []


def build_authorizers(
    options: AuthorizationOptions, reader: ObjectReader, clock: Clock
) -> list[Authorizer]:
    """The authorizers of the flags, in their order. Raises ValueError with upstream's
    sentence for flags that do not go together.
    """
    options.check()
    return list(_build(options, reader, clock))


def _build(
    options: AuthorizationOptions, reader: ObjectReader, clock: Clock
) -> Iterable[Authorizer]:
    for mode in options.modes:
        if mode == WEBHOOK:
            assert options.webhook_config_file is not None
            client = WebhookClient(read_webhook_kubeconfig(options.webhook_config_file))
            settings = WebhookSettings(
                options.webhook_authorized_ttl,
                options.webhook_unauthorized_ttl,
                version=options.webhook_version,
            )
            yield WebhookAuthorizer(client, clock, settings)
        elif mode == ABAC:
            assert options.policy_file is not None
            yield read_policy_file(options.policy_file)
        else:
            yield build_simple(mode, reader)


def build_simple(mode: str, reader: ObjectReader) -> Authorizer:
    """An authorizer that needs nothing but the server's caches."""
    if mode == NODE:
        return NodeAuthorizer(reader)
    if mode == RBAC:
        return RBACAuthorizer(reader)
    return AlwaysAllow() if mode == ALWAYS_ALLOW else AlwaysDeny()
