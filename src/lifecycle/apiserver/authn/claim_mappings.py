"""From a token's claims to a user, as the configuration says.

A user name may be a claim with a prefix, or a CEL expression over all claims; so may
groups and the uid. Rules then judge: some look at the claims, some at the finished user
(that no outsider shall be called `system:…`, say). Every sentence here can be read in a
`TokenReview`.

Upstream: `apiserver/plugin/pkg/authenticator/token/oidc/oidc.go` (`getUsername`,
`getGroups`, `getUID`, `getExtra`, `checkValidationRulesEvaluation`,
`convertCELValueToStringList`), v1.36.
"""

from __future__ import annotations

from typing import Any

from lifecycle.api.go.format import go_quote
from lifecycle.api.go.json.decode import wrong_type
from lifecycle.api.http.wire import Object, UserInfo
from lifecycle.apiserver.authn.authenticator import CREDENTIAL_ID, AuthenticationError
from lifecycle.apiserver.cel.environment import EvaluationError
from lifecycle.apiserver.cel.expression import Expression

_NOT_STRINGS = "expression must return a string or a list of strings"


class ClaimMapper:
    """One issuer's mappings and rules, compiled. The document must be valid."""

    def __init__(self, jwt: Object) -> None:
        self._mappings: Object = jwt.get("claimMappings") or {}
        uid, groups = (
            self._mappings.get("uid") or {},
            self._mappings.get("groups") or {},
        )
        self._username = _compiled(
            (self._mappings.get("username") or {}).get("expression")
        )
        self._groups = _compiled(groups.get("expression"))
        self._uid = _compiled(uid.get("expression"))
        self._extra = [
            (each["key"], Expression(each["valueExpression"], "claims"))
            for each in self._mappings.get("extra") or ()
        ]
        rules = jwt.get("claimValidationRules") or []
        self._required = {
            rule["claim"]: rule.get("requiredValue", "")
            for rule in rules
            if rule.get("claim")
        }
        self._claim_rules = [
            (
                Expression(rule["expression"], "claims", condition=True),
                rule.get("message", ""),
            )
            for rule in rules
            if rule.get("expression")
        ]
        self._user_rules = [
            (
                Expression(rule["expression"], "user", condition=True),
                rule.get("message", ""),
            )
            for rule in jwt.get("userValidationRules") or ()
        ]

    def user(self, claims: Object) -> UserInfo:
        """Who the claims say it is. Raises AuthenticationError."""
        seen = _with_doubles(claims)
        name, groups, uid = (
            self._user_name(claims, seen),
            self._group_names(claims, seen),
            self._user_id(claims, seen),
        )
        user = UserInfo(name, groups, uid, self._extras(claims, seen))
        for claim, required_value in self._required.items():
            if claim not in claims:
                raise AuthenticationError(
                    f"oidc: required claim {claim} not present in ID token"
                )
            value = _string(claims, claim, f"oidc: parse claim {claim}")
            if value != required_value:
                raise AuthenticationError(
                    f"oidc: required claim {claim} value does not match. Got = {value},"
                    f" want = {required_value}"
                )
        _judge(
            self._claim_rules,
            "oidc: error evaluating claim validation expression",
            seen,
        )
        if self._user_rules:
            info = {
                "username": user.name,
                "uid": user.uid,
                "groups": list(user.groups),
                "extra": {key: list(values) for key, values in user.extra.items()},
            }
            _judge(
                self._user_rules,
                "oidc: error evaluating user info validation rule",
                info,
            )
        return user

    def _user_name(self, claims: Object, seen: Object) -> str:
        about = "oidc: error evaluating username claim expression"
        if self._username is not None:
            value = _evaluate(self._username, about, seen)
            if not isinstance(value, str):
                raise AuthenticationError(
                    f"{about}: username claim expression must return a string"
                )
            if not value:
                raise AuthenticationError(
                    "oidc: empty username via CEL expression is not allowed"
                )
            return value
        mapping = self._mappings["username"]
        claim: str = mapping["claim"]
        name = _string(claims, claim, f"oidc: parse username claims {go_quote(claim)}")
        if claim == "email" and "email_verified" in claims:
            verified = claims["email_verified"]
            if not isinstance(verified, bool):
                wrong = wrong_type(verified, "bool")
                raise AuthenticationError(
                    f"oidc: parse 'email_verified' claim: {wrong}"
                )
            if not verified:
                raise AuthenticationError("oidc: email not verified")
        return (mapping.get("prefix") or "") + name

    def _group_names(self, claims: Object, seen: Object) -> tuple[str, ...]:
        mapping = self._mappings.get("groups") or {}
        claim = mapping.get("claim")
        if claim and claim in claims:
            value = claims[claim]
            names = [value] if isinstance(value, str) else value
            if not isinstance(names, list) or not all(
                isinstance(name, str) for name in names
            ):
                wrong = wrong_type(value, "string")
                raise AuthenticationError(
                    f"oidc: parse groups claim {go_quote(claim)}: {wrong}"
                )
            return tuple((mapping.get("prefix") or "") + name for name in names)
        if self._groups is None:
            return ()
        about = "oidc: error evaluating group claim expression"
        return _strings(_evaluate(self._groups, about, seen), about)

    def _user_id(self, claims: Object, seen: Object) -> str:
        claim = (self._mappings.get("uid") or {}).get("claim")
        if claim:
            return _string(claims, claim, f"oidc: parse uid claim {go_quote(claim)}")
        if self._uid is None:
            return ""
        about = "oidc: error evaluating uid claim expression"
        value = _evaluate(self._uid, about, seen)
        if not isinstance(value, str):
            raise AuthenticationError(
                f"{about}: uid claim expression must return a string"
            )
        return value

    def _extras(self, claims: Object, seen: Object) -> dict[str, tuple[str, ...]]:
        extra: dict[str, tuple[str, ...]] = {}
        if isinstance(claims.get("jti"), str) and claims["jti"]:
            extra[CREDENTIAL_ID] = (f"JTI={claims['jti']}",)
        for key, expression in self._extra:
            about = "oidc: error evaluating extra claim expression"
            values = _strings(
                _evaluate(expression, about, seen), f"{about}: {expression.text}"
            )
            if values:
                extra[key] = values
        return extra


def _with_doubles(value: Any) -> Any:
    """Claims as expressions see them: Go knows one kind of number in JSON, and so
    `claims.level + 1` has no overload.
    """
    if isinstance(value, dict):
        return {key: _with_doubles(each) for key, each in value.items()}
    if isinstance(value, list):
        return [_with_doubles(each) for each in value]
    return (
        float(value)
        if isinstance(value, int) and not isinstance(value, bool)
        else value
    )


def _compiled(text: str | None) -> Expression | None:
    return Expression(text, "claims") if text else None


def _evaluate(expression: Expression, about: str, claims: Object) -> Any:
    try:
        return expression.evaluate(claims)
    except EvaluationError as error:
        raise AuthenticationError(
            f"{about}: expression '{expression.text}' resulted in error: {error}"
        ) from error


def _judge(rules: list[tuple[Expression, str]], about: str, value: Object) -> None:
    """All rules must hold. Raises AuthenticationError with the message of the first
    that does not.
    """
    for expression, message in rules:
        try:
            holds = expression.evaluate(value)
        except EvaluationError as error:
            raise AuthenticationError(
                f"{about}: expression '{expression.text}' resulted in error: {error}"
            ) from error
        if not isinstance(holds, bool):
            raise AuthenticationError(
                f"{about}: validation expression must return a boolean"
            )
        if not holds:
            raise AuthenticationError(
                f"{about}: validation expression '{expression.text}' failed: {message}"
            )


def _string(claims: Object, claim: str, about: str) -> str:
    if claim not in claims:
        raise AuthenticationError(f"{about}: claim not present")
    value = claims[claim]
    if value is None:
        return ""  # as Go decodes null
    if not isinstance(value, str):
        raise AuthenticationError(f"{about}: {wrong_type(value, 'string')}")
    return value


def _strings(value: Any, about: str) -> tuple[str, ...]:
    if value is None or value == "":
        return ()
    if isinstance(value, str):
        return (value,)
    if isinstance(value, list) and all(isinstance(each, str) for each in value):
        return tuple(each for each in value if each)
    raise AuthenticationError(f"{about}: {_NOT_STRINGS}")
