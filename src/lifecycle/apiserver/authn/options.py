"""Which authenticators guard a server: the `--…-auth-…` flags, as options, and the
order they end up in.

Upstream: `pkg/kubeapiserver/options/authentication.go`
(`BuiltInAuthenticationOptions`), `pkg/kubeapiserver/authenticator/config.go`
(`Config.New`), v1.36: the front proxy, client certificates, then tokens – from files,
of service accounts, for bootstrapping, of identity providers, and last the webhook:
what can be answered here comes before what must be asked elsewhere. Left out: legacy
`--oidc-*` flags (`oidc_issuer` makes the configuration that they stand for).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from lifecycle.api.http.wire import Object, UserInfo
from lifecycle.api.loop.clock import Clock
from lifecycle.apiserver.authn.authenticator import (
    RequestAuthenticator,
    TokenAuthenticator,
)
from lifecycle.apiserver.authn.bearer_token import (
    BearerTokenAuthenticator,
    StaticTokenAuthenticator,
)
from lifecycle.apiserver.authn.client_ca import ClientCAVerifier
from lifecycle.apiserver.authn.configuration import ConfiguredTokens
from lifecycle.apiserver.authn.request_header import (
    RequestHeaderAuthenticator,
    RequestHeaderConfig,
)
from lifecycle.apiserver.authn.token_file import read_token_file
from lifecycle.apiserver.authn.token_webhook import CACHE_TTL, WebhookTokenAuthenticator
from lifecycle.apiserver.authn.union import (
    Authenticator,
    UnionRequestAuthenticator,
    UnionTokenAuthenticator,
)
from lifecycle.apiserver.authn.websocket_protocol import WebSocketProtocolAuthenticator
from lifecycle.apiserver.authn.x509 import X509Authenticator
from lifecycle.apiserver.webhook.client import (
    WebhookClient,
    read_webhook_kubeconfig,
)


@dataclass(slots=True)
class AuthenticationOptions:
    """What else a server believes, beside its own client CA and its own tokens. TTLs
    are in seconds.

    `configuration` is an `AuthenticationConfiguration`; its `anonymous`, if any, takes
    the place of `anonymous`. `client_ca` (PEM) is needed only beside a
    `request_header`, whose authority TLS accepts as well.
    """

    token_auth_file: Path | None = None
    webhook_config_file: Path | None = None
    webhook_version: str = "v1beta1"
    webhook_cache_ttl: float = CACHE_TTL
    request_header: RequestHeaderConfig | None = None
    client_ca: bytes = b""
    x509: bool = True
    configuration: Object = field(default_factory=dict)
    anonymous: bool = True

    def check(self) -> None:
        """Raises ValueError for a token file that cannot be used."""
        if self.token_auth_file is not None:
            read_token_file(self.token_auth_file)


@dataclass(slots=True)
class Authentication:
    """The authenticators of a server: the chain's, the tokens' alone, and what a new
    configuration goes to.
    """

    authenticator: Authenticator
    tokens: UnionTokenAuthenticator
    configured: ConfiguredTokens
    requests: tuple[RequestAuthenticator, ...]

    def reload(self, document: Object) -> None:
        """Take another `AuthenticationConfiguration`. Raises ValueError for one that is
        not valid, and then keeps the old.
        """
        self.configured.reload(document)
        anonymous = document.get("anonymous")
        if anonymous is not None:
            paths = [each["path"] for each in anonymous.get("conditions") or ()]
            self.authenticator.limit_anonymous(bool(anonymous.get("enabled")), paths)


def build_authentication(
    options: AuthenticationOptions,
    clock: Clock,
    own: Sequence[TokenAuthenticator],
    *,
    static_tokens: Mapping[str, UserInfo] | None = None,
    issuers: tuple[str, ...] = (),
    audiences: tuple[str, ...] = (),
) -> Authentication:
    """The authenticators in upstream's order. `own` recognise the cluster's own tokens.
    Raises ValueError, OSError for files that cannot be used.
    """
    known = dict(static_tokens or {})
    if options.token_auth_file is not None:
        known |= read_token_file(options.token_auth_file)
    configured = ConfiguredTokens(clock, issuers)
    tokens: list[TokenAuthenticator] = [
        StaticTokenAuthenticator(known),
        *own,
        configured,
    ]
    if options.webhook_config_file is not None:
        client = WebhookClient(read_webhook_kubeconfig(options.webhook_config_file))
        tokens.append(
            WebhookTokenAuthenticator(
                client,
                clock,
                version=options.webhook_version,
                implicit_audiences=audiences,
                cache_ttl=options.webhook_cache_ttl,
            )
        )
    union = UnionTokenAuthenticator(*tokens)
    requests = _requests(options, union)
    authenticator = Authenticator(
        UnionRequestAuthenticator(*requests), allow_anonymous=options.anonymous
    )
    authentication = Authentication(authenticator, union, configured, tuple(requests))
    if options.configuration:
        authentication.reload(options.configuration)
    return authentication


def _requests(
    options: AuthenticationOptions, tokens: TokenAuthenticator
) -> list[RequestAuthenticator]:
    requests: list[RequestAuthenticator] = []
    if options.request_header is not None:
        requests.append(RequestHeaderAuthenticator(options.request_header))
    if options.x509:
        requests.append(
            X509Authenticator(
                ClientCAVerifier(options.client_ca) if options.client_ca else None
            )
        )
    return [
        *requests,
        BearerTokenAuthenticator(tokens),
        WebSocketProtocolAuthenticator(tokens),
    ]


def oidc_issuer(
    url: str,
    audience: str,
    *,
    ca: str = "",
    username: str = "sub",
    prefix: str = "",
    groups: str = "",
    groups_prefix: str = "",
) -> Object:
    """One issuer as `--oidc-issuer-url`, `--oidc-client-id` and their companions
    describe it. Without a prefix, all user names but mail addresses get the issuer's
    address in front; `-` means none.
    """
    if not prefix and username != "email":
        prefix = f"{url}#"
    mappings: Object = {
        "username": {"claim": username, "prefix": "" if prefix == "-" else prefix}
    }
    if groups:
        mappings["groups"] = {"claim": groups, "prefix": groups_prefix}
    return {
        "issuer": {"url": url, "certificateAuthority": ca, "audiences": [audience]},
        "claimMappings": mappings,
    }
