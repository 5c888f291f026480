"""Who is asked if nobody has learnt who runs what: the test files that import the broken module, nearest first."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner
from mutants.__main__ import main
from mutants.all_values import of_all_values
from mutants.candidates import Candidate, candidates
from mutants.coverage_map import CoverageMap
from mutants.nearest import Nearest
from mutants.readers import Readers
from mutants.trial import asked
from mutants.workshop import Workshop

FILES = {
    "src/lifecycle/__init__.py": "",
    "src/lifecycle/inner.py": "LIMIT = 3\n\n\ndef double(n):\n    return n * 2 if n < LIMIT else n\n",
    "src/lifecycle/outer.py": "import yaml\nfrom lifecycle import inner\n\n\ndef four():\n    return inner.double(2)\n",
    "src/lifecycle/apart.py": "def nothing():\n    return None\n",
    "tests/__init__.py": "",
    "tests/shared.py": "from lifecycle.outer import four\n",
    "tests/test_b_inner.py": "from lifecycle.inner import double\ndef test_it(): assert double(5) == 5\n",
    "tests/test_a_outer.py": "def test_it():\n    from lifecycle.outer import four\n    assert four() == 4\n",
    "tests/test_c_shared.py": "from tests.shared import four\ndef test_it(): assert four() == 4\n",
    "tests/test_d_apart.py": "from lifecycle.apart import nothing\ndef test_it(): assert nothing() is None\n",
    "other/test_elsewhere.py": "from lifecycle.inner import double\n",
}


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    for name, text in FILES.items():
        file = tmp_path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    return tmp_path


def nearest(checkout: Path) -> Nearest:
    tests = checkout / "tests"
    return Nearest(Readers(checkout / "src", tests), tests, checkout / "kept/seconds.json")


def change(checkout: Path, module: str, line: int, operator: str) -> Candidate:
    found = candidates(checkout / f"src/lifecycle/{module}.py").values()
    return next(c for some in found for c in some if (c.line, c.operator) == (line, operator))


@pytest.mark.parametrize(
    ("module", "files"),
    [
        ("inner", ["test_b_inner.py", "test_a_outer.py", "test_c_shared.py"]),
        ("outer", ["test_a_outer.py", "test_c_shared.py"]),
        ("apart", ["test_d_apart.py"]),
    ],
)
def test_who_imports_a_module_itself_comes_before_who_imports_it_through_others(
    checkout: Path, module: str, files: list[str]
) -> None:
    assert [file.name for file in nearest(checkout).files(checkout / f"src/lifecycle/{module}.py")] == files


def test_of_those_that_are_as_far_the_quickest_is_asked_first(checkout: Path) -> None:
    (checkout / "tests/test_a_b_outer.py").write_text((checkout / "tests/test_a_outer.py").read_text())
    asked = nearest(checkout)
    module = checkout / "src/lifecycle/outer.py"
    assert [file.name for file in asked.files(module)][:2] == ["test_a_b_outer.py", "test_a_outer.py"]
    asked._seconds[asked._key(checkout / "tests/test_a_outer.py")] = 0.5
    assert [file.name for file in asked.files(module)][:2] == ["test_a_outer.py", "test_a_b_outer.py"]
    asked._seconds[asked._key(checkout / "tests/test_a_outer.py")] = 50
    assert [file.name for file in asked.files(module)][:2] == ["test_a_b_outer.py", "test_a_outer.py"]


def test_what_others_wrote_is_loaded_beforehand(checkout: Path) -> None:
    assert nearest(checkout).of_others([checkout / "src"]) == ("yaml",)
    assert nearest(checkout).of_others([checkout / "tests"]) == ()


def test_files_are_asked_one_after_the_other_until_one_notices_or_the_time_is_over(checkout: Path) -> None:
    doubled = change(checkout, "inner", 5, "ReplaceBinaryOperator_Mul_Add")
    halved = change(checkout, "inner", 5, "ReplaceBinaryOperator_Mul_Sub")
    with Workshop(checkout) as workshop:
        asked = nearest(checkout)
        assert not asked.trial(doubled, workshop, 600).noticed, "two and two is twice two"
        found = asked.trial(halved, workshop, 600)
        assert found.noticed
        assert "test_a_outer.py::test_it" in found.by
        assert found.before == "return n * 2 if n < LIMIT else n"
        assert not asked.trial(halved, workshop, 1e-6).noticed, "there was only time for the nearest file"
        assert asked.trial(change(checkout, "inner", 5, "ReplaceComparisonOperator_Lt_Gt"), workshop, 1e-6).noticed
        assert (workshop.source / "lifecycle/inner.py").read_text() == FILES["src/lifecycle/inner.py"]


def test_how_long_a_file_takes_is_found_out_once(checkout: Path) -> None:
    file = checkout / "tests/test_b_inner.py"
    with Workshop(checkout) as workshop:
        first = nearest(checkout).seconds(file, workshop)
        assert first > 0
    with Workshop(checkout) as workshop:
        assert nearest(checkout).seconds(file, workshop) == first
        assert "nursery" not in workshop.__dict__, "nobody was asked"
        file.write_text("def test_it(): assert False\n")
        with pytest.raises(ChildProcessError, match=r"tests/test_b_inner\.py must pass before anything is broken"):
            nearest(checkout).seconds(file, workshop)


def test_quoted_code_is_not_asked_about_so() -> None:
    refused = CliRunner().invoke(main, ["quoted", "--near", "5"])
    assert refused.exit_code == 2
    assert "has to be learnt" in refused.output


def test_who_looks_at_all_values_of_a_room_is_near_to_every_module_of_it(tmp_path: Path) -> None:
    values = "from tests.changeable import changeable\ndef test_it(): assert changeable('room') == set()\n"
    files = {
        "src/lifecycle/room/one.py": "x = 1\n",
        "src/lifecycle/other/two.py": "x = 1\n",
        "tests/room/test_values.py": values,
        "tests/changeable.py": "def changeable(room): return set()\n",
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    readers = Readers(tmp_path / "src", tmp_path / "tests")
    near = Nearest(readers, tmp_path / "tests/room", tmp_path / "seconds.json")
    assert of_all_values(readers, tmp_path / "src/lifecycle/room/one.py") == [tmp_path / "tests/room/test_values.py"]
    assert of_all_values(readers, tmp_path / "src/lifecycle/other/two.py") == []
    assert [file.name for file in near.files(tmp_path / "src/lifecycle/room/one.py")] == ["test_values.py"]
    assert list(near.files(tmp_path / "src/lifecycle/other/two.py")) == []
    coverage = CoverageMap({}, {"tests/room/test_values.py::test_it": 1.0})
    module = tmp_path / "src/lifecycle/room/one.py"
    assert asked(module, "x = 1\n", 1, coverage, readers) == ["tests/room/test_values.py::test_it"]
    assert asked(tmp_path / "src/lifecycle/other/two.py", "x = 1\n", 1, coverage, readers) == []
