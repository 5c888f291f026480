"""A small ledger: who speaks of each claim, what is counted, and the page and the table that show it."""

from __future__ import annotations

import gc
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import yaml
from rich.console import Console

from lifecycle.compare import claims
from lifecycle.compare.claims import Cell, ClaimsMatrix, Partly, Refusal, ask, every, load_claims, some
from lifecycle.compare.ledger_page import LedgerPage, load_reasons, pages_of_claims
from lifecycle.compare.program_answers import FOLDERS, NotAsked, ProgramAnswers, recorded_programs


def entry(name: str, stage: str, verdict: str = "holds", **more: Any) -> dict[str, Any]:
    return {
        "id": name, "stage": stage, "tier": "t1", "claim": f"The `{name}`\n  is <so>.",
        "verdict_v1_36": {"verdict": verdict, "why": "w"}, "verdict_v1_20": {"verdict": "changed"},
        "evidence": {"v1_36": ["recorded", "source"], "v1_20": ["source"]}, "source": ["a.go#F", "b<.go"],
        "seeds": [{"file": "one.md"}, {"file": "two.md"}],
    } | more  # fmt: skip


@pytest.fixture
def ledger(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    for name in ("_checks", "_live", "_rebuilt"):
        monkeypatch.setattr(claims, name, {})

    def load(*entries: dict[str, Any]) -> list[claims.Claim]:
        file = tmp_path / "claims.yaml"
        file.write_text(yaml.safe_dump(list(entries)))
        return load_claims(str(file))

    return load


def test_a_ledgers_entry_is_a_claim(ledger: Any) -> None:
    [claim] = ledger(entry("a", "s"))
    assert claim == claims.Claim(
        "a", "s", "t1", "The `a` is <so>.", {"v1.36": "holds", "v1.20": "changed"}, {"v1.36": "w", "v1.20": ""},
        {"v1.36": ("recorded", "source"), "v1.20": ("source",)}, ("a.go#F", "b<.go"), ("one.md", "two.md"),
    )  # fmt: skip


@pytest.mark.parametrize(
    ("entries", "words"),
    [
        ([entry("a", "s"), entry("b", "s"), entry("a", "s"), entry("b", "t")], "claims that come twice: a, b"),
        ([entry("a", "s", "maybe")], "a: unknown verdict 'maybe' for v1.36"),
        ([entry("a", "s", evidence={"v1_36": ["rumour", "hearsay"]})], "a: unknown evidence ['hearsay', 'rumour']"),
    ],
)
def test_an_odd_ledger_is_refused(ledger: Any, entries: list[Any], words: str) -> None:
    with pytest.raises(ValueError) as refused:  # noqa: PT011
        ledger(*entries)
    assert str(refused.value) == words


def own_assertion(words: str) -> Any:
    """A check whose assertion stands, as far as Python knows, among the checks."""
    names: dict[str, Any] = {}
    exec(compile(f"def check(*_):\n    assert False, {words!r}", "/src/agreements/checks.py", "exec"), names)
    return names["check"]


def test_what_a_check_says() -> None:
    assert [ask(lambda value: value, value) for value in (True, False, None, 1, 0)] == [True, False, None, True, False]
    both = Partly(holds_here=True, fails_there=False)
    assert ask(lambda: both) is both
    assert [bool(Partly(a, b)) for a in (True, False) for b in (True, False)] == [True, False, False, False]
    assert ask(own_assertion("no such field")) == Refusal("no such field")
    assert ask(own_assertion("")) == Refusal("not as expected")
    assert ask(lambda evidence: evidence == 7, 7) is True

    def silent() -> bool:
        raise NotAsked

    def broken() -> bool:
        raise AssertionError("in what it looks at")

    assert ask(silent) is None
    with pytest.raises(AssertionError, match=r"in what it looks at$"):
        ask(broken)
    assert (every([1, 2]), every([1, 0]), every([])) == (True, False, None)
    assert (some([0, 2]), some([0, 0]), some([])) == (True, False, None)


BOTH, HALF = Partly(True, True), Partly(True, False)


@pytest.mark.parametrize(
    ("verdict", "seen", "contradicted", "words"),
    [
        ("holds", None, False, "holds"), ("holds", True, False, "holds ✓ seen"), ("holds", False, True, "holds ✗ contradicted"),
        ("changed", False, False, "changed ✓ seen not to hold"), ("removed", True, True, "removed ✗ contradicted"),
        ("wrong-from-the-start", False, False, "wrong-from-the-start ✓ seen not to hold"),
        ("partly", BOTH, False, "partly ✓ both seen"), ("partly", HALF, True, "partly ✗ contradicted"),
        ("partly", True, True, "partly ✗ contradicted"), ("holds", BOTH, True, "holds ✗ contradicted"),
        ("holds", Refusal("why"), True, "holds ✗ contradicted: why"), ("?", True, False, "? ✓ seen"),
        ("?", False, False, "? ✓ seen not to hold"), ("", None, False, ""),
    ],
)  # fmt: skip
def test_a_cell_says_what_was_seen(verdict: str, seen: Any, contradicted: bool, words: str) -> None:
    cell = Cell(verdict, seen)
    assert (cell.contradicted, str(cell)) == (contradicted, words)


def test_a_claim_has_one_check_of_each_kind(ledger: Any) -> None:
    def function(*_: Any) -> bool:
        return True

    for bind, bound in (
        (claims.check, claims.checks),
        (claims.live, claims.live_checks),
        (claims.rebuilt, claims.rebuilt_checks),
    ):
        assert bind("a")(function) is function  # type: ignore[arg-type]
        assert bound() == {"a": function}
        with pytest.raises(
            ValueError,
            match=r"claim 'a' has a check already: test_a_claim_has_one_check_of_each_kind\.<locals>\.function$",
        ) as refused:
            bind("a")(function)  # type: ignore[arg-type]
        assert str(refused.value) == f"claim 'a' has a check already: {function.__qualname__}"
    claims.check("z")(function)
    claims.rebuilt("y")(function)
    with pytest.raises(ValueError, match=r"checks for claims that are not in the ledger: y, z$") as refused:
        ClaimsMatrix(ledger(entry("a", "s")), {})
    assert str(refused.value) == "checks for claims that are not in the ledger: y, z"


def test_every_module_of_a_package_is_imported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "some_checks").mkdir()
    (tmp_path / "some_checks" / "one.py").write_text("seen = True\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    package = ModuleType("some_checks")
    package.__path__ = [str(tmp_path / "some_checks")]
    monkeypatch.setitem(__import__("sys").modules, "some_checks", package)
    claims.import_checks(package)
    assert package.one.seen


class Answers(ProgramAnswers):
    def __init__(self) -> None:
        self.folder, self.answers = Path("programs-x"), {}


@pytest.fixture
def matrix(ledger: Any) -> Any:
    def make(stage: str = "", **more: Any) -> ClaimsMatrix:
        entries = ledger(
            entry("recorded", "one"), entry("live", "one", "removed"), entry("nobody", "two"), entry("bare", "two", evidence={}),
            entry("model", "three", "partly"), entry("refused", "three"),
        )  # fmt: skip
        claims.check("recorded")(lambda evidence: evidence == "new")
        claims.check("refused")(own_assertion("not there"))
        claims.live("live")(lambda answers: False)
        claims.rebuilt("model", model=True)(lambda: True)
        claims.rebuilt("recorded")(lambda: True)
        claims.rebuilt("live")(lambda: True)
        return ClaimsMatrix(entries, {"v1.36": "new", "v1.20": None}, stage, {"v1.36": Answers()}, **more)

    return make


def test_a_matrix_counts_each_claim_under_its_strongest_evidence(matrix: Any) -> None:
    made = matrix()
    assert made.columns == ("rebuilt", "v1.36", "v1.20", "live v1.36")
    assert made.counts == {"recorded": 2, "live": 1, "source": 2}
    assert made.summary == (
        "6 claims: 3 checked (2 against recordings, 1 against live programs), 3 read in source, 2 contradicted"
    )
    assert made.contradicted == ["refused in v1.36", "live in rebuilt"]
    assert [claim.id for claim in made.read_in_source] == ["nobody", "bare", "model"]
    assert {claim.id: made.kinds(claim) for claim in made.claims} == {
        "recorded": ("recorded", "source"), "live": ("live", "source"), "nobody": ("source",), "bare": (),
        "model": ("source",), "refused": ("recorded", "source"),
    }  # fmt: skip
    assert made.kinds(made.claims[0], "v1.20") == ("source",)
    cells = {key: str(cell) for key, cell in made.cells.items() if key[0] in ("recorded", "model")}
    assert cells == {
        ("recorded", "v1.36"): "holds ✓ seen", ("recorded", "v1.20"): "changed", ("recorded", "live v1.36"): "holds",
        ("recorded", "rebuilt"): "holds ✓ seen", ("model", "v1.36"): "partly", ("model", "v1.20"): "changed",
        ("model", "live v1.36"): "partly", ("model", "rebuilt"): "holds ✓ seen",
    }  # fmt: skip
    assert claims.rebuilt_cell(made.claims[2]) == Cell("", None)


def test_a_matrix_of_one_stage_and_of_the_unchecked(matrix: Any) -> None:
    heard: list[Any] = []

    def told(what: str, some_claims: Any) -> Any:
        heard.append((what, [claim.id for claim in some_claims]))
        return some_claims

    before = gc.get_threshold()
    made = matrix("two", unchecked=True, told=told)
    assert gc.get_threshold() == before
    assert heard == [("recordings and programs", ["nobody", "bare"]), ("what is rebuilt", ["nobody", "bare"])]
    assert [claim.id for claim in made.shown] == ["nobody", "bare"]
    assert len(made.ledger) == 6


def test_a_matrix_in_a_terminal(matrix: Any) -> None:
    table = matrix("one").__rich__()
    assert (str(table.title), table.title_justify) == (matrix_summary := table.title, "left")
    assert matrix_summary.startswith("2 claims: 2 checked")
    assert [(column.header, column.overflow) for column in table.columns] == [
        (name, "fold") for name in ("stage", "claim", "rebuilt", "v1.36", "v1.20", "live v1.36")
    ]
    assert [list(column.cells) for column in table.columns] == [
        ["one", "one"], ["recorded\nThe `recorded` is <so>.", "live\nThe `live` is <so>."],
        ["holds ✓ seen", "removed ✗ contradicted"], ["holds ✓ seen", "removed"], ["changed", "changed"],
        ["holds", "removed ✓ seen not to hold"],
    ]  # fmt: skip
    shown = Console(width=100, no_color=True)
    with shown.capture() as capture:
        shown.print(table)
    assert "recorded" in capture.get()


def test_a_claim_that_is_only_read_is_marked_in_a_terminal(matrix: Any) -> None:
    cells = list(matrix("two").__rich__().columns[1].cells)
    assert cells == ["nobody (read in source)\nThe `nobody` is <so>.", "bare (read in source)\nThe `bare` is <so>."]


def test_the_page_of_the_ledger(matrix: Any) -> None:
    made = matrix()
    page = LedgerPage(made, {"recorded": "a/b.html#recorded"}, {"nobody": "it is `hidden`", "recorded": "never shown"})
    source = "<br><em>read in source: a.go (F); b&lt;.go</em>"
    assert page._repr_html_() == (
        '<div class="ledger"><ul><li><b>2</b> checked against a recorded cluster</li><li><b>1</b> checked against answers of'
        " Kubernetes' own programs</li><li><b>2</b> read in upstream's source; no recording and no program was seen to do"
        " it</li></ul>"
        "<details><summary><b>one</b> · 2 claims: 1 recorded, 1 live</summary>"
        '<p><a href="../a/b.html#recorded">The <code>recorded</code> is &lt;so&gt;.</a><br><small>rebuilt: holds ✓ seen ·'
        " v1.36: holds ✓ seen · v1.20: changed</small></p>"
        "<p>The <code>live</code> is &lt;so&gt;.<br><small>rebuilt: removed ✗ contradicted · v1.36: removed · v1.20: changed"
        " · live v1.36: removed ✓ seen not to hold</small></p></details>"
        "<details><summary><b>two</b> · 2 claims: 2 source</summary>"
        f"<p>The <code>nobody</code> is &lt;so&gt;.<br><small>v1.36: holds · v1.20: changed{source}<br><em>it is"
        " <code>hidden</code></em></small></p>"
        f"<p>The <code>bare</code> is &lt;so&gt;.<br><small>v1.36: holds · v1.20: changed{source}</small></p></details>"
        "<details><summary><b>three</b> · 2 claims: 1 recorded, 1 source</summary>"
        f"<p>The <code>model</code> is &lt;so&gt;.<br><small>rebuilt: holds ✓ seen · v1.36: partly · v1.20: changed{source}"
        "</small></p>"
        "<p>The <code>refused</code> is &lt;so&gt;.<br><small>v1.36: holds ✗ contradicted: not there · v1.20: changed</small>"
        "</p></details></div>"
    )
    assert repr(page) == made.summary
    assert 'href="/top/a/b.html#recorded"' in LedgerPage(made, page.pages, {}, "/top/")._repr_html_()


def test_a_claims_page_is_where_its_anchor_stands(tmp_path: Path) -> None:
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep" / "page.md").write_text("[it is so]{#one-1} and [more]{#two} {#not} [x]{#Upper}\n")
    (tmp_path / "top.md").write_text("[it]{#three}\n")
    (tmp_path / "other.txt").write_text("[it]{#four}\n")
    assert pages_of_claims(str(tmp_path)) == {
        "one-1": "deep/page.html#one-1", "two": "deep/page.html#two", "three": "top.html#three"
    }  # fmt: skip


def test_a_claim_that_is_not_checked_needs_a_reason(tmp_path: Path) -> None:
    file = tmp_path / "reasons.yaml"
    file.write_text("")
    assert load_reasons(file) == {}
    file.write_text("a: because\n")
    assert load_reasons(str(file)) == {"a": "because"}
    for nothing in ("''", "'  '", ""):
        file.write_text(f"a: because\nb: {nothing}\n")
        with pytest.raises(ValueError, match=r"b: a claim that is not checked needs a reason$") as refused:
            load_reasons(file)
        assert str(refused.value) == "b: a claim that is not checked needs a reason"


def test_answers_of_programs_are_read_from_their_folder(tmp_path: Path) -> None:
    assert FOLDERS == {"v1.36": "programs-1.36.2", "v1.20": "programs-1.20.2"}
    for name in FOLDERS.values():
        (tmp_path / name).mkdir()
        (tmp_path / name / "a.jsonl").write_text(
            '# head\n{"question": "q", "program": "p", "asked": "a", "answer": [1]}\n'
        )
    programs = recorded_programs(str(tmp_path))
    assert list(programs) == ["v1.36", "v1.20"]
    assert programs["v1.20"]["q"] == [1]
    assert programs["v1.20"].folder == tmp_path / "programs-1.20.2"
    with pytest.raises(NotAsked) as refused:
        programs["v1.36"]["x"]
    assert str(refused.value) == "nobody was asked 'x' in programs-1.36.2"
    (tmp_path / "programs-1.20.2" / "a.jsonl").write_text("# head\n")
    with pytest.raises(ValueError, match="no answers") as odd:
        recorded_programs(tmp_path)
    assert str(odd.value) == f"no answers of programs in {tmp_path}: programs-1.20.2"
    (tmp_path / "programs-1.20.2" / "a.jsonl").write_text("# head\nno json\n")
    with pytest.raises(ValueError, match="not an answer") as odd:
        recorded_programs(tmp_path)
    assert str(odd.value).startswith(f"{tmp_path / 'programs-1.20.2' / 'a.jsonl'}:2: not an answer: ")
