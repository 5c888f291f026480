"""Uids and generated names: which letters, how long, and the same ones for the same seed."""

from __future__ import annotations

import uuid

from hypothesis import given
from hypothesis import strategies as st

from lifecycle.api.names import ALPHANUMS, MAX_NAME_LENGTH, RANDOM_LENGTH, NameSource, safe_encode_string


@given(st.integers(0, 2**32))
def test_a_uid_is_a_random_uuid_in_its_usual_spelling(seed: int) -> None:
    text = NameSource(seed).uid()
    parsed = uuid.UUID(text)
    assert str(parsed) == text
    assert (parsed.version, parsed.variant) == (4, uuid.RFC_4122)


def test_the_same_seed_gives_the_same_names_and_no_seed_others() -> None:
    def drawn(source: NameSource) -> list[str]:
        return [source.uid(), source.suffix(), source.generate_name("web-"), source.uid()]

    assert drawn(NameSource(3)) == drawn(NameSource(3)) != drawn(NameSource(4))
    assert drawn(NameSource()) != drawn(NameSource())
    assert len(set(drawn(NameSource(3)))) == 4


@given(st.text("abc-", max_size=80), st.integers(0, 1000))
def test_a_generated_name_is_its_base_and_five_letters_and_fits_into_a_label(base: str, seed: int) -> None:
    name = NameSource(seed).generate_name(base)
    assert len(name) == min(len(base) + RANDOM_LENGTH, MAX_NAME_LENGTH)
    assert name[:-RANDOM_LENGTH] == base[: MAX_NAME_LENGTH - RANDOM_LENGTH]
    assert set(name[-RANDOM_LENGTH:]) <= set(ALPHANUMS)
    assert len(NameSource(seed).suffix(9)) == 9


def test_the_safe_alphabet_has_no_vowels_and_no_look_alikes() -> None:
    assert set(ALPHANUMS).isdisjoint("aeiou013")
    assert safe_encode_string("0123456789abc") == "".join(ALPHANUMS[ord(c) % 27] for c in "0123456789abc")
    assert len(ALPHANUMS) == len(set(ALPHANUMS)) == 27
