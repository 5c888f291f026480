"""Everything that guards the API, put together as a standard cluster has it.

Authentication: client certificates, then tokens – static ones, service accounts,
bootstrap tokens – then anonymous; a front proxy, identity providers and a webhook if
the options say so. Authorization: masters, then what the options name: the node
authorizer and RBAC. Admission: the plugins that are on by default, and NodeRestriction,
which kubeadm adds.

Upstream: `pkg/kubeapiserver/{authenticator,authorizer}/config.go`,
`pkg/kubeapiserver/options/plugins.go` (`DefaultOffAdmissionPlugins`), kubeadm's
`--authorization-mode=Node,RBAC --enable-admission-plugins=NodeRestriction`, v1.36.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from lifecycle.api.http.wire import UserInfo
from lifecycle.api.loop.clock import Clock
from lifecycle.api.names import NameSource
from lifecycle.apiserver.admission.chain import AdmissionChain
from lifecycle.apiserver.admission.default_plugins import default_plugins
from lifecycle.apiserver.admission.matching import admission_configuration
from lifecycle.apiserver.admission.options import AdmissionOptions
from lifecycle.apiserver.admission.resource_quota import ResourceQuota, UpdateStatus
from lifecycle.apiserver.admission.role_escalation import RoleEscalation
from lifecycle.apiserver.authn.bootstrap_token import BootstrapTokenAuthenticator
from lifecycle.apiserver.authn.jwt import SigningKey
from lifecycle.apiserver.authn.legacy_service_account import LegacyServiceAccountTokens
from lifecycle.apiserver.authn.options import (
    AuthenticationOptions,
    build_authentication,
)
from lifecycle.apiserver.authn.service_account import ServiceAccountTokens
from lifecycle.apiserver.authn.token_request import TokenRequests
from lifecycle.apiserver.authz.configuration import build_authorization
from lifecycle.apiserver.authz.escalation import EscalationCheck
from lifecycle.apiserver.authz.modes import ALWAYS_ALLOW, AuthorizationOptions
from lifecycle.apiserver.authz.rbac import RBACAuthorizer
from lifecycle.apiserver.registry.authentication.reviews import AuthenticationReviews
from lifecycle.apiserver.registry.authorization.reviews import AccessReviews, Review
from lifecycle.apiserver.registry.strategies import set_defaults
from lifecycle.apiserver.storage.object_reader import ObjectReader
from lifecycle.apiserver.webhook.service_resolver import ServiceResolver


class Config:
    """The guards of one server, over the server's own caches. Raises ValueError or
    OSError for options that cannot be used.

    `static_tokens` maps bearer tokens to users. `charge_quota` writes a quota's status;
    without it quotas are checked, but never used up. `resolver` finds the Services of
    webhooks.
    """

    def __init__(
        self,
        reader: ObjectReader,
        clock: Clock,
        names: NameSource,
        *,
        static_tokens: Mapping[str, UserInfo] | None = None,
        allow_anonymous: bool = True,
        request_names: NameSource | None = None,
        authentication: AuthenticationOptions | None = None,
        authorization: AuthorizationOptions | None = None,
        admission: AdmissionOptions | None = None,
        signing_key: SigningKey | None = None,
        charge_quota: UpdateStatus | None = None,
        resolver: ServiceResolver | None = None,
    ) -> None:
        self.tokens = ServiceAccountTokens(
            reader, clock, request_names or NameSource(), key=signing_key
        )
        self.legacy_tokens = LegacyServiceAccountTokens(self.tokens)
        options = replace(authentication or AuthenticationOptions())
        modes = authorization or AuthorizationOptions()
        # who lets everybody do everything must at least know who it was
        options.anonymous = (
            options.anonymous and allow_anonymous and ALWAYS_ALLOW not in modes.modes
        )
        self.authentication = build_authentication(
            options,
            clock,
            (
                self.tokens,
                self.legacy_tokens,
                BootstrapTokenAuthenticator(reader, clock),
            ),
            static_tokens=static_tokens,
            issuers=(self.tokens.issuer,),
            audiences=self.tokens.audiences,
        )
        self.token_authenticator = self.authentication.tokens
        self.authenticator = self.authentication.authenticator
        self.request_header = options.request_header

        self.authorizer = build_authorization(modes, reader, clock)
        members = self.authorizer.authorizers
        self.rbac = next(
            (each for each in members if isinstance(each, RBACAuthorizer)), None
        ) or RBACAuthorizer(reader)
        self.escalation = EscalationCheck(self.authorizer, self.rbac)

        defaults = [
            *default_plugins(
                reader,
                names,
                self.authorizer.authorize,
                resolver,
                defaulter=set_defaults,
            ),
            ResourceQuota(reader, charge_quota),
            RoleEscalation(self.escalation),
        ]
        chosen = admission or AdmissionOptions()
        self.admission = AdmissionChain(
            chosen.chosen(defaults, clock, self.authorizer.authorize),
            reader.changes(admission_configuration()),
        )
        self.token_requests = TokenRequests(self.tokens)
        self._authentication_reviews = AuthenticationReviews(
            self.token_authenticator, clock, self.tokens.audiences
        )
        self._access_reviews = AccessReviews(self.authorizer)

    @property
    def virtual_resources(self) -> dict[tuple[str, str], Review]:
        """Resources that are answered and never stored: `(group, plural)` →
        `review(request, obj) -> obj`.
        """
        return (
            self._authentication_reviews.virtual_resources()
            | self._access_reviews.virtual_resources()
        )

    @property
    def virtual_subresources(self) -> dict[tuple[str, str, str], Callable[..., object]]:
        """The same for subresources: `(group, plural, subresource)` → `create(request,
        obj, validate) -> obj`.
        """
        return {("", "serviceaccounts", "token"): self.token_requests.create}
