"""A dissected packet as a picture: one bar for each header, drawn to scale, the
tunnel's part in one colour and the pod's in another.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from lifecycle.cni.overlay.dissect import Layer

OUTER, INNER, INK = "#3b7dd8", "#e0902f", "#888888"


def draw_packet(layers: Sequence[Layer]) -> Any:
    """A matplotlib figure without background, so that it reads on a light and on a dark
    page.
    """
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(5.2, 0.62 * len(layers) + 0.7))
    figure.patch.set_alpha(0)
    axes.patch.set_alpha(0)
    inside = False
    for row, layer in enumerate(layers):
        axes.barh(
            row,
            layer.length,
            left=layer.offset,
            height=0.62,
            color=INNER if inside else OUTER,
        )
        words = "\n".join(
            f"{key} {value}" for key, value in list(layer.fields.items())[:2]
        )
        end = layer.offset + layer.length
        total = layers[-1].offset + layers[-1].length
        left = end < total * 0.55
        text = f"{layer.name} · {layer.length} bytes" + (f"\n{words}" if words else "")
        where = end + 1 if left else layer.offset - 1
        axes.text(
            where,
            row,
            text,
            va="center",
            ha="left" if left else "right",
            fontsize=9,
            color=INK,
        )
        inside = inside or layer.name == "VXLAN"
    axes.invert_yaxis()
    axes.set_yticks([])
    axes.set_xlabel("byte of the frame on the wire between the hosts", color=INK)
    axes.tick_params(colors=INK)
    for name, spine in axes.spines.items():
        spine.set_visible(name == "bottom")
        spine.set_color(INK)
    figure.tight_layout()
    plt.close(figure)
    return figure
