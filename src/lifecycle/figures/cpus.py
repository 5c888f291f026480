"""Who has which CPUs of a machine, drawn: a frame for each socket, a column for each
core in it, a field for each of the core's threads.

A field carries the CPU's number and its owner's name, so the colours are not needed to
read the picture.
"""

from __future__ import annotations

from collections.abc import Mapping

from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from lifecycle.figures.picture import INK, empty_axes, figure_of
from lifecycle.kubelet.cm.cpumanager.cpu_set import CPUSet
from lifecycle.kubelet.cm.cpumanager.topology import CPUTopology

COLOURS = ("#2a7f62", "#3a5f95", "#8a6d1f", "#7a4a86", "#b5441c")


def draw_cpus(
    topology: CPUTopology, owners: Mapping[str, CPUSet], *, width: float = 7.0
) -> Figure:
    """`owners`: at most five, each with CPUs of its own; the others stay empty."""
    if len(owners) > len(COLOURS):
        raise ValueError(f"{len(owners)} owners, and {len(COLOURS)} colours")
    sockets, threads = topology.ids("socket"), topology.per("core")
    [axes] = empty_axes(width, 0.5 * threads + 0.5)
    axes.set_axis_off()
    x = 0.0
    for socket in sockets:
        cores = topology.ids("core", topology.within("socket", socket))
        frame = (x - 0.08, -0.08), len(cores) + 0.16, threads + 0.16
        axes.add_patch(Rectangle(*frame, fill=False, edgecolor=INK))
        axes.text(
            x + len(cores) / 2,
            threads + 0.2,
            f"socket {socket}",
            ha="center",
            color=INK,
            size=10,
        )
        for core in cores:
            for y, cpu in enumerate(sorted(topology.within("core", core))):
                owner = next((n for n, cpus in owners.items() if cpu in cpus), "")
                colour = COLOURS[list(owners).index(owner)] if owner else "none"
                axes.add_patch(
                    Rectangle(
                        (x + 0.04, y + 0.04),
                        0.92,
                        0.92,
                        facecolor=colour,
                        edgecolor=INK,
                        linewidth=0.6,
                    )
                )
                axes.text(
                    x + 0.5,
                    y + 0.5,
                    f"{cpu}\n{owner}" if owner else str(cpu),
                    ha="center",
                    va="center",
                    size=9,
                    color="white" if owner else INK,
                )
            x += 1
        x += 0.4
    axes.set_xlim(-0.15, x - 0.25)
    axes.set_ylim(-0.15, threads + 0.65)
    return figure_of(axes)
