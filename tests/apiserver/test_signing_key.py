"""The key behind service account tokens: made once, whoever asks first."""

from __future__ import annotations

from lifecycle.apiserver.authn.jwt import SigningKey


def test_a_key_that_is_being_made_is_the_key_that_signs() -> None:
    for _ in range(5):
        key = SigningKey()
        key.prepare()
        token = key.sign({"sub": "jane"})
        assert key.verify(token) == {"sub": "jane"}
        assert SigningKey.key_id.func(key) == key.key_id
