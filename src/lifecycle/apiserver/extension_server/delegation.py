"""Delegated authentication and authorization: an added server asks the cluster, and
keeps no users of its own.

Who is it? Mostly kube-apiserver comes, shows the front proxy's certificate and says in
headers for whom it asks. The certificate's authority and the names of the headers stand
in a config map that every such server may read. Whoever comes directly shows a client
certificate of the cluster, or a token, about which a `TokenReview` is posted.

May they? A `SubjectAccessReview` is posted for each question, and the answer kept for
ten seconds. So RBAC for added resources is written where all RBAC is.

Upstream: `apiserver/pkg/server/options/authentication.go`
(`DelegatingAuthenticationOptions`), `authorization.go`
(`DelegatingAuthorizationOptions`), v1.36. Left out: following the config map as it
changes.
"""

from __future__ import annotations

from dataclasses import replace

from lifecycle.api.http.wire import Object, RequestInfo, UserInfo
from lifecycle.api.loop.clock import Clock
from lifecycle.apiserver.aggregation.front_proxy import read_authentication_config_map
from lifecycle.apiserver.authn.options import (
    AuthenticationOptions,
    build_authentication,
)
from lifecycle.apiserver.authn.token_webhook import WebhookTokenAuthenticator
from lifecycle.apiserver.authn.union import Authenticator
from lifecycle.apiserver.authz.always import PrivilegedGroups
from lifecycle.apiserver.authz.authorizer import (
    ALLOW,
    NO_OPINION,
    Authorizer,
    UserRules,
    Verdict,
)
from lifecycle.apiserver.authz.union import UnionAuthorizer
from lifecycle.apiserver.authz.webhook import WebhookAuthorizer, WebhookSettings
from lifecycle.apiserver.webhook.client import WebhookClient
from lifecycle.client.transport_https import ConnectionConfig

TTL = 10.0
ALWAYS_ALLOWED_PATHS = ("/healthz", "/readyz", "/livez")
TOKEN_REVIEWS = "/apis/authentication.k8s.io/v1/tokenreviews"
ACCESS_REVIEWS = "/apis/authorization.k8s.io/v1/subjectaccessreviews"


class AlwaysAllowPaths:
    """Some paths are for everybody: whoever checks the server's health has no
    account.
    """

    def __init__(self, *paths: str) -> None:
        self._paths = frozenset(paths)

    def authorize(self, user: UserInfo, info: RequestInfo) -> Verdict:
        """Yes for the paths, no opinion about others."""
        return (
            ALLOW
            if not info.is_resource_request and info.path in self._paths
            else NO_OPINION
        )

    def rules_for(self, user: UserInfo, namespace: str) -> UserRules:
        """Nothing that depends on the user."""
        return UserRules()


def delegating_authenticator(
    config_map: Object, cluster: ConnectionConfig, clock: Clock
) -> Authenticator:
    """Front proxy, client certificates, tokens; in this order. Raises ValueError for a
    config map that says nothing.
    """
    client_ca, request_header = read_authentication_config_map(config_map)
    reviews = WebhookClient(
        replace(cluster, server=cluster.server.rstrip("/") + TOKEN_REVIEWS)
    )
    tokens = WebhookTokenAuthenticator(reviews, clock, version="v1", cache_ttl=TTL)
    options = AuthenticationOptions(
        request_header=request_header, client_ca=client_ca, x509=bool(client_ca)
    )
    return build_authentication(options, clock, (tokens,)).authenticator


def delegating_authorizer(cluster: ConnectionConfig, clock: Clock) -> Authorizer:
    """Masters, paths for everybody, then whatever the cluster says."""
    reviews = WebhookClient(
        replace(cluster, server=cluster.server.rstrip("/") + ACCESS_REVIEWS)
    )
    settings = WebhookSettings(authorized_ttl=TTL, unauthorized_ttl=TTL)
    return UnionAuthorizer(
        PrivilegedGroups(),
        AlwaysAllowPaths(*ALWAYS_ALLOWED_PATHS),
        WebhookAuthorizer(reviews, clock, settings),
    )
