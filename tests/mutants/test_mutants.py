"""The mutation score: where code is broken, who is asked, and that a missing assertion shows."""

from __future__ import annotations

import json
import os
import py_compile
import signal
import threading
import time
from datetime import date
from pathlib import Path

import pytest
from click.testing import CliRunner
from cosmic_ray.mutating import mutate_code
from mutants.__main__ import CHECKOUT, PACKAGE, main, modules_and_tests, of_quoted, rooms
from mutants.candidates import candidates, operators
from mutants.coverage_map import CoverageMap, measure
from mutants.grafting import graft_of
from mutants.operators import AnswerNothing, LeaveOutCall, OtherText
from mutants.quoted import lines_of, quoted_lines
from mutants.sample import sample
from mutants.trial import Outcome, changed_lines, lines_of_statement, trial
from mutants.workshop import Workshop

from mutants import __main__ as mutants_main
from mutants import report

MODULE = '''"""A module."""
from __future__ import annotations; from typing import Protocol

ANNOTATED: int | None = 3


def surge(replicas: int | None, allowed: int) -> int | None:
    """How many more: 0 to `allowed`."""
    if replicas is None:
        return None
    record("surge")
    return min(replicas + 1, allowed)


def record(what: str) -> None:
    seen.append(what)


seen: list[str] = []
__all__ = ["record", "surge"]
pairs = dict(zip("a", "b", strict=True))
class Surging(Protocol):
    @property
    def most(self) -> int: ...
'''

TESTS = """
from lifecycle import toy

def test_one_more():
    assert toy.surge(2, 5) == 3

def test_unknown():
    assert toy.surge(None, 5) is None
"""


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    package = tmp_path / "src" / "lifecycle"
    package.mkdir(parents=True)
    (package / "__init__.py").touch()
    (package / "toy.py").write_text(MODULE)
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests" / "test_toy.py").write_text(TESTS)
    return tmp_path


@pytest.mark.parametrize("operator", [LeaveOutCall, AnswerNothing, OtherText])
def test_an_operator_does_what_its_example_says(operator):
    for example in operator.examples():
        assert mutate_code(example.pre_mutation_code, operator(), 0) == example.post_mutation_code


def test_docstrings_and_annotations_are_not_broken(checkout):
    lines = {line for line, _ in candidates(checkout / "src/lifecycle/toy.py")}
    assert 1 not in lines
    assert 8 not in lines
    assert not lines & {20, 22, 23, 24}
    places = candidates(checkout / "src/lifecycle/toy.py")
    assert not [c for some in places.values() for c in some if c.operator.startswith("ReplaceBinaryOperator_BitOr")]
    assert not [c for some in places.values() for c in some if c.operator.startswith("ReplaceTrueWithFalse")]


def test_what_only_type_checkers_heed_is_not_broken(tmp_path):
    """The star between parameters is no product, and nobody who runs a program asks for a type variable's bounds."""
    module = tmp_path / "typed.py"
    module.write_text("T = TypeVar('T', bound=a * b, contravariant=True)\ndef f(x, *, y=2 * 3):\n    return x * y\n")
    broken = {(c.line, c.operator) for some in candidates(module).values() for c in some}
    assert {line for line, _ in broken} == {2, 3}
    products = [
        c for some in candidates(module).values() for c in some if c.operator == "ReplaceBinaryOperator_Mul_Div"
    ]
    assert [(c.line, c.column) for c in products] == [(2, 16), (3, 13)]


def test_a_sample_is_the_same_for_a_seed_and_has_one_mutant_per_place(checkout):
    module = checkout / "src/lifecycle/toy.py"
    chosen = sample({module: None}, 8, seed=3)
    assert chosen == sample({module: None}, 8, seed=3)
    assert len({(c.line, c.column) for c in chosen}) == len(chosen) == 8
    assert chosen != sample({module: None}, 8, seed=4)


def test_a_sample_ends_where_there_is_no_more_to_break(checkout):
    module = checkout / "src/lifecycle/toy.py"
    chosen = sample({module: frozenset({12})}, 1000, seed=1)
    assert chosen
    assert {c.line for c in chosen} == {12}


def test_every_mutant_is_python_and_means_something_else(checkout):
    module = checkout / "src/lifecycle/toy.py"
    for candidate in sample({module: None}, 1000, seed=1):
        text = candidate.mutated()
        assert text is not None
        compile(text, "toy", "exec")
        before, after = changed_lines(module.read_text(), text)
        assert before != after


def test_an_exception_of_a_module_is_left_as_it_is(tmp_path):
    module = tmp_path / "module.py"
    module.write_text("def f():\n    try:\n        g()\n    except (a.B, OSError) as error:\n        raise\n")
    changes = [c for some in candidates(module).values() for c in some if c.operator.endswith("ExceptionReplacer")]
    assert changes
    texts = [change.mutated() for change in changes]
    assert all(text is None or "a.B" in text for text in texts)


def test_a_missing_assertion_shows_as_a_survivor(checkout):
    """Nobody looks at what was recorded, and nobody comes near `allowed`; everything else is noticed."""
    module = checkout / "src/lifecycle/toy.py"
    coverage = measure(checkout / "src", [str(checkout / "tests/test_toy.py")], checkout, cwd=checkout)
    by_change = {(c.line, c.operator): c for some in candidates(module).values() for c in some}
    with Workshop(checkout) as workshop:
        untested = trial(by_change[11, "LeaveOutCall"], workshop, coverage)
        tested = trial(by_change[12, "ReplaceBinaryOperator_Add_Sub"], workshop, coverage)
        copy = workshop.source / "lifecycle/toy.py"
        assert copy.read_text() == MODULE
    assert not copy.exists()
    assert module.read_text() == MODULE
    assert (untested.noticed, untested.before, untested.after) == (False, 'record("surge")', "pass")
    assert tested.noticed


def test_a_statement_is_known_by_any_of_its_lines():
    source = "x = [\n    1,\n]\ndef f(a=1):\n    if a > 1 and (\n        a < 5\n    ):\n        return {\n            'k': a,\n        }\n"
    spans = {line: lines_of_statement(source, line) for line in range(1, 11)}
    assert all(not spans[line] for line in range(1, 5)), "when the module is imported"
    assert spans[5] == spans[6] == range(5, 8)
    assert spans[8] == spans[9] == range(8, 11)


def test_a_statement_that_no_test_runs_is_a_survivor_without_a_question(checkout):
    module = checkout / "src/lifecycle/toy.py"
    coverage = CoverageMap({str(module): {12: ["tests/test_toy.py::test_one_more"]}}, {})
    by_change = {(c.line, c.operator): c for some in candidates(module).values() for c in some}
    with Workshop(checkout) as workshop:
        assert not trial(by_change[11, "LeaveOutCall"], workshop, coverage).noticed
        assert "nursery" not in workshop.__dict__


def test_a_folder_of_tests_can_be_left_out():
    tables = CoverageMap({"m": {1: ["tests/a/t.py::x", "tests/b/t.py::y"]}}, {"tests/a/t.py::x": 1.0}).without(
        "tests/a"
    )
    assert (tables.of_line(Path("m"), 1), tables.seconds) == (["tests/b/t.py::y"], {})


def test_the_tests_of_a_judge_are_asked_about_that_judge_only():
    tests = {"t": {1: [f"tests/{room}/t.py::x" for room in ("agreements", "compare", "inspector")]}}
    asked = {
        room: of_quoted(CoverageMap(tests, {}), PACKAGE / room / "part.py").of_line(Path("t"), 1)
        for room in ("dns", "compare", "inspector")
    }
    assert {room: [name.split("/")[1] for name in names] for room, names in asked.items()} == {
        "dns": ["agreements"],
        "compare": ["agreements", "compare"],
        "inspector": ["agreements", "inspector"],
    }


def test_tests_that_fail_unbroken_are_refused(checkout):
    (checkout / "tests/test_toy.py").write_text("def test_never(): assert False")
    with pytest.raises(ChildProcessError, match="must pass before"):
        measure(checkout / "src", [str(checkout / "tests/test_toy.py")], checkout, cwd=checkout)


def test_what_was_measured_is_kept_until_a_test_or_a_module_changes(checkout, tmp_path):
    tests, module = checkout / "tests/test_toy.py", checkout / "src/lifecycle/toy.py"
    first = measure(checkout / "src", ["tests"], tmp_path / "kept", cwd=checkout)
    assert first.of_line(module, 12) == ["tests/test_toy.py::test_one_more"]
    kept = tmp_path / "kept/map.json"
    before = kept.stat().st_mtime_ns
    assert measure(checkout / "src", ["tests"], tmp_path / "kept", cwd=checkout).tests == first.tests
    assert kept.stat().st_mtime_ns == before
    tests.write_text(TESTS + "\ndef test_two_more(): assert toy.surge(3, 5) == 4\n")
    again = measure(checkout / "src", ["tests"], tmp_path / "kept", cwd=checkout)
    assert len(again.of_line(module, 12)) == 2
    module.write_text(MODULE + "\nlast = 1\n")
    moved = measure(checkout / "src", ["tests"], tmp_path / "kept", cwd=checkout)
    assert moved.of_line(module, 12) == []
    assert len(moved.of_module(module)) == 3
    (checkout / "tests/test_new.py").write_text(TESTS)
    after = measure(checkout / "src", ["tests"], tmp_path / "kept", cwd=checkout)
    assert len(after.of_line(module, 12)) == 4  # the old ones may run the line as well: they are asked, too


def test_what_was_learnt_of_one_file_is_kept_though_another_fails(checkout, tmp_path):
    module, failing = checkout / "src/lifecycle/toy.py", checkout / "tests/test_a.py"
    failing.write_text("def test_never(): assert False")
    with pytest.raises(ChildProcessError, match=r"test_a\.py must pass"):
        measure(checkout / "src", ["tests"], tmp_path / "kept", cwd=checkout)
    kept = json.loads((tmp_path / "kept/map.json").read_text())
    assert [Path(name).name for name in kept] == ["test_toy.py"]
    failing.write_text("def test_ever(): assert True")
    begun = (tmp_path / "kept/map.json").read_text()
    assert measure(checkout / "src", ["tests"], tmp_path / "kept", cwd=checkout).of_line(module, 12)
    assert json.loads(begun).items() <= json.loads((tmp_path / "kept/map.json").read_text()).items()


@pytest.mark.parametrize("preloaded", [[], ["lifecycle.toy", "lifecycle.no_such"]])
def test_who_has_loaded_the_room_before_learns_the_same_of_its_tests(checkout, tmp_path, preloaded):
    module = checkout / "src/lifecycle/toy.py"
    coverage = measure(checkout / "src", ["tests"], tmp_path / "kept", cwd=checkout, preloaded=preloaded)
    assert not coverage.apart
    assert coverage.of_line(module, 12) == ["tests/test_toy.py::test_one_more"]
    assert set(coverage.of_module(module)) == {f"tests/test_toy.py::test_{name}" for name in ("one_more", "unknown")}


def test_a_mutant_that_cannot_be_imported_is_noticed(checkout):
    with (
        Workshop(checkout) as workshop,
        workshop.broken(checkout / "src/lifecycle/toy.py", "import nowhere"),
    ):
        assert not workshop.tests_pass(["tests/test_toy.py::test_unknown"], seconds=60)


def test_a_mutant_of_the_same_second_and_size_is_not_taken_for_what_is_compiled(checkout):
    module = checkout / "src/lifecycle/toy.py"
    now = int(time.time()) + 1
    os.utime(module, (now, now))
    py_compile.compile(str(module), doraise=True)
    with Workshop(checkout) as workshop:
        assert workshop.tests_pass(["tests/test_toy.py::test_one_more"], seconds=60)
        with workshop.broken(module, MODULE.replace("replicas + 1", "replicas + 2")):
            copy = workshop.source / "lifecycle/toy.py"
            assert copy.stat().st_size == module.stat().st_size
            assert int(copy.stat().st_mtime) != now
            assert not workshop.tests_pass(["tests/test_toy.py::test_one_more"], seconds=60)


def test_a_fork_has_the_libraries_and_its_own_mutant(checkout):
    test = checkout / "tests/test_toy.py"
    test.write_text("import sys\ndef test_loaded(): assert 'wave' in sys.modules\n")
    for imports, loaded in ((["wave", "no_such_module"], True), ([], False)):
        with Workshop(checkout, imports) as workshop:
            assert workshop.tests_pass([str(test)], seconds=60) is loaded
            with pytest.raises(FileNotFoundError, match="no_such"):
                workshop.tests_pass(["no_such.py"], seconds=60)
    assert workshop.nursery.process.returncode == 0


def test_an_endless_mutant_is_noticed_by_the_clock(checkout):
    (checkout / "tests/test_toy.py").write_text("def test_endless():\n    while True: pass")
    with Workshop(checkout) as workshop:
        assert not workshop.tests_pass([str(checkout / "tests/test_toy.py")], seconds=3)


def test_an_endless_test_is_not_waited_for_as_long_as_all_tests_together(checkout):
    test = checkout / "tests/test_toy.py"
    test.write_text("def test_endless():\n    while True: pass")
    begun = time.process_time()
    with Workshop(checkout) as workshop:
        assert not workshop.tests_pass([str(test)], seconds=600, limits={"tests/test_toy.py::test_endless": 0.2})
        assert not workshop.output.read_text().count("FAILED")
    assert time.process_time() - begun < 60


def test_a_scene_that_a_file_of_tests_remembers_is_played_by_each_who_looks_at_it(checkout):
    (checkout / "tests/test_toy.py").write_text(
        "from functools import cache\nfrom lifecycle import toy\n@cache\ndef scene(): return toy.surge(2, 5)\n"
        + "".join(f"def test_{n}(): assert scene()\n" for n in "ab")
    )
    module = checkout / "src/lifecycle/toy.py"
    coverage = measure(
        checkout / "src", ["tests"], checkout / "kept", cwd=checkout, modules=[module], loaded="lifecycle.toy"
    )
    assert set(coverage.of_line(module, 12)) == {f"tests/test_toy.py::test_{n}" for n in "ab"}


def test_a_survivor_of_those_who_were_measured_alone_costs_no_second_question(checkout):
    """Whoever has played a scene first has run its lines; whoever asks second finds it played. Measured apart, both have."""
    scenes = checkout / "src/lifecycle/agreements.py"
    scenes.write_text(
        "from functools import cache\nfrom lifecycle import toy\n@cache\ndef scene(): return toy.surge(2, 5)\n"
    )
    tests = checkout / "tests/test_toy.py"
    tests.write_text(
        "from lifecycle import agreements as a\n" + "".join(f"def test_{n}(): assert a.scene()\n" for n in "ab")
    )
    module = checkout / "src/lifecycle/toy.py"
    coverage = measure(
        checkout / "src", ["tests"], checkout / "kept", cwd=checkout, modules=[module], loaded="lifecycle.agreements"
    )
    both = {f"tests/test_toy.py::test_{n}" for n in "ab"}
    assert set(coverage.of_line(module, 12)) == both
    assert list(coverage.tests) == [str(module)]
    by_change = {(c.line, c.operator): c for some in candidates(module).values() for c in some}
    asked = []

    class Listening(Workshop):
        def tests_pass(self, nodeids, seconds, limits=None):
            asked.append(set(nodeids))
            return super().tests_pass(nodeids, seconds, limits)

    with Listening(checkout) as workshop:
        assert not trial(by_change[12, "ReplaceBinaryOperator_Add_Sub"], workshop, coverage).noticed
    assert asked == [both], "one or three: both are true"


@pytest.mark.parametrize(
    ("before", "after", "grafted"),
    [
        ("def f():\n    return 1\n", "def f():\n    return 2\n", True),
        ("class A:\n    def f(self):\n        return [1]\n", "class A:\n    def f(self):\n        return []\n", True),
        ("def f(a=1):\n    return a\n", "def f(a=2):\n    return a\n", False),
        ("LIMIT = 1\n", "LIMIT = 2\n", False),
        ("class A:\n    limit = 1\n", "class A:\n    limit = 2\n", False),
        ("key = lambda: 1\n", "key = lambda: 2\n", False),
    ],
)
def test_only_bodies_of_functions_are_exchanged(before, after, grafted):
    assert (graft_of("m.py", before, after) is not None) is grafted


def test_a_graft_breaks_what_is_loaded_and_only_in_the_fork(checkout):
    module, test = checkout / "src/lifecycle/toy.py", checkout / "tests/test_toy.py"
    broken = MODULE.replace("replicas + 1", "replicas + 2")
    with Workshop(checkout, loaded=["lifecycle.toy"], sure=True) as workshop:
        for text, passes in ((broken, False), (MODULE.replace("is None", "== None"), True)):
            with workshop.broken(module, text):
                assert workshop.tests_pass([str(test)], seconds=60) is passes
        assert "nursery" not in workshop.__dict__, "nothing was loaded again"
        with workshop.broken(module, MODULE.replace("seen: list[str] = []", "del surge")):
            assert not workshop.tests_pass([str(test)], seconds=60)
        assert "nursery" in workshop.__dict__, "what runs while it is loaded has to be loaded"


def test_what_passes_over_a_graft_is_asked_again_of_who_loads_the_mutant(checkout):
    module, test = checkout / "src/lifecycle/toy.py", checkout / "tests/test_early.py"
    module.write_text(f"{MODULE}early = surge(1, 5)\n")
    test.write_text("from lifecycle import toy\n\n\ndef test_early():\n    assert toy.early == 2\n")
    broken = module.read_text().replace("replicas + 1", "replicas + 2")
    for sure in (True, False):
        with Workshop(checkout, loaded=["lifecycle.toy"], sure=sure) as workshop, workshop.broken(module, broken):
            assert workshop.tests_pass([str(test)], seconds=60) is sure
            assert ("nursery" in workshop.__dict__) is not sure


def test_what_is_not_broken_is_asked_once_and_where_it_is_loaded(checkout):
    with Workshop(checkout, loaded=["lifecycle.toy"]) as workshop:
        with workshop.unbroken():
            assert workshop.tests_pass([str(checkout / "tests/test_toy.py")], seconds=60)
        assert "nursery" not in workshop.__dict__
        assert workshop.computed == workshop.warm.computed > 0
        assert not workshop.sure


def test_what_is_not_loaded_is_loaded_broken(checkout):
    module, test = checkout / "src/lifecycle/toy.py", checkout / "tests/test_toy.py"
    with (
        Workshop(checkout, loaded=["wave"]) as workshop,
        workshop.broken(module, MODULE.replace("replicas + 1", "replicas + 2")),
    ):
        assert not workshop.tests_pass([str(test)], seconds=60)
        assert "FAILED" in workshop.who_noticed()
        assert "nursery" in workshop.__dict__


def test_who_noticed_is_said(checkout):
    module = checkout / "src/lifecycle/toy.py"
    coverage = CoverageMap({str(module): {12: ["tests/test_toy.py::test_one_more"]}}, {})
    by_change = {(c.line, c.operator): c for some in candidates(module).values() for c in some}
    with Workshop(checkout) as workshop:
        outcome = trial(by_change[12, "ReplaceBinaryOperator_Add_Sub"], workshop, coverage)
    assert outcome.by.startswith("FAILED tests/test_toy.py::test_one_more")


def test_quoted_lines_are_those_of_the_named_function(tmp_path, checkout):
    module = checkout / "src/lifecycle/toy.py"
    page = tmp_path / "page.md"
    page.write_text(f"```{{literalinclude}} {module}\n:language: python\n:pyobject: record\n```\n")
    assert quoted_lines(tmp_path, module.parent) == {module: frozenset({15, 16})}
    page.write_text(f"```{{literalinclude}} {module}\n:pyobject: gone\n```\n")
    with pytest.raises(LookupError, match="gone"):
        quoted_lines(tmp_path, module.parent)


def test_a_quotation_may_begin_and_end_within_its_function(checkout):
    module = checkout / "src/lifecycle/toy.py"
    assert lines_of(module, ":pyobject: surge\n:start-at: 'if replicas'\n:end-before: 'record('\n") == range(9, 11)
    assert lines_of(module, ":lines: 1-2\n") == range(1, 3)
    with pytest.raises(LookupError, match="nowhere"):
        lines_of(module, ":pyobject: surge\n:start-at: 'nowhere'\n")


def test_every_quote_of_the_book_is_seen():
    assert len(quoted_lines(CHECKOUT / "book", PACKAGE)) > 80


def test_an_equivalent_mutant_needs_a_reason_and_is_not_counted(monkeypatch, tmp_path):
    survivor = Outcome("src/lifecycle/toy.py", 3, "NumberReplacer", "limit = 3", "limit = 4", noticed=False)
    file = tmp_path / "equivalent.yaml"
    file.write_text(
        "- {module: src/lifecycle/toy.py, before: limit = 3, after: limit = 4, reason: nothing reaches three}"
    )
    monkeypatch.setattr(report, "EQUIVALENT", file)
    other = Outcome("src/lifecycle/toy.py", 3, "NumberReplacer", "limit = 3", "limit = 2", noticed=False)
    score = report.Score("toy", 1, report.with_reasons([survivor, other]))
    assert [outcome.after for outcome in score.survivors] == ["limit = 2"]
    assert score.share == 0.0
    report.keep(score, tmp_path / "results.json")
    kept = json.loads((tmp_path / "results.json").read_text())["toy"]
    assert (kept["equivalent"], kept["seed"], kept["date"]) == (1, 1, date.today().isoformat())


@pytest.mark.parametrize("ending", [KeyboardInterrupt, SystemExit])
def test_a_run_that_is_ended_has_kept_what_it_had_and_says_of_how_much(monkeypatch, checkout, tmp_path, ending):
    (room := checkout / "src/lifecycle/toyroom").mkdir()
    (room / "toy.py").write_text(MODULE)
    (checkout / "tests/toyroom").mkdir()
    (checkout / "tests/toyroom/test_toy.py").write_text(TESTS)
    results = tmp_path / "results.json"
    tried: list[str] = []

    def trial_until_ended(candidate, workshop, coverage):
        if len(tried) == 2:
            tried.append("a third, in vain")
            assert json.loads(results.read_text())["toyroom"]["tried"] == 2, "kept before anybody could know"
            raise ending
        tried.append(candidate.operator)
        return Outcome("src/lifecycle/toyroom/toy.py", 3, "NumberReplacer", "a = 3", "a = 4", noticed=len(tried) > 1)

    for name, value in {
        "CHECKOUT": checkout,
        "PACKAGE": checkout / "src/lifecycle",
        "keep": lambda score: report.keep(score, results),
        "measured": lambda *_: CoverageMap({}, {}),
        "trial": trial_until_ended,
    }.items():
        monkeypatch.setattr(mutants_main, name, value)
    told = CliRunner().invoke(main, ["toyroom", "--count", "7"])
    kept = json.loads(results.read_text())["toyroom"]
    assert (kept["tried"], kept["ended early, of"], kept["noticed"], len(kept["survivors"])) == (2, 7, 1, 1)
    assert any(line.endswith("ended early, after 2 of 7") for line in told.output.splitlines()), told.output
    assert len(tried) == 3


def test_who_is_ended_while_tests_run_ends_them_and_leaves_nothing(checkout):
    """Not a quarter of an hour later, when they have finished."""
    pids = checkout / "pids"
    test = checkout / "tests/test_toy.py"
    test.write_text(
        f"import os, time\ndef test_long():\n    open({str(pids)!r}, 'w').write(str(os.getpid()))\n    time.sleep(3600)\n"
    )

    def ended(signum: int, frame: object) -> None:
        raise SystemExit(1)

    def watch() -> None:
        while not pids.exists() or not pids.read_text():
            threading.Event().wait(0.05)
        os.kill(os.getpid(), signal.SIGUSR1)

    before = signal.signal(signal.SIGUSR1, ended)
    thread = threading.Thread(target=watch)
    thread.start()
    workshop = Workshop(checkout)
    try:
        with pytest.raises(SystemExit), workshop:
            workshop.tests_pass([str(test)], seconds=3600)
    finally:
        signal.signal(signal.SIGUSR1, before)
        thread.join()
    assert workshop.nursery.process.returncode is not None
    assert not workshop.folder.exists()
    with pytest.raises(ProcessLookupError):
        os.kill(int(pids.read_text()), 0)


def test_a_run_that_went_to_its_end_says_nothing_of_an_early_one(tmp_path):
    noticed = Outcome("src/lifecycle/toy.py", 3, "NumberReplacer", "limit = 3", "limit = 2", noticed=True)
    for chosen, early in ((1, False), (2, True)):
        score = report.Score("toy", 1, (noticed,), near=8.0, chosen=chosen)
        report.keep(score, tmp_path / "results.json")
        assert ("ended early, of" in json.loads((tmp_path / "results.json").read_text())["toy"]) is early
        assert ("ended early" in score.line()) is early
        assert "≥ 100.0%" in score.line()


def test_the_list_of_equivalent_mutants_names_code_that_is_there():
    import yaml

    for entry in yaml.safe_load(report.EQUIVALENT.read_text()):
        assert entry["reason"]
        lines = [line.strip() for line in (CHECKOUT / entry["module"]).read_text().splitlines()]
        assert all(part in lines for part in entry["before"].split(" ⏎ ")), entry


def test_an_unknown_room_is_said_in_one_line():
    result = CliRunner().invoke(main, ["attic"])
    assert result.exit_code == 2
    assert "no room called attic" in result.output


def test_every_room_can_be_asked():
    assert {"scheduler", "kubelet", "apiserver", "controllers"} <= set(rooms())
    assert "NumberReplacer" in operators()


def test_of_a_broken_check_of_a_claim_the_tests_of_claims_are_asked() -> None:
    modules, tests = modules_and_tests("agreements")
    assert PACKAGE / "agreements" / "claim_checks" / "__init__.py" in modules
    assert tests == ["tests/agreements", "tests/claims"]
    assert all((CHECKOUT / name).is_dir() for room in rooms() for name in modules_and_tests(room)[1])
