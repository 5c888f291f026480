"""Who is painted in which colour, in terminals and in pictures: middle tones, legible
on light and on dark.
"""

from __future__ import annotations

COLOURS = {
    "kubectl": "#8a63d2",
    "apiserver": "#2f80c4",
    "etcd": "#2a9d8f",
    "deployment-controller": "#b87514",
    "replicaset-controller": "#c2653a",
    "scheduler": "#c2477f",
    "kubelet": "#5a9e3a",
}
_OTHERS = ("#7a7fbf", "#9a7b4f", "#4f9a9a", "#a05c5c")


def colour_of(component: str) -> str:
    """A component's colour, the same everywhere."""
    return COLOURS.get(component) or _OTHERS[sum(component.encode()) % len(_OTHERS)]
