"""A form and the words that were filled into it: an object as YAML, line by line, the
filled-in lines as solid boxes with the word of the command they follow.

Which line follows which word is found out by trying: the object is made once more with
only that word changed, and the lines that come out different are the ones.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import yaml
from matplotlib.figure import Figure

from lifecycle.figures.picture import INK, empty_axes, figure_of

COLOURS = ("#3d6fa8", "#b5541c", "#2a7f62", "#7a4fb5")
LINE, LETTER = 0.235, 0.095
"""The height of a line and the width of a letter, in inches."""


def lines_of(form: Any) -> list[str]:
    """The object's YAML; what stands in it twice is written twice."""
    plain = json.loads(json.dumps(form))
    return yaml.safe_dump(plain, sort_keys=False).splitlines()


def draw_form(form: Any, changed: Mapping[str, Any], *, width: float = 6.4) -> Figure:
    """`changed` has, for each word of the command, the object that another word in its
    place would have made. Raises ValueError for more words than colours, or if a word
    changes more than what stands on a line.
    """
    if len(changed) > len(COLOURS):
        raise ValueError(f"{len(changed)} words, and {len(COLOURS)} colours")
    lines = lines_of(form)
    follows: dict[int, int] = {}
    for number, other in enumerate(changed.values()):
        for row, (line, instead) in enumerate(zip(lines, lines_of(other), strict=True)):
            if line != instead:
                follows.setdefault(row, number)
    [axes] = empty_axes(width, LINE * len(lines) + 0.1)
    axes.set_xlim(0, width)
    axes.set_ylim(len(lines) - 0.4, -0.6)
    axes.axis("off")
    words = list(changed)
    longest = max((len(lines[row]) for row in follows), default=0)
    right = max(2.25, 0.25 + LETTER * longest)
    for row, line in enumerate(lines):
        text = line.lstrip()
        left = 0.1 + LETTER * (len(line) - len(text))
        style: dict[str, Any] = {"size": 10.5, "va": "center", "color": INK}
        if row in follows:
            colour = COLOURS[follows[row]]
            axes.plot([right, right + 0.2], [row, row], color=colour, lw=1.2)
            axes.text(right + 0.28, row, words[follows[row]], **style)
            box = {"boxstyle": "round,pad=0.16", "fc": colour, "ec": "none"}
            style |= {"color": "white", "bbox": box}
        axes.text(left, row, text, family="monospace", **style)
    return figure_of(axes)
