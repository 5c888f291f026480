"""How pods hang on a host, drawn from the host's own links, addresses and routes: ports
of a bridge, or one route each.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from lifecycle.cni.netlink.handle import Netlink

POD, HOST, INK = "#e0902f", "#3b7dd8", "#888888"


def draw_host(pods: Sequence[tuple[str, Netlink]], host: Netlink, title: str) -> Any:
    """A matplotlib figure without background: pods above, the host's ends below them,
    the bridge (if any) under those.
    """
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(5.4, 3.6))
    for patch in (figure.patch, axes.patch):
        patch.set_alpha(0)

    def box(x: float, y: float, width: float, text: str, colour: str) -> None:
        axes.add_patch(
            plt.Rectangle(
                (x - width / 2, y - 0.28),
                width,
                0.56,
                fill=False,
                edgecolor=colour,
                linewidth=2,
            )
        )
        axes.text(x, y, text, ha="center", va="center", fontsize=9, color=INK)

    links = {link.index: link for link in host.links()}
    bridges = [link for link in links.values() if link.kind == "bridge"]
    for number, (name, inside) in enumerate(pods):
        end = inside.link("eth0")
        addresses = ", ".join(map(str, inside.addrs(end.index))) or "no address"
        x = 1.2 + 2.6 * number
        box(x, 3, 2.3, f"{name}\neth0 {addresses}", POD)
        far = links[end.parent]
        own = ", ".join(map(str, host.addrs(far.index))) or "no address"
        routed = [
            str(route.destination) for route in host.routes() if route.link == far.index
        ]
        box(x, 1.9, 2.3, f"{far.name}\n{own}", HOST)
        axes.plot([x, x], [2.18, 2.72], color=INK)
        axes.plot([x, x], [1.1, 1.62], color=INK, linestyle="-" if far.master else ":")
        if routed:
            axes.text(
                x + 0.08,
                1.36,
                f"route\n{routed[0]}",
                ha="left",
                va="center",
                fontsize=9,
                color=INK,
            )
    width = 2.6 * len(pods)
    if bridges:
        own = ", ".join(map(str, host.addrs(bridges[0].index))) or "no address"
        box(
            width / 2 - 0.1, 0.8, width - 0.3, f"bridge {bridges[0].name} · {own}", HOST
        )
    else:
        box(width / 2 - 0.1, 0.8, width - 0.3, "the host's routing table", HOST)
    axes.set_xlim(-0.1, width - 0.1)
    axes.set_ylim(0.3, 3.6)
    axes.axis("off")
    axes.set_title(title, color=INK, fontsize=10)
    figure.tight_layout()
    plt.close(figure)
    return figure
