"""Caches whose keys callers choose."""

from __future__ import annotations

from lifecycle.api.bounded_cache import MAX_KEY, BoundedCache, short_first_cache, short_lru_cache, short_pair_cache


def test_a_short_key_is_remembered_and_a_long_one_is_not() -> None:
    cache: BoundedCache[tuple[object, ...], int] = BoundedCache(10)
    short, long = ("jane", ("a" * 100,)), ("jane", ("a" * 200, "b" * (MAX_KEY - 200)))
    cache.put(short, 1)
    cache.put(long, 2)
    assert (cache.get(short), cache.get(long)) == (1, None)


def test_a_full_cache_starts_afresh() -> None:
    cache: BoundedCache[int, int] = BoundedCache(3)
    for number in range(4):
        cache.put(number, number)
    assert [cache.get(number) for number in range(4)] == [None, None, None, 3]


def test_a_function_is_asked_again_only_for_long_texts() -> None:
    asked: list[str] = []

    @short_lru_cache(4)
    def length(text: str) -> int:
        asked.append(text)
        return len(text)

    short, long = "a", "a" * (MAX_KEY + 1)
    assert [length(short), length(short), length(long), length(long)] == [1, 1, len(long), len(long)]
    assert asked == [short, long, long]


def test_what_is_asked_beside_the_text_is_part_of_the_question() -> None:
    asked: list[tuple[str, bool]] = []

    @short_first_cache(4)
    def shouted(text: str, loud: bool, twice: bool = False) -> str:
        asked.append((text, loud))
        return (text.upper() if loud else text) * (2 if twice else 1)

    long = "a" * (MAX_KEY + 1)
    assert [shouted("a", True), shouted("a", True), shouted("a", False), shouted("a", True, twice=True)] == [
        *("A", "A", "a", "AA")
    ]
    assert [shouted(long, False), shouted(long, False)] == [long, long]
    assert asked == [("a", True), ("a", False), ("a", True), (long, False), (long, False)]


def test_two_texts_together_must_be_short() -> None:
    asked: list[tuple[str, str]] = []

    @short_pair_cache(4)
    def joined(first: str, second: str) -> str:
        asked.append((first, second))
        return first + second

    half = "a" * (MAX_KEY // 2)
    for second in ("b", "b", half + "b", half + "b"):
        assert joined(half, second) == half + second
    assert [second for _, second in asked] == ["b", half + "b", half + "b"]


def test_who_knows_that_its_keys_are_long_says_so() -> None:
    cache: BoundedCache[bytes, int] = BoundedCache(10, longest=MAX_KEY * 2)
    cache.put(b"a" * (MAX_KEY + 1), 1)
    cache.put(b"a" * (MAX_KEY * 2 + 1), 2)
    assert (cache.get(b"a" * (MAX_KEY + 1)), cache.get(b"a" * (MAX_KEY * 2 + 1))) == (1, None)
