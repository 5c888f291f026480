"""Labs as they are committed: run, clean, the same kernel everywhere, and linked with their chapters both ways.

Running them again is `pytest labs` (see `nb_*` in pyproject.toml).
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import Any

import nbformat
import pytest
import yaml

from tests.conftest import ROOT

LABS = sorted((ROOT / "labs").glob("*.ipynb"))
WITHOUT_LAB = frozenset(
    {
        "conformance",
        "how-the-book-checks-itself",
        "run-it",
        "the-articles",
        "the-journey",
        "threat-model",
    }
)
"""Pages that are no stage of the journey (the way through all of them, how to run it, what is said about tests and dangers), and
those that share the lab of another chapter.
"""


@cache
def notebook(path: Path) -> Any:
    return nbformat.read(path, as_version=4)


@cache
def listed() -> tuple[str, ...]:
    toc = yaml.safe_load((ROOT / "_toc.yml").read_text())
    chapters = [chapter for part in toc["parts"] for chapter in part["chapters"]]
    return (
        toc["root"],
        *(page["file"] for chapter in chapters for page in (chapter, *chapter.get("sections", ()))),
    )


@cache
def chapters_with_code() -> tuple[Path, ...]:
    files = [ROOT / f"{name}.md" for name in listed() if name.startswith("book/")]
    return tuple(file for file in files if re.search(r"^```\{code-cell\}", file.read_text(), re.MULTILINE))


def test_there_are_labs() -> None:
    assert LABS


@pytest.mark.parametrize("lab", LABS, ids=lambda lab: lab.stem)
def test_a_lab_is_committed_executed(lab: Path) -> None:
    cells = [cell for cell in notebook(lab).cells if cell.cell_type == "code"]
    assert [cell.execution_count for cell in cells] == list(range(1, len(cells) + 1))  # from top to bottom, once
    silent = [cell.source for cell in cells if re.search(r"^print\(", cell.source, re.MULTILINE) and not cell.outputs]
    assert silent == []
    outputs = [output for cell in cells for output in cell.outputs]
    assert [output for output in outputs if output.output_type == "error" or output.get("name") == "stderr"] == []


@pytest.mark.parametrize("lab", LABS, ids=lambda lab: lab.stem)
def test_a_lab_says_what_happens_and_why_it_matters_before_it_names_its_chapter(lab: Path) -> None:
    _, opening, *_ = notebook(lab).cells[0].source.split("\n\n")
    before, chapter, _ = opening.partition(" The chapter is [")
    assert chapter
    assert len(re.findall(r"[.?!](?: |$)", before)) >= 2, before


LONG = 15
"""Lines of a check, above which it is folded."""
OPEN = 24
"""Lines that stand open in another cell at most, as in a chapter; what is to be mended may be longer."""


def is_folded(cell: Any) -> bool:
    """On the page and in JupyterLab alike: a cell that is folded in only one of them is a mistake."""
    on_the_page = "hide-input" in cell.metadata.get("tags", ())
    assert on_the_page == cell.metadata.get("jupyter", {}).get("source_hidden", False), cell.source
    return on_the_page


@pytest.mark.parametrize("lab", LABS, ids=lambda lab: lab.stem)
def test_what_knows_the_answer_is_folded_and_what_asks_for_it_is_open(lab: Path) -> None:
    for cell in notebook(lab).cells:
        if cell.cell_type != "code":
            continue
        lines, gap = (
            len(cell.source.splitlines()),
            re.search(r"^(async def |def |class )?your_", cell.source, re.MULTILINE),
        )
        if "lab.check(" in cell.source:
            assert is_folded(cell) == (lines > LONG), cell.source
        elif gap:
            assert not is_folded(cell), cell.source
        else:
            assert is_folded(cell) or lines <= OPEN, cell.source


@pytest.mark.parametrize("lab", LABS, ids=lambda lab: lab.stem)
def test_a_lab_runs_on_the_kernel_everybody_has(lab: Path) -> None:
    assert notebook(lab).metadata.kernelspec.name == "python3"


@pytest.mark.parametrize("lab", LABS, ids=lambda lab: lab.stem)
def test_a_lab_names_nothing_of_the_machine_it_ran_on(lab: Path) -> None:
    text = lab.read_text()
    assert str(ROOT) not in text
    assert not re.search(r"/(home|root|Users|tmp)/|\x1b", text)


@pytest.mark.parametrize("lab", LABS, ids=lambda lab: lab.stem)
def test_a_lab_is_a_page_linked_with_its_chapter_both_ways(lab: Path) -> None:
    assert f"labs/{lab.stem}" in listed()
    [chapter] = [file for file in chapters_with_code() if file.stem == lab.stem]
    assert f"labs/{lab.stem}" in chapter.read_text()
    assert chapter.relative_to(ROOT).as_posix() in lab.read_text()


def next_chapter(lab: Path) -> str | None:
    """The chapter behind a lab in the navigation; None behind the last lab."""
    pages = listed()
    chapter, beside = pages[pages.index(f"labs/{lab.stem}") + 1 :][:2]
    return chapter if beside.startswith("labs/") else None


@pytest.mark.parametrize("lab", LABS, ids=lambda lab: lab.stem)
def test_a_lab_ends_with_what_to_do_next(lab: Path) -> None:
    end = notebook(lab).cells[-1].source
    [chapter] = [file for file in chapters_with_code() if file.stem == lab.stem]
    assert end.startswith("## What next\n")
    lines = re.findall(r"^\$ \.venv/bin/lifecycle check .*$", end, re.MULTILINE)
    assert len(lines) == 2
    assert [line for line in lines if line not in chapter.read_text()] == []
    assert f"(../{next_chapter(lab) or 'book/playground'}.md)" in end


@pytest.mark.parametrize("lab", LABS, ids=lambda lab: lab.stem)
def test_a_lab_says_percent(lab: Path) -> None:
    text = lab.read_text() + (lab.parent / "solutions" / f"{lab.stem}.py").read_text()
    assert re.findall(r"(?i)\bper cents?\b|\bpercents\b", text) == []


def test_a_lab_stands_beside_its_chapter() -> None:
    pages = listed()
    for lab in LABS:
        before = pages[pages.index(f"labs/{lab.stem}") - 1]
        assert before.rpartition("/")[2] == lab.stem


def test_every_chapter_that_runs_code_has_a_lab() -> None:
    labs = {lab.stem for lab in LABS}
    assert {file.stem for file in chapters_with_code()} - labs == WITHOUT_LAB
