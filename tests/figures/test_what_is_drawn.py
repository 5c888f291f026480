"""Each picture holds what it held: every word, box, line and limit, in its place, its size and its colour.

The descriptions stand beside this file in `described/`. Whoever changes a picture looks at it, writes them anew
(`KEEP=anew pytest tests/figures/test_what_is_drawn.py`), and reads in the difference what else has moved.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from matplotlib.figure import Figure

from tests.figures.description import description, keeping
from tests.figures.pictures import pictures
from tests.kept_text import kept

DESCRIBED = Path(__file__).with_name("described")
PICTURES = pictures()


@pytest.mark.parametrize("name", PICTURES)
def test_a_picture_holds_what_it_held(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Figure, "savefig", keeping)
    drawn = description(PICTURES[name]())
    file = DESCRIBED / f"{name}.txt"
    assert drawn == kept(file, drawn)


def test_no_description_is_left_over() -> None:
    assert sorted(file.stem for file in DESCRIBED.glob("*.txt")) == sorted(PICTURES)
