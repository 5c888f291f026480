"""Claims about what is shown: certificates, tokens, passwords, accounts."""

from __future__ import annotations

import tempfile
from pathlib import Path

from lifecycle.agreements.claim_checks.authenticating import (
    ACCOUNT,
    JANE,
    certificate,
    exchange_at,
    identity,
    standard,
    words,
)
from lifecycle.api.loop.clock import Clock
from lifecycle.api.names import NameSource
from lifecycle.apiserver.authn.authenticator import (
    Identity,
)
from lifecycle.apiserver.authn.bearer_token import (
    BearerTokenAuthenticator,
)
from lifecycle.apiserver.authn.client_ca import ClientCAVerifier
from lifecycle.apiserver.authn.options import (
    AuthenticationOptions,
    build_authentication,
)
from lifecycle.apiserver.authn.service_account import ServiceAccountTokens
from lifecycle.apiserver.authn.x509 import X509Authenticator
from lifecycle.apiserver.pki.certificates import CertificateAuthority
from lifecycle.apiserver.storage.object_reader import StaticReader
from lifecycle.compare.claims import Partly, check, rebuilt
from lifecycle.historical.apiserver.password_file import (
    BasicAuthAuthenticator,
    Entry,
)
from lifecycle.inspector import Recording


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
    anybody = identity(
        standard(), der=certificate(CertificateAuthority(), "nobody-ever-heard-of")
    )
    return Partly(
        here is not None and gone is None and changed is None, anybody is not None
    )
