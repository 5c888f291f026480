"""The ledger: every claim is known, unchecked ones are counted in public."""

import json
from pathlib import Path

import pytest

from lifecycle.compare import claims
from lifecycle.compare.program_answers import ProgramAnswers, recorded_programs

LEDGER = Path(__file__).parents[2] / "book" / "claims.yaml"


@pytest.fixture(autouse=True)
def no_checks(monkeypatch):
    monkeypatch.setattr(claims, "_checks", {})
    monkeypatch.setattr(claims, "_live", {})
    monkeypatch.setattr(claims, "_rebuilt", {})


def test_the_ledger_is_whole():
    ledger = claims.load_claims(LEDGER)
    assert len(ledger) == 292
    assert all(set(claim.verdicts) == {"v1.36", "v1.20"} for claim in ledger)


def test_matrix_says_what_holds_what_does_not_and_what_nobody_checked():
    ledger = claims.load_claims(LEDGER)
    held = next(claim for claim in ledger if claim.verdicts["v1.36"] == "holds")
    removed = next(claim for claim in ledger if claim.verdicts["v1.36"] == "removed")
    claims.check(held.id)(lambda cluster: cluster == "new")
    claims.check(removed.id)(lambda cluster: True)
    matrix = claims.ClaimsMatrix(ledger, {"v1.36": "new", "v1.20": None})
    assert len(matrix.read_in_source) == 290
    assert str(matrix.cells[held.id, "v1.36"]) == "holds ✓ seen"
    assert matrix.contradicted == [f"{removed.id} in v1.36"]
    assert matrix.cells[held.id, "v1.20"].seen is None
    assert matrix.summary == (
        "292 claims: 2 checked (2 against recordings, 0 against live programs), 290 read in source, 1 contradicted"
    )
    assert matrix.__rich__().row_count == 292


def test_a_check_for_an_unknown_claim_is_refused():
    claims.check("no-such-claim")(lambda cluster: True)
    with pytest.raises(ValueError, match=r"checks for claims that are not in the ledger: no-such-claim$"):
        claims.ClaimsMatrix(claims.load_claims(LEDGER), {})


def test_a_claim_has_one_check():
    claims.check("a")(lambda cluster: True)
    with pytest.raises(
        ValueError, match=r"claim 'a' has a check already: test_a_claim_has_one_check\.<locals>\.<lambda>$"
    ):
        claims.check("a")(lambda cluster: True)


def test_what_is_rebuilt_must_do_what_the_newest_version_does_and_a_model_what_is_claimed():
    ledger = claims.load_claims(LEDGER)
    held, other = [claim for claim in ledger if claim.verdicts["v1.36"] == "holds"][:2]
    gone, gone_too = [claim for claim in ledger if claim.verdicts["v1.36"] == "removed"][:2]
    claims.rebuilt(held.id)(lambda: True)
    claims.rebuilt(other.id)(lambda: False)
    claims.rebuilt(gone.id)(lambda: False)
    claims.rebuilt(gone_too.id, model=True)(lambda: True)
    matrix = claims.ClaimsMatrix(ledger, {})
    assert matrix.contradicted == [f"{other.id} in rebuilt"]
    assert str(matrix.cells[gone.id, "rebuilt"]) == "removed ✓ seen not to hold"
    assert str(matrix.cells[gone_too.id, "rebuilt"]) == "holds ✓ seen"
    assert len(matrix.read_in_source) == 292, "what is rebuilt is no evidence of Kubernetes"


def test_a_claim_that_is_partly_true_wants_both_halves():
    ledger = claims.load_claims(LEDGER)
    both, half, bare = [claim for claim in ledger if claim.verdicts["v1.36"] == "partly"][:3]
    claims.rebuilt(both.id)(lambda: claims.Partly(holds_here=True, fails_there=True))
    claims.rebuilt(half.id)(lambda: claims.Partly(holds_here=True, fails_there=False))
    claims.rebuilt(bare.id)(lambda: True)
    matrix = claims.ClaimsMatrix(ledger, {})
    assert matrix.contradicted == [f"{half.id} in rebuilt", f"{bare.id} in rebuilt"]
    assert str(matrix.cells[both.id, "rebuilt"]) == "partly ✓ both seen"


def test_who_wants_only_the_unchecked_asks_what_is_rebuilt_about_nothing_else_and_hears_how_far_it_is():
    ledger = claims.load_claims(LEDGER)
    seen, unseen = [claim for claim in ledger if claim.verdicts["v1.36"] == "holds"][:2]
    asked: list[str] = []
    claims.check(seen.id)(lambda cluster: True)
    for claim in seen, unseen:
        claims.rebuilt(claim.id)(lambda claim=claim: asked.append(claim.id) or True)
    heard: list[tuple[str, int]] = []

    def told(what, some):
        heard.append((what, len(some)))
        return some

    matrix = claims.ClaimsMatrix(ledger, {"v1.36": "new"}, unchecked=True, told=told)
    assert asked == [unseen.id]
    assert heard == [("recordings and programs", 292), ("what is rebuilt", 291)]
    assert matrix.__rich__().row_count == 291
    assert matrix.summary.startswith("292 claims: 1 checked")


def test_what_programs_answered_is_evidence_of_their_version(tmp_path):
    ledger = claims.load_claims(LEDGER)
    held, silent = [claim for claim in ledger if claim.verdicts["v1.36"] == claim.verdicts["v1.20"] == "holds"][:2]
    line = {"question": "q", "program": "kubectl v1.36.4", "asked": "something", "answer": 1}
    (tmp_path / "x.jsonl").write_text(f"# what it is\n{json.dumps(line)}\n")
    answers = ProgramAnswers(tmp_path)
    claims.live(held.id)(lambda answers: answers["q"] == 1)
    claims.live(silent.id)(lambda answers: answers["never asked"] == 1)
    matrix = claims.ClaimsMatrix(ledger, {}, programs={"v1.36": answers})
    assert str(matrix.cells[held.id, "live v1.36"]) == "holds ✓ seen"
    assert matrix.cells[silent.id, "live v1.36"].seen is None
    assert held not in matrix.read_in_source
    assert silent in matrix.read_in_source
    assert matrix.kinds(held)[0] == "live"


def test_a_line_that_is_no_answer_is_named(tmp_path):
    (tmp_path / "x.jsonl").write_text("# what it is\n{}\n")
    with pytest.raises(ValueError, match=r"x\.jsonl:2: not an answer"):
        ProgramAnswers(tmp_path)


def test_a_folder_without_answers_is_refused(tmp_path):
    with pytest.raises(ValueError, match=r"programs-1\.36\.2, programs-1\.20\.2$"):
        recorded_programs(tmp_path)


def test_an_unknown_kind_of_evidence_is_refused(tmp_path):
    text = LEDGER.read_text().replace("v1_36: [recorded,", "v1_36: [hearsay,", 1)
    (tmp_path / "claims.yaml").write_text(text)
    with pytest.raises(
        ValueError, match=r"client-validation-fail-fast-without-request: unknown evidence \['hearsay'\]$"
    ):
        claims.load_claims(tmp_path / "claims.yaml")
