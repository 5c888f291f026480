"""Decisions of a kubelet, drawn as questions with their ways out."""

from __future__ import annotations

from lifecycle.figures.boxes import (
    PROGRAM,
    SERVER,
    STORED,
    TROUBLE,
    WORK,
    Arrow,
    Box,
    draw_boxes,
)
from lifecycle.figures.picture import Picture


def draw_present_image() -> Picture:
    """Whether a pod may use an image that somebody else has pulled."""
    return draw_boxes(
        {
            "a pod": Box(0, 0.5, "its image is on\nthe node already", WORK),
            "pull record": Box(1, 0.5, "the same password?\nwas none needed?", STORED),
            "use it": Box(2, 0, "nobody is asked"),
            "registry": Box(2, 1, "may this one\nhave it?", SERVER),
        },
        [
            Arrow("a pod", "pull record"),
            Arrow("pull record", "use it", "yes"),
            Arrow("pull record", "registry", "no"),
        ],
        column=2.45,
    )


def draw_exclusive_cpus() -> Picture:
    """Which containers get CPUs that nobody else may use."""
    return draw_boxes(
        {
            "Guaranteed?": Box(0, 0, "requests equal limits"),
            "a whole number?": Box(1, 0, "2 and not 1500m"),
            "enough free?": Box(2, 0, "asked at admission"),
            "shared pool": Box(0.5, 1.2, "with everybody else", SERVER),
            "refused": Box(1.5, 1.2, "Unexpected-\nAdmissionError", TROUBLE),
            "its own": Box(2.5, 1.2, "cpuset_cpus,\nfrom the start", PROGRAM),
        },
        [
            Arrow("Guaranteed?", "a whole number?", "yes"),
            Arrow("a whole number?", "enough free?", "yes"),
            Arrow("Guaranteed?", "shared pool", "no"),
            Arrow("a whole number?", "shared pool", "no"),
            Arrow("enough free?", "refused", "no"),
            Arrow("enough free?", "its own", "yes"),
        ],
    )


def draw_resize_order() -> Picture:
    """In which order a pod's group and its containers' get their new limits."""
    return draw_boxes(
        {
            "it grows": Box(0, 0, "more was promised", WORK),
            "wider frame": Box(1, 0, "the pod's cgroup", STORED),
            "less, first": Box(2, 0, "containers that\ngive back"),
            "then more": Box(3, 0, "containers that\nget something"),
            "it shrinks": Box(0, 1, "less was promised", WORK),
            "less": Box(1, 1, "containers that\ngive back"),
            "more": Box(2, 1, "containers that\nget something"),
            "narrower frame": Box(3, 1, "the pod's cgroup", STORED),
        },
        [
            Arrow("it grows", "wider frame"),
            Arrow("wider frame", "less, first"),
            Arrow("less, first", "then more"),
            Arrow("it shrinks", "less"),
            Arrow("less", "more"),
            Arrow("more", "narrower frame"),
        ],
    )
