"""Batches that grow as long as all goes well: how many are tried, how many were made, and what is told of a failure."""

from __future__ import annotations

import asyncio

import pytest

from lifecycle.cluster.rehearsal import on_virtual_time
from lifecycle.controllers.replicaset.slow_start_batch import slow_start_batch


def _played(count: int, first: int, fails: dict[int, float]) -> tuple[int, str, int]:
    """How many succeeded, the error, and how many were tried. `fails`: which fail, and after how many seconds."""

    async def main() -> tuple[int, str, int]:
        tried = 0

        async def create() -> None:
            nonlocal tried
            tried += 1
            if (number := tried) in fails:
                await asyncio.sleep(fails[number])
                raise ValueError(f"no {number}")

        made, error = await slow_start_batch(count, first, create)
        return made, str(error or ""), tried

    return on_virtual_time(main())


@pytest.mark.parametrize(
    ("count", "first", "fails", "played"),
    [
        (10, 1, {}, (10, "", 10)),
        (10, 1, {1: 0}, (0, "no 1", 1)),
        (10, 1, {2: 0}, (2, "no 2", 3)),  # of one and two
        (10, 1, {3: 0}, (2, "no 3", 3)),
        (10, 1, {2: 0, 3: 0}, (1, "no 2", 3)),
        (10, 1, {4: 0, 7: 0}, (5, "no 4", 7)),  # of one, two and four
        (10, 1, {8: 0, 10: 0}, (8, "no 8", 10)),  # the rest, which is three
        (10, 4, {4: 0}, (3, "no 4", 4)),
        (10, 4, {5: 0}, (9, "no 5", 10)),
        (3, 4, {3: 0}, (2, "no 3", 3)),
        (0, 1, {}, (0, "", 0)),
    ],
)
def test_after_the_first_batch_in_which_something_fails_nothing_more_is_tried(
    count: int, first: int, fails: dict[int, float], played: tuple[int, str, int]
) -> None:
    """Upstream: `slowStartBatch`. Of several errors of a batch the first counts."""
    assert _played(count, first, fails) == played


def test_who_is_called_off_has_not_failed() -> None:
    """A controller that ends in the middle of a batch ends, and does not tell of a refusal."""

    async def main() -> list[int]:
        tried = list[int]()

        async def create() -> None:
            tried.append(len(tried))
            if len(tried) == 3:
                raise asyncio.CancelledError
            await asyncio.sleep(1)

        with pytest.raises(asyncio.CancelledError):
            await slow_start_batch(10, 1, create)
        return tried

    assert on_virtual_time(main()) == [0, 1, 2]
