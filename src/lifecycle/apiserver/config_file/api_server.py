"""The kinds of `apiserver.config.k8s.io` that say who is who, and who may what.

Upstream: `apiserver/pkg/apis/apiserver/v1/types.go`,
`pkg/kubeapiserver/options/authentication.go` (`loadAuthenticationConfig`),
`apiserver/pkg/apis/apiserver/load/load.go` (`LoadFromFile`), v1.36. The older versions
have the same fields.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from lifecycle.api.http.wire import Object
from lifecycle.apiserver.config_file.decoding import Scheme, decode_configuration

GROUP = "apiserver.config.k8s.io"
VERSIONS = ("v1", "v1beta1", "v1alpha1")
AUTHENTICATION, AUTHORIZATION = (
    "AuthenticationConfiguration",
    "AuthorizationConfiguration",
)
_OTHERS = (
    "AdmissionConfiguration",
    "EgressSelectorConfiguration",
    "EncryptionConfiguration",
    "TracingConfiguration",
)
TYPES = {
    AUTHORIZATION: {
        "kind": "string",
        "apiVersion": "string",
        "authorizers": "[]v1.AuthorizerConfiguration",
    },
    "AuthorizerConfiguration": {
        "type": "string",
        "name": "string",
        "webhook": "v1.WebhookConfiguration",
    },
    "WebhookConfiguration": {
        "authorizedTTL": "v1.Duration",
        "cacheAuthorizedRequests": "bool",
        "unauthorizedTTL": "v1.Duration",
        "cacheUnauthorizedRequests": "bool",
        "timeout": "v1.Duration",
        "subjectAccessReviewVersion": "string",
        "matchConditionSubjectAccessReviewVersion": "string",
        "failurePolicy": "string",
        "connectionInfo": "v1.WebhookConnectionInfo",
        "matchConditions": "[]v1.WebhookMatchCondition",
    },
    "WebhookConnectionInfo": {"type": "string", "kubeConfigFile": "string"},
    "WebhookMatchCondition": {"expression": "string"},
    AUTHENTICATION: {
        "kind": "string",
        "apiVersion": "string",
        "jwt": "[]v1.JWTAuthenticator",
        "anonymous": "v1.AnonymousAuthConfig",
    },
    "JWTAuthenticator": {
        "issuer": "v1.Issuer",
        "claimValidationRules": "[]v1.ClaimValidationRule",
        "claimMappings": "v1.ClaimMappings",
        "userValidationRules": "[]v1.UserValidationRule",
    },
    "Issuer": {
        "url": "string",
        "discoveryURL": "string",
        "certificateAuthority": "string",
        "audiences": "[]string",
        "audienceMatchPolicy": "v1.AudienceMatchPolicyType",
        "egressSelectorType": "v1.EgressSelectorType",
    },
    "ClaimValidationRule": {
        "claim": "string",
        "requiredValue": "string",
        "expression": "string",
        "message": "string",
    },
    "ClaimMappings": {
        "username": "v1.PrefixedClaimOrExpression",
        "groups": "v1.PrefixedClaimOrExpression",
        "uid": "v1.ClaimOrExpression",
        "extra": "[]v1.ExtraMapping",
    },
    "PrefixedClaimOrExpression": {
        "claim": "string",
        "prefix": "string",
        "expression": "string",
    },
    "ClaimOrExpression": {"claim": "string", "expression": "string"},
    "ExtraMapping": {"key": "string", "valueExpression": "string"},
    "UserValidationRule": {"expression": "string", "message": "string"},
    "AnonymousAuthConfig": {
        "enabled": "bool",
        "conditions": "[]v1.AnonymousAuthCondition",
    },
    "AnonymousAuthCondition": {"path": "string"},
}
"""The Go types, field by field."""

_SCHEME = Scheme(
    kinds={
        (f"{GROUP}/{version}", kind): kind
        for version in VERSIONS
        for kind in (AUTHENTICATION, AUTHORIZATION)
    }
    | {(f"{GROUP}/v1", kind): "" for kind in _OTHERS},
    types=TYPES,
    place="pkg/apis/apiserver/load/load.go:32",
)
_AUTHENTICATION_SCHEME = replace(
    _SCHEME, place="pkg/kubeapiserver/options/authentication.go:879"
)


def read_authorization_file(path: Path) -> Object:
    """An `AuthorizationConfiguration`. Raises ValueError, OSError."""
    text = path.read_bytes()
    try:
        return _of_kind(text, AUTHORIZATION, _SCHEME) if text else {}
    except ValueError as error:
        raise ValueError(f"failed to load {AUTHORIZATION} from file: {error}") from None


def read_authentication_file(path: Path) -> Object:
    """An `AuthenticationConfiguration`. Raises ValueError, OSError."""
    text = path.read_bytes()
    try:
        if not text:
            raise ValueError("empty config data")
        return _of_kind(text, AUTHENTICATION, _AUTHENTICATION_SCHEME)
    except ValueError as error:
        raise ValueError(
            f'failed to load authentication configuration from file "{path}": {error}'
        ) from None


def _of_kind(text: bytes, kind: str, scheme: Scheme) -> Object:
    document = decode_configuration(text, scheme)
    if document["kind"] != kind:
        raise ValueError(f"expected {kind}, got *apiserver.{document['kind']}")
    return document
