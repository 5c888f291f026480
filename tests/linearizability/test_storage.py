"""Histories of the storage under faults are linearizable; of a storage with a sabotage they are not."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from lifecycle.api.loop.clock import run_virtual
from lifecycle.etcd.memory import MemoryStore
from lifecycle.etcd.sqlite import SQLiteStore
from lifecycle.etcd.store import Store
from tests.conftest import unavailable
from tests.etcd.real_etcd import RealEtcd
from tests.linearizability import sabotages, scenes
from tests.linearizability.members import members
from tests.linearizability.operations import History, Outcome
from tests.linearizability.revisions import broken_promises
from tests.linearizability.scenes import Wrap, unchanged
from tests.linearizability.verdict import problems

SEEDS = range(1, 11)


def play(path: Path | None, seed: int, server: bool, wrap: Wrap = unchanged) -> History:
    """In memory, or in a file."""

    async def main() -> History:
        store: Store = MemoryStore() if path is None else SQLiteStore(path)
        return await (scenes.under_server if server else scenes.on_store)(store, seed, wrap)

    return run_virtual(main())


def enough(history: History) -> bool:
    """Something of every kind has happened; a history without it says nothing."""
    seen = {(each.what, each.outcome) for each in history.operations}
    return len(seen) >= 7 and any(outcome is Outcome.UNKNOWN for _, outcome in seen) and len(history.listings) > 3


@pytest.mark.parametrize("server", [False, True], ids=["store", "API server"])
@pytest.mark.parametrize("place", ["memory", "file"])
def test_what_concurrent_clients_were_told_has_an_order(place: str, server: bool, tmp_path: Path) -> None:
    for seed in SEEDS[: 3 if server else None]:
        history = play(tmp_path / f"{seed}" if place == "file" else None, seed, server)
        assert enough(history)
        assert problems(history) == []


def test_a_file_that_is_opened_again_goes_on_where_it_was(tmp_path: Path) -> None:
    for seed in (10, 20, 30):
        assert problems(run_virtual(scenes.through_reopening(tmp_path / f"{seed}", seed))) == []


@pytest.mark.parametrize(
    ("sabotage", "words"),
    [
        (sabotages.StaleRead, "no order explains"),
        (sabotages.LostUpdate, "no order explains"),
        (sabotages.LostDelete, "no order explains"),
        (sabotages.TwiceDone, "no order explains"),
        (sabotages.TornList, "though it was written at"),
    ],
)
@pytest.mark.parametrize("place", ["memory", "file"])
def test_a_sabotage_is_found(sabotage: Wrap, words: str, place: str, tmp_path: Path) -> None:
    found = [
        problem
        for seed in SEEDS[:3]
        for problem in problems(play(tmp_path / f"{seed}" if place == "file" else None, seed, False, sabotage))
    ]
    assert any(words in problem for problem in found)


@pytest.mark.parametrize("sabotage", [sabotages.LostUpdate, sabotages.LostDelete])
def test_a_sabotage_is_found_through_the_api(sabotage: Wrap) -> None:
    """What is read there comes from the caches, so stale reads are those of a cache that is behind: below."""
    assert any(problems(play(None, seed, True, sabotage)) for seed in SEEDS[:3])


@pytest.fixture(scope="module", params=[1, 3], ids=["one member", "three members"])
def etcds(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[RealEtcd]]:
    if shutil.which("etcd") is None:
        unavailable("etcd is not installed (Debian: etcd-server)")
    with members(tmp_path_factory.mktemp("etcd"), request.param) as running:
        yield running


@pytest.mark.real
@pytest.mark.parametrize("servers", [False, True], ids=["clients", "API servers"])
def test_a_real_etcd_whose_members_die_and_stand_still(etcds: list[RealEtcd], servers: bool) -> None:
    history, faults = asyncio.run(scenes.on_etcd(etcds, 100 + servers, servers=servers, count=3))
    assert faults
    assert sum(each.outcome is Outcome.DONE for each in history.operations) > 10
    assert problems(history) == []


@pytest.mark.real
def test_a_cache_that_is_behind_is_found(etcds: list[RealEtcd]) -> None:
    """Two API servers, of which neither asks how new the store is before it lists from its cache."""
    honest, behind = (
        list(broken_promises(asyncio.run(scenes.near_and_far(etcds, seed, 0.04, wrap))))
        for seed, wrap in ((200, unchanged), (201, sabotages.CacheBehind))
    )
    assert honest == []
    assert any("a list called at" in problem for problem in behind)
