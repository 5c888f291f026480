"""Claims about authenticators: which there are, in which order they are asked, and what
becomes of their errors.
"""

from __future__ import annotations

from lifecycle.agreements.claim_checks.authenticating import (
    JANE,
    certificate,
    chain,
    identity,
    standard,
)
from lifecycle.agreements.claim_checks.on_a_loop import on_a_loop
from lifecycle.api.http.wire import Request
from lifecycle.api.loop.clock import Clock
from lifecycle.api.names import NameSource
from lifecycle.apiserver.admission.default_plugins import default_plugins
from lifecycle.apiserver.authn.authenticator import (
    AuthenticationError,
)
from lifecycle.apiserver.authn.bearer_token import (
    BearerTokenAuthenticator,
    StaticTokenAuthenticator,
)
from lifecycle.apiserver.authn.client_ca import ClientCAVerifier
from lifecycle.apiserver.authn.options import (
    AuthenticationOptions,
    build_authentication,
    oidc_issuer,
)
from lifecycle.apiserver.authn.union import UnionRequestAuthenticator
from lifecycle.apiserver.authn.x509 import X509Authenticator
from lifecycle.apiserver.pki.certificates import CertificateAuthority
from lifecycle.apiserver.registry.strategies import set_defaults
from lifecycle.apiserver.storage.object_reader import StaticReader
from lifecycle.compare.claims import Partly, rebuilt


@rebuilt("authn-chain-assembled-at-startup")
def chain_at_startup() -> Partly:
    """Built once from options: who shows both a certificate and a token is asked for
    the certificate first, and without that option the token counts. But a new
    configuration of identity providers is taken up while it runs.
    """
    der = certificate(CertificateAuthority(), "joe")
    named = []
    for believed in (True, False):
        ours = build_authentication(
            AuthenticationOptions(x509=believed),
            Clock(),
            (),
            static_tokens={"s3cret": JANE},
        )
        answer = identity(ours.authenticator, "Bearer s3cret", der)
        named.append(answer.user.name if answer else "")
    built = named == ["joe", "jane"]
    before = ours.configured.issuers
    ours.reload({"jwt": [oidc_issuer("https://idp.example", "kubernetes")]})
    return Partly(built and before == (), len(ours.configured.issuers) == 1)


@rebuilt("authn-client-ca-adds-x509")
def client_ca_adds_x509() -> bool:
    """With it a certificate is a user, without it nobody looks."""
    der = certificate(CertificateAuthority(), "jane")
    users = []
    for believed in (True, False):
        ours = build_authentication(AuthenticationOptions(x509=believed), Clock(), ())
        answer = identity(ours.authenticator, der=der)
        users.append(answer.user.name if answer else "")
    return users == ["jane", "system:anonymous"]


@rebuilt("authn-union-first-success-wins")
def first_success_wins() -> bool:
    """A good certificate beside a bad token."""
    answer = identity(
        standard(), "Bearer guess", certificate(CertificateAuthority(), "joe")
    )
    return answer is not None and answer.user.name == "joe"


@rebuilt("authn-all-fail-aggregate-error")
def aggregate_error() -> Partly:
    """All errors are in the one that is logged; the client reads one word, and who
    showed nothing caused no error at all.
    """
    bad = X509Authenticator(ClientCAVerifier(CertificateAuthority().ca_pem))
    union = UnionRequestAuthenticator(
        bad, BearerTokenAuthenticator(StaticTokenAuthenticator({}))
    )
    request = Request("GET", "/api", headers={"authorization": "Bearer x"})
    request.peer_certificate = certificate(CertificateAuthority(), "joe")
    try:
        on_a_loop(union.authenticate_request(request))
        logged = ""
    except AuthenticationError as error:
        logged = str(error)
    status, _, _ = chain(Request("GET", "/api", headers={"authorization": "Bearer x"}))
    nobody = identity(standard())
    both = "unknown authority" in logged and "invalid bearer token" in logged
    return Partly(
        both,
        status == 401 and nobody is not None and nobody.user.name == "system:anonymous",
    )


@rebuilt("authn-admission-loaded-by-controller-manager")
def admission_in_manager() -> bool:
    """Where the plugins come from that a server runs without any controller manager."""
    plugins = default_plugins(StaticReader(), NameSource(1), defaulter=set_defaults)
    return not plugins or any(
        type(each).__module__.startswith("lifecycle.controllers") for each in plugins
    )
