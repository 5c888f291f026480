"""A witness who has seen nothing stays silent: where a recording is empty, no check agrees with the ledger."""

from __future__ import annotations

from pathlib import Path

import pytest

from lifecycle.agreements import claim_checks
from lifecycle.compare import claims
from lifecycle.inspector import Recording
from tests.conftest import RECORDINGS, ROOT


def emptied(source: Path, target: Path) -> Recording:
    """A recording with the same files and nothing in them."""
    for file in source.rglob("*"):
        if file.is_file():
            empty = target / file.relative_to(source)
            empty.parent.mkdir(parents=True, exist_ok=True)
            empty.write_text("{}" if file.suffix == ".json" else "")
    return Recording(target)


@pytest.mark.parametrize(("name", "version"), [("kind-1.36.2", "v1.36"), ("bare-1.20.2", "v1.20")])
def test_no_check_is_content_with_an_empty_recording(name: str, version: str, tmp_path: Path) -> None:
    claims.import_checks(claim_checks)
    ledger = {claim.id: claim for claim in claims.load_claims(ROOT / "book" / "claims.yaml")}
    recording, content = emptied(RECORDINGS / name, tmp_path / name), []
    for claim_id, check in claims.checks().items():
        try:
            seen = check(recording)
        except Exception:
            continue  # as loud as a contradiction
        if seen is not None:
            seen = seen if isinstance(seen, claims.Partly) else bool(seen)
            if not claims.Cell(ledger[claim_id].verdicts[version], seen).contradicted:
                content.append(claim_id)
    assert content == []


def test_every_and_some_say_nothing_of_nothing() -> None:
    assert (claims.every([]), claims.some([])) == (None, None)
    assert (claims.every([1, "a"]), claims.every([1, ""])) == (True, False)
    assert (claims.some([0, "a"]), claims.some([0, ""])) == (True, False)
