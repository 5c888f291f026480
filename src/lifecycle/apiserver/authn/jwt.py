"""The key that signs service account tokens.

A token (a JWT) is three base64 parts joined by dots: a header that names the key, the
claims, and a signature over both. The key pair is made when first needed and lives as
long as the server, or as its file (`authority.py`). Its public half is published for
others (`/openid/v1/jwks`).

Upstream: `pkg/serviceaccount/jwt.go` (`JWTTokenGenerator`, `keyIDFromPublicKey`),
`openidmetadata.go`, v1.36. The format itself is PyJWT's business. Left out: several
keys at a time, external signers.
"""

from __future__ import annotations

import base64
import hashlib
import threading
from functools import cached_property
from typing import TYPE_CHECKING, Any

from lifecycle.api.late_import import late_import
from lifecycle.api.loop.worker import beside

if TYPE_CHECKING:
    import jwt
    from cryptography.hazmat.primitives import serialization
    from cryptography.hazmat.primitives.asymmetric import ec, rsa
    from jwt import algorithms
else:
    jwt = late_import("jwt")
    serialization = late_import("cryptography.hazmat.primitives.serialization")
    ec = late_import("cryptography.hazmat.primitives.asymmetric.ec")
    rsa = late_import("cryptography.hazmat.primitives.asymmetric.rsa")
    algorithms = late_import("jwt.algorithms")


RS256 = "RS256"
ES256 = "ES256"
_SIGNATURE_ONLY: Any = {
    f"verify_{claim}": False
    for claim in ("exp", "nbf", "iat", "aud", "iss", "sub", "jti")
}


class TokenFormatError(ValueError):
    """Not a token at all, or one that another key signed."""


class SigningKey:
    """Signs and verifies. `RS256` is what kubeadm sets up; `ES256` is faster to make
    and to sign with.
    """

    def __init__(self, algorithm: str = RS256) -> None:
        if algorithm not in (RS256, ES256):
            raise ValueError(f"unsupported signing algorithm: {algorithm}")
        self.algorithm = algorithm
        self._generated: rsa.RSAPrivateKey | ec.EllipticCurvePrivateKey | None = None
        self._making = threading.Lock()

    @classmethod
    def from_pem(cls, pem: bytes) -> SigningKey:
        """A key that was kept. Raises ValueError if it is none that can sign tokens."""
        try:
            private = serialization.load_pem_private_key(pem, None)
        except TypeError:
            raise ValueError("the key wants a password") from None
        if isinstance(private, rsa.RSAPrivateKey):
            key = cls(RS256)
        elif isinstance(private, ec.EllipticCurvePrivateKey) and isinstance(
            private.curve, ec.SECP256R1
        ):
            key = cls(ES256)
        else:
            raise ValueError("the key is neither RSA nor of the curve P-256")
        key._generated = private
        return key

    def pem(self) -> bytes:
        """The private key as it stands in a file."""
        form = serialization.PrivateFormat.PKCS8
        return self._private.private_bytes(
            serialization.Encoding.PEM, form, serialization.NoEncryption()
        )

    def prepare(self) -> None:
        """Begin to make the key, beside everything else: an RSA key takes up to a
        quarter of a second, and the first pod would wait.
        """
        threading.Thread(
            target=lambda: self._private, name="signing key", daemon=True
        ).start()

    @property
    def _private(self) -> rsa.RSAPrivateKey | ec.EllipticCurvePrivateKey:
        with self._making:
            if self._generated is None and self.algorithm == ES256:
                self._generated = ec.generate_private_key(ec.SECP256R1())
            elif self._generated is None:
                self._generated = rsa.generate_private_key(
                    public_exponent=65537, key_size=2048
                )
            return self._generated

    @cached_property
    def _public(self) -> rsa.RSAPublicKey | ec.EllipticCurvePublicKey:
        return self._private.public_key()

    @cached_property
    def key_id(self) -> str:
        """The hash of the public key that tokens name their key by."""
        der = self._public.public_bytes(
            serialization.Encoding.DER, serialization.PublicFormat.SubjectPublicKeyInfo
        )
        return (
            base64.urlsafe_b64encode(hashlib.sha256(der).digest()).rstrip(b"=").decode()
        )

    def sign(self, claims: dict[str, Any]) -> str:
        """The claims as a signed token. Its header names the key and no type, like
        upstream's.
        """
        ordered = dict(sorted(claims.items()))
        return jwt.encode(
            ordered,
            self._private,
            self.algorithm,
            headers={"typ": None, "kid": self.key_id},
        )

    def verify(self, token: str) -> dict[str, Any]:
        """The claims of a token of ours, whose times and audiences are still to be
        looked at. Raises TokenFormatError.
        """
        try:
            # The key decides on the algorithm. What the token says about itself must
            # agree, and is otherwise not believed.
            claims: dict[str, Any] = jwt.decode(
                token, self._public, [self.algorithm], options=_SIGNATURE_ONLY
            )
        except (jwt.InvalidTokenError, ValueError) as error:
            raise TokenFormatError("the token was not issued here") from error
        return claims

    async def claims_from(self, issuer: str, token: str) -> dict[str, Any] | None:
        """The claims of a token that names this issuer and that this key signed; None
        of all others. A long one is decoded beside the loop.
        """
        return await beside(len(token), self._claims_from, issuer, token)

    def _claims_from(self, issuer: str, token: str) -> dict[str, Any] | None:
        try:
            if self.unverified_issuer(token) != issuer:
                return None
            return self.verify(token)
        except TokenFormatError:
            return None

    def unverified_issuer(self, token: str) -> str:
        """Who a token claims to be from, to decide whose it is. Raises TokenFormatError
        if it is no token.
        """
        try:
            return str(
                jwt.decode(token, options={"verify_signature": False}).get("iss", "")
            )
        except (jwt.InvalidTokenError, ValueError) as error:
            raise TokenFormatError("not a JSON web token") from error

    def jwk(self) -> dict[str, str]:
        """The public key as others read it."""
        public = self._public
        if isinstance(public, rsa.RSAPublicKey):
            numbers = algorithms.RSAAlgorithm.to_jwk(public, as_dict=True)
        else:
            numbers = algorithms.ECAlgorithm.to_jwk(public, as_dict=True)
        own = {"use": "sig", "kid": self.key_id, "alg": self.algorithm}
        return own | {
            name: numbers[name]
            for name in ("kty", "n", "e", "crv", "x", "y")
            if name in numbers
        }
