"""A keyed hash in place of a signature: good for its own server, and for nobody else."""

from __future__ import annotations

import subprocess
import sys

import jwt
import pytest

from lifecycle.apiserver.authn.jwt import SigningKey, TokenFormatError
from lifecycle.apiserver.authn.keyed_hash import KeyedHash, new_key, shared_key

CLAIMS = {"iss": "here", "sub": "system:serviceaccount:default:default"}


def test_a_token_is_believed_by_the_key_that_made_it_alone() -> None:
    key = KeyedHash()
    token = key.sign(CLAIMS)
    assert key.verify(token) == CLAIMS
    assert key.unverified_issuer(token) == "here"
    for other in (KeyedHash(), SigningKey("ES256")):
        with pytest.raises(TokenFormatError):
            other.verify(token)
        with pytest.raises(TokenFormatError):
            key.verify(other.sign(CLAIMS))


def test_a_token_without_a_signature_is_none() -> None:
    with pytest.raises(TokenFormatError):
        KeyedHash().verify(jwt.encode(CLAIMS, None, "none"))


def test_the_secret_goes_nowhere() -> None:
    key = KeyedHash()
    told = {**key.jwk(), **jwt.get_unverified_header(key.sign(CLAIMS))}
    assert told.keys() == {"kty", "use", "kid", "alg"}
    assert told["kid"] == key.key_id
    with pytest.raises(ValueError, match=r"a keyed hash has no key that could be kept$"):
        key.pem()


def test_on_a_machine_nobody_gets_one_without_asking_for_it() -> None:
    assert type(new_key()) is type(shared_key()) is SigningKey


COMPILED = ("aiohttp", "cel_expr_python", "cryptography", "google", "grpc", "kubernetes", "re2", "uvloop")
THE_CORE = ("lifecycle.cluster.rehearsal", "lifecycle.kubectl.main", "lifecycle.trace.journey", "lifecycle.inspector")


@pytest.mark.parametrize("module", THE_CORE)
def test_the_core_is_imported_without_compiled_libraries(module: str) -> None:
    said = "print(*sorted({name.partition('.')[0] for name in sys.modules} & set(sys.argv[2:])))"
    code = f"import importlib, sys; importlib.import_module(sys.argv[1]); {said}"
    done = subprocess.run([sys.executable, "-c", code, module, *COMPILED], capture_output=True, text=True, check=True)
    assert set(done.stdout.split()) <= {"re2"}, "loaded where nobody needed it yet"
