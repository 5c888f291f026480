"""Everything that guards the API, put together as a standard cluster has it.

Authentication: client certificates, then tokens – static ones, service accounts, bootstrap tokens – then anonymous.
Authorization: masters, the node authorizer, RBAC. Admission: the plugins that are on by default, and NodeRestriction, which
kubeadm adds. Flow control from its API objects.

Upstream: `pkg/kubeapiserver/{authenticator,authorizer}/config.go`, `pkg/kubeapiserver/options/plugins.go`
(`DefaultOffAdmissionPlugins`), kubeadm's `--authorization-mode=Node,RBAC --enable-admission-plugins=NodeRestriction`, v1.36.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from lifecycle.api.clock import Clock
from lifecycle.api.names import NameSource
from lifecycle.api.wire import UserInfo
from lifecycle.apiserver.admission.chain import AdmissionChain
from lifecycle.apiserver.admission.default_plugins import default_plugins
from lifecycle.apiserver.admission.resource_quota import ResourceQuota
from lifecycle.apiserver.admission.role_escalation import RoleEscalation
from lifecycle.apiserver.authn.bearer_token import BearerTokenAuthenticator, StaticTokenAuthenticator
from lifecycle.apiserver.authn.bootstrap_token import BootstrapTokenAuthenticator
from lifecycle.apiserver.authn.openid_metadata import OpenIDMetadata
from lifecycle.apiserver.authn.reviews import AuthenticationReviews
from lifecycle.apiserver.authn.service_account import ServiceAccountTokens
from lifecycle.apiserver.authn.token_request import TokenRequests
from lifecycle.apiserver.authn.union import Authenticator, UnionRequestAuthenticator, UnionTokenAuthenticator
from lifecycle.apiserver.authn.x509 import X509Authenticator
from lifecycle.apiserver.authz.always import PrivilegedGroups
from lifecycle.apiserver.authz.escalation import EscalationCheck
from lifecycle.apiserver.authz.node import NodeAuthorizer
from lifecycle.apiserver.authz.rbac import RBACAuthorizer
from lifecycle.apiserver.authz.reviews import AccessReviews, Review
from lifecycle.apiserver.authz.union import UnionAuthorizer
from lifecycle.apiserver.chain import ChainConfig
from lifecycle.apiserver.filters.audit import AuditLog
from lifecycle.apiserver.filters.priority_and_fairness import FlowController
from lifecycle.apiserver.object_reader import ObjectReader


class Config:
    """The guards of one server, over the server's own caches.

    `static_tokens` maps bearer tokens to users. `audit` is off when None. `resource_quota.update_status` is for the server to set: it
    is how quotas are charged.
    """

    def __init__(
        self,
        reader: ObjectReader,
        clock: Clock,
        names: NameSource,
        *,
        static_tokens: Mapping[str, UserInfo] | None = None,
        allow_anonymous: bool = True,
        audit: AuditLog | None = None,
        flow_control: bool = True,
        request_names: NameSource | None = None,
    ) -> None:
        self.tokens = ServiceAccountTokens(reader, clock, request_names or NameSource())
        self.token_authenticator = UnionTokenAuthenticator(
            StaticTokenAuthenticator(static_tokens or {}), self.tokens, BootstrapTokenAuthenticator(reader, clock)
        )
        credentials = UnionRequestAuthenticator(X509Authenticator(), BearerTokenAuthenticator(self.token_authenticator))
        self.authenticator = Authenticator(credentials, allow_anonymous=allow_anonymous)

        self.rbac = RBACAuthorizer(reader)
        self.authorizer = UnionAuthorizer(PrivilegedGroups(), NodeAuthorizer(reader), self.rbac)
        self.escalation = EscalationCheck(self.authorizer, self.rbac)

        self.resource_quota = ResourceQuota(reader)
        plugins = [*default_plugins(reader, names), self.resource_quota, RoleEscalation(self.escalation)]
        self.admission = AdmissionChain(plugins)
        self.chain = ChainConfig(
            authenticator=self.authenticator,
            authorizer=self.authorizer,
            flow_control=FlowController(reader) if flow_control else None,
            audit=audit,
            names=request_names or NameSource(),
        )
        self.token_requests = TokenRequests(self.tokens)
        self.openid_metadata = OpenIDMetadata(self.tokens)
        self._authentication_reviews = AuthenticationReviews(self.token_authenticator, clock, self.tokens.audiences)
        self._access_reviews = AccessReviews(self.authorizer)

    @property
    def virtual_resources(self) -> dict[tuple[str, str], Review]:
        """Resources that are answered and never stored: `(group, plural)` → `review(request, obj) -> obj`."""
        return self._authentication_reviews.virtual_resources() | self._access_reviews.virtual_resources()

    @property
    def virtual_subresources(self) -> dict[tuple[str, str, str], Callable[..., object]]:
        """The same for subresources: `(group, plural, subresource)` → `create(request, obj) -> obj`."""
        return {("", "serviceaccounts", "token"): self.token_requests.create}
