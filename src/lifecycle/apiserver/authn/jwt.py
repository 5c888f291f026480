"""JSON Web Tokens, as far as service account tokens need them.

Three base64 parts joined by dots: a header that names the key, the claims, and a signature over both. The key pair is made when first
needed and lives as long as the server; its public half is published for others (`/openid/v1/jwks`).

Upstream: `pkg/serviceaccount/jwt.go` (`JWTTokenGenerator`, `keyIDFromPublicKey`), `openidmetadata.go`, v1.36. Left out: reading keys from
files, external signers.
"""

from __future__ import annotations

import base64
import hashlib
from functools import cached_property
from typing import Any

import orjson
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, padding, rsa
from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature, encode_dss_signature

RS256 = "RS256"
ES256 = "ES256"


class TokenFormatError(ValueError):
    """Not a token at all, or one that another key signed."""


def _encode(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def _decode(text: str) -> bytes:
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


def _number(value: int) -> str:
    return _encode(value.to_bytes((value.bit_length() + 7) // 8, "big"))


class SigningKey:
    """Signs and verifies. `RS256` is what kubeadm sets up; `ES256` is faster to make and to sign with."""

    def __init__(self, algorithm: str = RS256) -> None:
        if algorithm not in (RS256, ES256):
            raise ValueError(f"unsupported signing algorithm: {algorithm}")
        self.algorithm = algorithm

    @cached_property
    def _private(self) -> rsa.RSAPrivateKey | ec.EllipticCurvePrivateKey:
        if self.algorithm == ES256:
            return ec.generate_private_key(ec.SECP256R1())
        return rsa.generate_private_key(public_exponent=65537, key_size=2048)

    @cached_property
    def key_id(self) -> str:
        """The hash of the public key that tokens name their key by."""
        der = self._private.public_key().public_bytes(
            serialization.Encoding.DER, serialization.PublicFormat.SubjectPublicKeyInfo
        )
        return _encode(hashlib.sha256(der).digest())

    def sign(self, claims: dict[str, Any]) -> str:
        """The claims as a signed token."""
        header = _encode(orjson.dumps({"alg": self.algorithm, "kid": self.key_id}))
        text = f"{header}.{_encode(orjson.dumps(claims, option=orjson.OPT_SORT_KEYS))}"
        return f"{text}.{_encode(self._signature(text.encode()))}"

    def verify(self, token: str) -> dict[str, Any]:
        """The claims of a token of ours. Raises TokenFormatError."""
        text, _, signature = token.rpartition(".")
        try:
            header, claims = (orjson.loads(_decode(part)) for part in text.split("."))
            # The key decides on the algorithm. What the token says about itself must agree, and is otherwise not believed.
            if header.get("alg") != self.algorithm:
                raise TokenFormatError("unexpected signing algorithm")
            self._check(text.encode(), _decode(signature))
        except (ValueError, TypeError, AttributeError, InvalidSignature) as error:
            raise TokenFormatError("the token was not issued here") from error
        if not isinstance(claims, dict):
            raise TokenFormatError("the token has no claims")
        return claims

    def unverified_issuer(self, token: str) -> str:
        """Who a token claims to be from, to decide whose it is. Raises TokenFormatError if it is no token."""
        parts = token.split(".")
        try:
            if len(parts) != 3:
                raise TokenFormatError("not a JSON web token")
            return str(orjson.loads(_decode(parts[1])).get("iss", ""))
        except (ValueError, AttributeError) as error:
            raise TokenFormatError("not a JSON web token") from error

    def jwk(self) -> dict[str, str]:
        """The public key as others read it."""
        key: dict[str, str] = {"use": "sig", "kid": self.key_id, "alg": self.algorithm}
        numbers = self._private.public_key().public_numbers()
        if isinstance(numbers, rsa.RSAPublicNumbers):
            return {**key, "kty": "RSA", "n": _number(numbers.n), "e": _number(numbers.e)}
        return {**key, "kty": "EC", "crv": "P-256", "x": _number(numbers.x), "y": _number(numbers.y)}

    def _signature(self, data: bytes) -> bytes:
        key = self._private
        if isinstance(key, rsa.RSAPrivateKey):
            return key.sign(data, padding.PKCS1v15(), hashes.SHA256())
        r, s = decode_dss_signature(key.sign(data, ec.ECDSA(hashes.SHA256())))
        return r.to_bytes(32, "big") + s.to_bytes(32, "big")

    def _check(self, data: bytes, signature: bytes) -> None:
        key = self._private.public_key()
        if isinstance(key, rsa.RSAPublicKey):
            key.verify(signature, data, padding.PKCS1v15(), hashes.SHA256())
            return
        pair = int.from_bytes(signature[:32], "big"), int.from_bytes(signature[32:], "big")
        key.verify(encode_dss_signature(*pair), data, ec.ECDSA(hashes.SHA256()))
