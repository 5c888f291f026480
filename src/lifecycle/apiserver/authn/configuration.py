"""`AuthenticationConfiguration`: identity providers and anonymous requests, as a file
that may change while the server runs.

The old `--oidc-*` flags know one issuer. The file knows up to 64, each with its
mappings and rules, and says on which paths a request may be anonymous. Whatever it says
is checked before it counts, CEL expressions included; a server with a wrong file does
not start, and a running one keeps the last good one.

Upstream: `apiserver/pkg/apis/apiserver/validation/validation.go`
(`ValidateAuthenticationConfiguration`), `pkg/kubeapiserver/options/authentication.go`,
`pkg/kubeapiserver/authenticator/config.go` (`updateAuthenticationConfig`), v1.36. Left
out: egress selectors, watching the file (`reload` is what it would call).
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from lifecycle.api.aggregate import aggregate
from lifecycle.api.field_errors import (
    FieldError,
    duplicate,
    invalid,
    required,
    too_many,
)
from lifecycle.api.go.format import go_quote
from lifecycle.api.go.url import go_url_problem
from lifecycle.api.http.wire import Object
from lifecycle.api.late_import import late_import
from lifecycle.api.loop.clock import Clock
from lifecycle.api.validation import content
from lifecycle.apiserver.authn.authenticator import Identity
from lifecycle.apiserver.authn.jwt_authenticator import JWTAuthenticator
from lifecycle.apiserver.authn.union import UnionTokenAuthenticator
from lifecycle.apiserver.cel.environment import CompileError
from lifecycle.apiserver.cel.expression import Expression

if TYPE_CHECKING:
    from cryptography import x509
else:
    x509 = late_import("cryptography.x509")

MAX_ISSUERS = 64
HTTP_PATH = r"[A-Za-z0-9/\-._~%!$&'()*+,;=:]+"
EMAIL_RULE = (
    "claims.email_verified must be used in claimMappings.username.expression or"
    " claimMappings.extra[*].valueExpression or claimValidationRules[*].expression when"
    " claims.email is used in claimMappings.username.expression"
)
RESERVED = "k8s.io, kubernetes.io and their subdomains are reserved for Kubernetes use"


class ConfiguredTokens:
    """The issuers of a configuration, exchangeable while requests are served.
    `own_issuers` are the server's, and taken.
    """

    def __init__(self, clock: Clock, own_issuers: Iterable[str] = ()) -> None:
        self._clock = clock
        self._own = frozenset(own_issuers)
        self._union = UnionTokenAuthenticator()
        self.issuers: tuple[JWTAuthenticator, ...] = ()

    def reload(self, document: Object) -> None:
        """Take another configuration. Raises ValueError for one that is not valid, and
        then keeps the old.
        """
        validate = validate_authentication_configuration
        errors = validate(document) or validate(document, self._own)
        if errors:
            whole = aggregate([str(error) for error in errors])
            raise ValueError(f"invalid authentication configuration: {whole}")
        for entry in document.get("jwt") or ():
            if egress := entry["issuer"].get("egressSelectorType"):
                raise ValueError(
                    "oidc: egress lookup required with egress selector type"
                    f" {go_quote(egress)}"
                )
        self.issuers = tuple(
            JWTAuthenticator(entry, self._clock) for entry in document.get("jwt") or ()
        )
        self._union = UnionTokenAuthenticator(*self.issuers)

    async def authenticate_token(
        self, token: str, audiences: tuple[str, ...] = ()
    ) -> Identity | None:
        """Whose token it is, says the issuer it is from."""
        return await self._union.authenticate_token(token, audiences)


def validate_authentication_configuration(
    document: Object, own_issuers: Iterable[str] = ()
) -> list[FieldError]:
    """Everything that is wrong with a configuration."""
    entries = document.get("jwt") or []
    if len(entries) > MAX_ISSUERS:
        return [too_many("jwt", len(entries), MAX_ISSUERS)]
    errors: list[FieldError] = []
    issuers: set[str] = set()
    discovery: set[str] = set()
    own = frozenset(own_issuers)
    for i, entry in enumerate(entries):
        path, issuer = f"jwt[{i}]", entry.get("issuer") or {}
        url, other = issuer.get("url", ""), issuer.get("discoveryURL", "")
        errors += _validate_issuer(issuer, f"{path}.issuer", own)
        errors += _validate_claim_rules(
            entry.get("claimValidationRules") or [], f"{path}.claimValidationRules"
        )
        errors += _validate_mappings(entry, f"{path}.claimMappings")
        errors += _validate_user_rules(
            entry.get("userValidationRules") or [], f"{path}.userValidationRules"
        )
        if url in issuers:
            errors.append(duplicate(f"{path}.issuer.url", url))
        issuers.add(url)
        if other and other in discovery:
            errors.append(duplicate(f"{path}.issuer.discoveryURL", other))
        discovery.add(other)
    anonymous = document.get("anonymous") or {}
    if not anonymous.get("enabled") and anonymous.get("conditions"):
        message = "enabled should be set to true when conditions are defined"
        shown = [{"Path": each.get("path", "")} for each in anonymous["conditions"]]
        errors.append(invalid("anonymous.conditions", shown, message))
    return errors


def _validate_issuer(
    issuer: Object, path: str, own: frozenset[str]
) -> list[FieldError]:
    url, other = issuer.get("url", ""), issuer.get("discoveryURL", "")
    errors = (
        _validate_url(url, f"{path}.url", own) if url else [required(f"{path}.url")]
    )
    if other:
        if url and url.rstrip("/") == other.rstrip("/"):
            errors.append(
                invalid(
                    f"{path}.discoveryURL",
                    other,
                    "discoveryURL must be different from URL",
                )
            )
        errors += _validate_url(other, f"{path}.discoveryURL", frozenset())
    audiences, policy = (
        issuer.get("audiences") or [],
        issuer.get("audienceMatchPolicy", ""),
    )
    if not audiences:
        errors.append(
            required(f"{path}.audiences", f"at least one {path}.audiences is required")
        )
    for i, audience in enumerate(audiences):
        if not audience:
            errors.append(required(f"{path}.audiences[{i}]"))
        if audience in audiences[:i]:
            errors.append(duplicate(f"{path}.audiences[{i}]", audience))
    field = f"{path}.audienceMatchPolicy"
    if len(audiences) > 1 and policy != "MatchAny":
        errors.append(
            invalid(
                field,
                policy,
                "audienceMatchPolicy must be MatchAny for multiple audiences",
            )
        )
    if len(audiences) == 1 and policy not in ("", "MatchAny"):
        errors.append(
            invalid(
                field,
                policy,
                "audienceMatchPolicy must be empty or MatchAny for single audience",
            )
        )
    if issuer.get("certificateAuthority"):
        try:
            x509.load_pem_x509_certificates(issuer["certificateAuthority"].encode())
        except ValueError:
            wrong = "data does not contain any valid RSA or ECDSA certificates"
            errors.append(invalid(f"{path}.certificateAuthority", "<omitted>", wrong))
    egress = issuer.get("egressSelectorType", "")
    if egress not in ("", "controlplane", "cluster"):
        wrong = "egress selector must be either controlplane or cluster"
        errors.append(invalid(f"{path}.egressSelectorType", egress, wrong))
    return errors


def _validate_url(text: str, path: str, own: frozenset[str]) -> list[FieldError]:
    errors = []
    if text in own:
        taken = f"[{' '.join(sorted(own))}]"
        errors.append(
            invalid(
                path, text, f"URL must not overlap with disallowed issuers: {taken}"
            )
        )
    if problem := go_url_problem(text):
        return [invalid(path, text, f"parse {go_quote(text)}: {problem}")]
    url = urlsplit(text)
    if url.scheme != "https":
        errors.append(invalid(path, text, "URL scheme must be https"))
    if "@" in url.netloc:
        errors.append(
            invalid(path, text, "URL must not contain a username or password")
        )
    if url.query:
        errors.append(invalid(path, text, "URL must not contain a query"))
    if url.fragment:
        errors.append(invalid(path, text, "URL must not contain a fragment"))
    return errors


def _validate_claim_rules(rules: list[Object], path: str) -> list[FieldError]:
    errors: list[FieldError] = []
    claims: set[str] = set()
    expressions: set[str] = set()
    for i, rule in enumerate(rules):
        field, claim, text = (
            f"{path}[{i}]",
            rule.get("claim", ""),
            rule.get("expression", ""),
        )
        if claim and text:
            errors.append(
                invalid(field, claim, "claim and expression can't both be set")
            )
        elif claim:
            if rule.get("message"):
                errors.append(
                    invalid(
                        f"{field}.message",
                        rule["message"],
                        "may not be specified when claim is set",
                    )
                )
            if claim in claims:
                errors.append(duplicate(f"{field}.claim", claim))
            claims.add(claim)
        elif text:
            if rule.get("requiredValue"):
                wrong = "may not be specified when expression is set"
                errors.append(
                    invalid(f"{field}.requiredValue", rule["requiredValue"], wrong)
                )
            if text in expressions:
                errors.append(duplicate(f"{field}.expression", text))
            else:
                errors += _compile(
                    text, f"{field}.expression", "claims", condition=True
                )
            expressions.add(text)
        else:
            errors.append(required(field, "claim or expression is required"))
    return errors


def _validate_mappings(entry: Object, path: str) -> list[FieldError]:
    mappings = entry.get("claimMappings") or {}
    errors = _validate_mapping(
        mappings.get("username") or {}, f"{path}.username", needed=True
    )
    errors += _validate_mapping(
        mappings.get("groups") or {}, f"{path}.groups", needed=False
    )
    uid = mappings.get("uid") or {}
    if uid.get("claim") and uid.get("expression"):
        errors.append(
            invalid(f"{path}.uid", "", "claim and expression can't both be set")
        )
    elif uid.get("expression"):
        errors += _compile(uid["expression"], f"{path}.uid.expression", "claims")
    errors += _validate_extra(mappings.get("extra") or [], f"{path}.extra")
    text = (mappings.get("username") or {}).get("expression", "")
    others = [each.get("valueExpression", "") for each in mappings.get("extra") or ()]
    others += [
        rule.get("expression", "") for rule in entry.get("claimValidationRules") or ()
    ]
    if (
        not errors
        and _reads(text, "email")
        and not any(_reads(each, "email_verified") for each in (text, *others))
    ):
        errors.append(invalid(f"{path}.username.expression", text, EMAIL_RULE))
    return errors


def _validate_mapping(mapping: Object, path: str, *, needed: bool) -> list[FieldError]:
    claim, text = mapping.get("claim", ""), mapping.get("expression", "")
    if claim and text:
        return [invalid(path, "", "claim and expression can't both be set")]
    if text:
        wrong = []
        if mapping.get("prefix") is not None:
            wrong.append(
                invalid(
                    f"{path}.prefix",
                    mapping["prefix"],
                    "may not be specified when expression is set",
                )
            )
        return wrong + _compile(text, f"{path}.expression", "claims")
    if claim and mapping.get("prefix") is None:
        why = (
            "prefix is required when claim is set. It can be set to an empty string to"
            " disable prefixing"
        )
        return [required(f"{path}.prefix", why)]
    return (
        [required(path, "claim or expression is required")]
        if needed and not claim
        else []
    )


def _validate_extra(extra: list[Object], path: str) -> list[FieldError]:
    errors: list[FieldError] = []
    seen: set[str] = set()
    for i, each in enumerate(extra):
        field, key, text = (
            f"{path}[{i}]",
            each.get("key", ""),
            each.get("valueExpression", ""),
        )
        domain, slash, rest = key.partition("/")
        if not key:
            errors.append(required(f"{field}.key"))
        elif not slash or not domain or not rest:
            errors.append(
                invalid(
                    f"{field}.key",
                    key,
                    'must be a domain-prefixed path (such as "acme.io/foo")',
                )
            )
        else:
            errors += [
                invalid(f"{field}.key", domain, why)
                for why in content.dns1123_subdomain(domain)
            ]
            if re.fullmatch(HTTP_PATH, rest) is None:
                why = content.regex_error("Invalid path", HTTP_PATH)
                errors.append(invalid(f"{field}.key", rest, why))
        if key != key.lower():
            errors.append(invalid(f"{field}.key", key, "must be lowercase"))
        if slash and any(
            domain == own or domain.endswith(f".{own}")
            for own in ("kubernetes.io", "k8s.io")
        ):
            errors.append(invalid(f"{field}.key", key, RESERVED))
        if key in seen:
            errors.append(duplicate(f"{field}.key", key))
        elif not text:
            errors.append(required(f"{field}.valueExpression"))
        else:
            errors += _compile(text, f"{field}.valueExpression", "claims")
        seen.add(key)
    return errors


def _validate_user_rules(rules: list[Object], path: str) -> list[FieldError]:
    errors: list[FieldError] = []
    seen: set[str] = set()
    for i, rule in enumerate(rules):
        field, text = f"{path}[{i}].expression", rule.get("expression", "")
        if not text:
            errors.append(required(field))
        elif text in seen:
            errors.append(duplicate(field, text))
        else:
            errors += _compile(text, field, "user", condition=True)
        seen.add(text)
    return errors


def _compile(
    text: str, path: str, name: str, *, condition: bool = False
) -> list[FieldError]:
    try:
        Expression(text, name, condition=condition)
    except CompileError as error:
        return [invalid(path, text, str(error))]
    return []


def _reads(text: str, claim: str) -> bool:
    return bool(text) and Expression(text, "claims").selects(claim)
