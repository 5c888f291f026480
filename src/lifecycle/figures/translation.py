"""One connection through a Service, drawn as four packets: as sent, as it goes on, as
answered, as it arrives. What the node's kernel has changed stands in the colour of the
house.
"""

from __future__ import annotations

from matplotlib.axes import Axes

from lifecycle.figures.picture import GOOD, INK, Picture, empty_axes, figure_of
from lifecycle.proxy.iptables.walk import Walk

CLIENT, KERNEL, SERVER = 0.9, 4.5, 8.1
"""Where the three lines of the picture stand."""


def draw_translation(client: str, service: str, way: Walk, node: str) -> Picture:
    """`client` and `service` are addresses (the service's with its port), `way` is what
    the rules made of the first packet; `node` the address that a masqueraded packet
    gets.
    """
    [axes] = empty_axes(6.8, 3.5)
    pod = way.destination
    sender = node if way.masqueraded else client
    for x, title in ((CLIENT, "client"), (KERNEL, "kernel"), (SERVER, "pod")):
        axes.plot([x, x], [0.25, 4.5], color=INK, lw=1, linestyle=":")
        axes.text(x, 4.75, title, color=INK, size=11, ha="center")
    _packet(axes, 4, CLIENT, KERNEL, ("from", client, False), ("to", service, False))
    _packet(
        axes, 3, KERNEL, SERVER, ("from", sender, way.masqueraded), ("to", pod, True)
    )
    _packet(axes, 2, SERVER, KERNEL, ("from", pod, False), ("to", sender, False))
    _packet(
        axes,
        1,
        KERNEL,
        CLIENT,
        ("from", service, True),
        ("to", client, way.masqueraded),
    )
    axes.set_xlim(0.2, 8.8)
    axes.set_ylim(0.2, 5.1)
    axes.axis("off")
    return Picture(figure_of(axes))


def _packet(
    axes: Axes, y: float, begin: float, end: float, *lines: tuple[str, str, bool]
) -> None:
    """An arrow with the packet's two addresses; changed ones in another colour."""
    axes.annotate(
        "",
        (end, y),
        (begin, y),
        arrowprops={"arrowstyle": "-|>", "color": INK, "shrinkA": 2, "shrinkB": 2},
    )
    for (word, address, changed), dy in zip(lines, (0.42, 0.14), strict=True):
        axes.text(
            (begin + end) / 2,
            y + dy,
            f"{word} {address}",
            color=GOOD if changed else INK,
            weight="bold" if changed else "normal",
            size=10,
            ha="center",
            va="center",
        )
