"""Claims about authentication, put to recorded answers and to our authenticators.

What a client was told, the recordings show; in which order a server asks and what it
hands on, only a component can.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

from cryptography import x509
from cryptography.hazmat.primitives.serialization import Encoding

from lifecycle.agreements.claim_checks.on_a_loop import on_a_loop
from lifecycle.api.clock import Clock
from lifecycle.api.names import NameSource
from lifecycle.api.wire import Object, Request, RequestInfo, Response, UserInfo
from lifecycle.apiserver.admission.default_plugins import default_plugins
from lifecycle.apiserver.authn.authenticator import (
    AuthenticationError,
    Identity,
    settled,
)
from lifecycle.apiserver.authn.bearer_token import (
    EXTRA_SPACE,
    BearerTokenAuthenticator,
    StaticTokenAuthenticator,
)
from lifecycle.apiserver.authn.client_ca import ClientCAVerifier
from lifecycle.apiserver.authn.options import (
    AuthenticationOptions,
    build_authentication,
    oidc_issuer,
)
from lifecycle.apiserver.authn.service_account import ServiceAccountTokens
from lifecycle.apiserver.authn.union import Authenticator, UnionRequestAuthenticator
from lifecycle.apiserver.authn.x509 import X509Authenticator
from lifecycle.apiserver.authz.authorizer import ALLOW, UserRules, Verdict
from lifecycle.apiserver.filters.authentication import with_authentication
from lifecycle.apiserver.pki.certificates import CertificateAuthority
from lifecycle.apiserver.registry.strategies import set_defaults
from lifecycle.apiserver.server.chain import (
    ChainConfig,
    default_build_handler_chain,
)
from lifecycle.apiserver.storage.object_reader import StaticReader
from lifecycle.cluster.rehearsal import rehearse
from lifecycle.compare.claims import Partly, check, rebuilt
from lifecycle.controllers.manager import CONTROLLERS, OWN_IDENTITY
from lifecycle.historical.apiserver.password_file import (
    BasicAuthAuthenticator,
    Entry,
)
from lifecycle.inspector import Exchange, Recording

BINDINGS = "clusterrolebindings.rbac.authorization.k8s.io"
JANE = UserInfo("jane", ("devs",))
ACCOUNT: Object = {
    "apiVersion": "v1",
    "kind": "ServiceAccount",
    "metadata": {"name": "robot", "namespace": "default", "uid": "u1"},
}


def exchange_at(recording: Recording, moment: str) -> Exchange:
    """What was answered at a moment of the recorded scenario."""
    return next(each for each in recording.exchanges("authn") if each.moment == moment)


def words(exchange: Exchange) -> str:
    """Everything an answer says, as text."""
    return str(exchange.response)


def certificate(authority: CertificateAuthority, name: str, *groups: str) -> bytes:
    """A client certificate (DER)."""
    pem, _ = authority.client_certificate(name, groups)
    return x509.load_pem_x509_certificate(pem).public_bytes(Encoding.DER)


def standard() -> Authenticator:
    """Certificates, then one static token, then anonymous."""
    tokens = StaticTokenAuthenticator({"s3cret": JANE})
    return Authenticator(
        UnionRequestAuthenticator(X509Authenticator(), BearerTokenAuthenticator(tokens))
    )


def identity(
    authenticator: Any, header: str = "", der: bytes | None = None, path: str = "/api"
) -> Identity | None:
    """Whose request it is; None if it is refused."""
    request = Request(
        "GET",
        path,
        headers={"authorization": header} if header else {},
        peer_certificate=der,
    )
    try:
        return on_a_loop(settled(authenticator.authenticate_request(request)))
    except AuthenticationError:
        return None


def through(
    header: str, headers: dict[str, str] | None = None
) -> tuple[int, list[Request]]:
    """A request through the filter: the status, and what the next handler got to
    see.
    """
    seen: list[Request] = []

    async def handler(request: Request) -> Response:
        seen.append(request)
        return Response(200, obj={})

    async def ask() -> int:
        request = Request(
            "GET", "/api", headers={"authorization": header, **(headers or {})}
        )
        return (await with_authentication(handler, standard())(request)).status

    return on_a_loop(ask()), seen


class Spy:
    """An authorizer that allows everything and remembers who was asked about."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, str]] = []

    def authorize(self, user: UserInfo, info: RequestInfo) -> Verdict:
        """Yes."""
        self.asked.append((user.name, info.verb))
        return ALLOW

    def rules_for(self, user: UserInfo, namespace: str) -> UserRules:
        """Nothing."""
        return UserRules()


def chain(request: Request, **options: Any) -> tuple[int, dict[str, str], Spy]:
    """A request through the whole chain: status, headers, and what the authorizer was
    asked.
    """
    spy = Spy()

    async def api(request: Request) -> Response:
        return Response(200, obj={})

    async def ask() -> Response:
        return await default_build_handler_chain(
            api, ChainConfig(options.pop("who", standard()), spy, **options)
        )(request)

    answer = on_a_loop(ask())
    return answer.status, answer.headers, spy


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


@rebuilt("authn-x509-verifies-against-client-ca")
def verifies_against_ca() -> Partly:
    """The chain is verified; but no request is signed: one certificate serves any
    request that its connection carries.
    """
    authority, stranger = CertificateAuthority(), CertificateAuthority()
    ours = X509Authenticator(ClientCAVerifier(authority.ca_pem))
    good, bad = (
        certificate(authority, "alice", "devs"),
        certificate(stranger, "alice", "devs"),
    )
    answer = identity(ours, der=good)
    verified = (
        answer is not None
        and answer.user.groups[0] == "devs"
        and identity(ours, der=bad) is None
    )
    other = identity(ours, "anything", good, "/another/path")
    return Partly(verified, other == answer)


@rebuilt("authn-static-token-file")
def static_token_file() -> Partly:
    """A token of the file is recognised; so is a service account's, which is in no
    file.
    """
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "tokens.csv"
        path.write_text('s3cret,jane,7,"devs"\n')
        tokens = ServiceAccountTokens(StaticReader([ACCOUNT]), Clock(), NameSource(1))
        ours = build_authentication(
            AuthenticationOptions(token_auth_file=path), Clock(), (tokens,)
        ).authenticator
    listed, unlisted = (
        identity(ours, "Bearer s3cret"),
        identity(ours, f"Bearer {tokens.issue(ACCOUNT, tokens.audiences, 600)}"),
    )
    known = listed is not None and listed.user.name == "jane"
    return Partly(
        known,
        unlisted is not None
        and unlisted.user.name == "system:serviceaccount:default:robot",
    )


@check("authn-password-authenticator")
def password(recording: Recording) -> bool:
    """Whoever sends a password would have to be somebody."""
    return "system:anonymous" not in words(exchange_at(recording, "basic auth"))


@rebuilt("authn-password-authenticator", model=True)
def password_of_old() -> bool:
    """The model of 1.18: the right password is a user, the wrong one an error."""
    old = BasicAuthAuthenticator({"jane": Entry(JANE, "secret")})
    right = identity(old, "Basic amFuZTpzZWNyZXQ=")
    return right == Identity(JANE) and identity(old, "Basic amFuZTp3cm9uZw==") is None


@check("authn-approval-yields-unauthorized")
def approval_is_unauthorized(recording: Recording) -> bool:
    """An approved administrator would have to be turned away."""
    return exchange_at(recording, "impersonation by admin").status == 401


@rebuilt("authn-approval-yields-unauthorized")
def ours_approve() -> bool:
    """A good token, and the next handler."""
    status, seen = through("Bearer s3cret")
    assert (status, len(seen)) in ((200, 1), (401, 0))
    return status == 401


@check("authn-failure-stops-the-request")
def failure_stops(recording: Recording) -> bool:
    """A bad token is a 401, where no token at all got as far as a 403."""
    return (
        exchange_at(recording, "bad token").status,
        exchange_at(recording, "anonymous list").status,
    ) == (401, 403)


@rebuilt("authn-failure-stops-the-request")
def ours_stop() -> bool:
    """The next handler never sees the request. Nor, where nobody may be anonymous, that
    of somebody who shows nothing, but for the paths that are for all; and two spaces
    before a token are none.
    """
    nobody = UnionRequestAuthenticator()
    strict = Authenticator(nobody, allow_anonymous=False)
    healthy = Authenticator(nobody, anonymous_paths=("/healthz",))
    asked = [
        identity(ours, path=path)
        for ours in (strict, healthy)
        for path in ("/healthz", "/healthz/etcd")
    ]
    _, [seen] = through("Bearer  s3cret")
    return (
        through("Bearer guess") == (401, [])
        and [who is not None for who in asked] == [False, False, True, False]
        and seen.user is not None
        and seen.user.name == "system:anonymous"
        and seen.warnings == [EXTRA_SPACE]
    )


@rebuilt("authn-authorization-header-removed")
def header_removed() -> bool:
    """Gone when the next handler gets the request; other headers stay."""
    _, seen = through("Bearer s3cret", {"accept": "x"})
    return [request.headers for request in seen] == [{"accept": "x"}]


@rebuilt("authn-user-stored-in-request-context")
def user_stored() -> bool:
    """On the request, and the same one that authorization is asked about."""
    _, seen = through("Bearer s3cret")
    _, _, spy = chain(
        Request("GET", "/api", headers={"authorization": "Bearer s3cret"})
    )
    return (
        seen[0].user is not None
        and seen[0].user.name == "jane"
        and spy.asked == [("jane", "get")]
    )


@check("authn-inflight-impersonation-audit-run-later")
def later_stages(recording: Recording) -> bool:
    """A refused impersonation names the authenticated account; an allowed one is then
    judged as the other user.
    """
    refused, judged = (
        exchange_at(recording, "SA may not impersonate"),
        exchange_at(recording, "impersonated user without rights"),
    )
    return "system:serviceaccount:default:default" in words(
        refused
    ) and 'User "jane"' in words(judged)


@rebuilt("authn-inflight-impersonation-audit-run-later")
def ours_later_stages() -> bool:
    """Bad credentials never reach impersonation; good ones are asked about it first,
    and the other user after.
    """
    wish = {"impersonate-user": "bob"}
    refused, _, nobody = chain(
        Request("GET", "/api", headers={"authorization": "Bearer guess", **wish})
    )
    _, _, spy = chain(
        Request("GET", "/api", headers={"authorization": "Bearer s3cret", **wish})
    )
    users = [name for name, _ in spy.asked]
    return (
        refused == 401
        and nobody.asked == []
        and users[0] == "jane"
        and users[-1] == "bob"
    )


@rebuilt("authn-cors-and-timeout-run-later")
def cors_later() -> bool:
    """If CORS came after authentication, a preflight without credentials would end in a
    401.
    """
    headers = {"origin": "https://shop.example", "access-control-request-method": "GET"}
    status, sent, _ = chain(
        Request(
            "OPTIONS", "/api", headers={**headers, "authorization": "Bearer guess"}
        ),
        cors_allowed_origins=(r"https://shop\.example",),
    )
    assert status == 401 or "Access-Control-Allow-Origin" in sent
    return status == 401


@rebuilt("authn-admission-loaded-by-controller-manager")
def admission_in_manager() -> bool:
    """Where the plugins come from that a server runs without any controller manager.
    All that the manager knows is controllers, each of which the server knows by an
    account that has rights of its own.
    """
    accounts = {account for account, _ in CONTROLLERS.values()} - {OWN_IDENTITY}
    rights = rehearse(lambda cluster: cluster.items(BINDINGS))
    bound = {each["metadata"]["name"] for each in rights}
    assert {f"system:controller:{account}" for account in accounts} <= bound
    plugins = default_plugins(StaticReader(), NameSource(1), defaulter=set_defaults)
    return not plugins or any(
        type(each).__module__.startswith("lifecycle.controllers") for each in plugins
    )


def _object(kind: str, **meta: str) -> Object:
    return {"apiVersion": "v1", "kind": kind, "metadata": {"uid": f"u {kind}", **meta}}


POD, SECRET = (
    _object(kind, name="x", namespace="default") for kind in ("Pod", "Secret")
)
NODE = _object("Node", name="x")


def _dies_with(bound: dict[str, Object]) -> list[bool]:
    """Whether a token that is bound to these is recognised while all are there, when
    none is, and when the node is gone.
    """
    objects = [ACCOUNT, *bound.values()]
    issuer = ServiceAccountTokens(StaticReader(objects), Clock(), NameSource(1))
    token = issuer.issue(ACCOUNT, issuer.audiences, 600, bound=bound)
    left = [each for each in objects if each is not NODE]
    found = []
    for there in (objects, [ACCOUNT], left):
        tokens = ServiceAccountTokens(
            StaticReader(there), Clock(), NameSource(1), key=issuer.key
        )
        answer = identity(BearerTokenAuthenticator(tokens), f"Bearer {token}")
        found.append(answer is not None)
    return found


@check("authn-users-and-service-accounts")
def users_and_accounts(recording: Recording) -> Partly:
    """A service account is recognised as one; and whoever showed nothing is somebody,
    too.
    """
    account = words(exchange_at(recording, "service account lists pods"))
    return Partly(
        "system:serviceaccount:default:default" in account,
        "system:anonymous" in words(exchange_at(recording, "anonymous list")),
    )


@rebuilt("authn-users-and-service-accounts")
def ours_users_and_accounts() -> Partly:
    """A token is held against the account of today, which is to be the same one; a
    certificate's name against nothing.
    """
    tokens = ServiceAccountTokens(StaticReader([ACCOUNT]), Clock(), NameSource(1))
    token = tokens.issue(ACCOUNT, tokens.audiences, 600)
    orphan = ServiceAccountTokens(
        StaticReader(), Clock(), NameSource(1), key=tokens.key
    )
    another = {**ACCOUNT, "metadata": {**ACCOUNT["metadata"], "uid": "u2"}}
    namesake = ServiceAccountTokens(
        StaticReader([another]), Clock(), NameSource(1), key=tokens.key
    )
    here, gone, changed = (
        identity(BearerTokenAuthenticator(each), f"Bearer {token}")
        for each in (tokens, orphan, namesake)
    )
    assert _dies_with({"pod": POD, "node": NODE}) == [True, False, True]
    assert _dies_with({"node": NODE}) == [True, False, False]
    assert _dies_with({"secret": SECRET}) == [True, False, True]
    anybody = identity(
        standard(), der=certificate(CertificateAuthority(), "nobody-ever-heard-of")
    )
    return Partly(
        here is not None and gone is None and changed is None, anybody is not None
    )
