"""A tree of cgroups, drawn from their paths: the root on the left, and in each box what
the kernel was told of the group.
"""

from __future__ import annotations

from collections.abc import Mapping

from lifecycle.figures.boxes import PROGRAM, SERVER, WORK, Arrow, Box, draw_boxes
from lifecycle.figures.picture import Picture

COLOURS = (SERVER, PROGRAM, WORK)
"""By how deep a group is; what is deeper has the last one."""


def draw_cgroup_tree(groups: Mapping[str, str]) -> Picture:
    """`groups`: what to write into each box, by path (`kubepods/burstable/pod1`). Boxes
    are named by the path's last part, so those have to differ. A group whose parent is
    missing begins a tree.
    """
    paths = sorted(groups)
    boxes: dict[str, Box] = {}
    rows: dict[str, float] = {}
    free = 0.0
    for path in paths:
        if not any(other.startswith(path + "/") for other in paths):
            rows[path] = free
            free += 0.85
    for path in sorted(paths, key=lambda p: -p.count("/")):
        below = [rows[p] for p in paths if p.rpartition("/")[0] == path and p in rows]
        if below:
            rows[path] = (min(below) + max(below)) / 2
    for path in paths:
        depth = path.count("/")
        name = path.rpartition("/")[2]
        if name in boxes:
            raise ValueError(f"two groups are called {name}")
        colour = COLOURS[min(depth, len(COLOURS) - 1)]
        boxes[name] = Box(depth, rows[path], groups[path], colour)
    arrows = [
        Arrow(path.split("/")[-2], path.rpartition("/")[2])
        for path in paths
        if path.rpartition("/")[0] in groups
    ]
    return draw_boxes(boxes, arrows, row=0.95)
