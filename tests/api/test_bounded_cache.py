"""Caches whose keys callers choose."""

from __future__ import annotations

from lifecycle.api.bounded_cache import MAX_KEY, BoundedCache, short_lru_cache


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
