"""What is inside a mounted volume, read from its directory: names, the link `..data`,
and the directory with a time in its name that the link leads to.
"""

from __future__ import annotations

from pathlib import Path

from lifecycle.figures.boxes import PROGRAM, STORED, WORK, Arrow, Box, draw_boxes
from lifecycle.figures.picture import Picture


def draw_volume_links(volume: Path) -> Picture:
    """From what a container opens, on the left, to the files on the right. Raises
    FileNotFoundError if there is no `..data`.
    """
    data = volume / "..data"
    newest = volume / data.readlink()
    names = sorted(p.name for p in volume.iterdir() if not p.name.startswith(".."))
    middle = (len(names) - 1) / 2 * 0.75
    stamp = f"{newest.name[:13]}\n{newest.name[13:]}"
    boxes = {
        name: Box(0, row * 0.75, "a link", PROGRAM) for row, name in enumerate(names)
    }
    boxes["..data"] = Box(
        1, middle, "a link, the only one\nthat is ever replaced", WORK
    )
    boxes["a directory"] = Box(2, middle, stamp, STORED)
    boxes |= {
        f"{name} ": Box(3, row * 0.75, text(newest / name), STORED)
        for row, name in enumerate(names)
    }
    arrows = [Arrow(name, "..data") for name in names]
    arrows.append(Arrow("..data", "a directory"))
    arrows += [Arrow("a directory", f"{name} ") for name in names]
    return draw_boxes(boxes, arrows, column=1.72, box=(1.4, 0.72))


def text(file: Path) -> str:
    """How a file begins, or that it is a directory."""
    return file.read_text()[:18] if file.is_file() else "a directory"
