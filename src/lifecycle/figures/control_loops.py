"""The ideas of the control loops, drawn: what no run can show, because it is a plan."""

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


def draw_scheduling_queue() -> Picture:
    """The three places where a pod without a node can be, and what moves it."""
    return draw_boxes(
        {
            "a new pod": Box(0, 0, "no nodeName", SERVER),
            "active": Box(1, 0, "by priority,\nthen by age", STORED),
            "an attempt": Box(2, 0, "filter, score", PROGRAM),
            "gated": Box(0, 1.25, "until the last\ngate is gone", WORK),
            "back-off": Box(1, 1.25, "1 s, 2 s, 4 s …\nat most 10 s", WORK),
            "unschedulable": Box(2, 1.25, "until something\ncould help", TROUBLE),
        },
        [
            Arrow("a new pod", "active"),
            Arrow("active", "an attempt", "pop"),
            Arrow("a new pod", "gated", "has gates"),
            Arrow("an attempt", "unschedulable", "refused"),
            Arrow("an attempt", "back-off", "error", at=0.42),
            Arrow("unschedulable", "back-off", "event"),
            Arrow("back-off", "active", "time is up"),
            Arrow("gated", "active", dashed=True),
        ],
        box=(1.6, 0.78),
    )


def draw_claim() -> Picture:
    """What a controller does with a pod: four cases from two questions."""
    return draw_boxes(
        {
            "a pod": Box(0, 1.2, "whose is it?", SERVER),
            "mine": Box(1, 0.35, "the reference\nhas my uid", STORED),
            "nobody's": Box(1, 1.5, "no controller", PROGRAM),
            "another's": Box(1, 2.25, "another uid", WORK),
            "count it": Box(2, 0, "", STORED),
            "release it": Box(2, 0.75, "", TROUBLE),
            "adopt it": Box(2, 1.5, "", STORED),
            "leave it alone": Box(2, 2.25, "", SERVER),
        },
        [
            Arrow("a pod", "mine"),
            Arrow("a pod", "nobody's"),
            Arrow("a pod", "another's"),
            Arrow("mine", "count it", "labels fit"),
            Arrow("mine", "release it", "no fit"),
            Arrow("nobody's", "adopt it", "labels fit"),
            Arrow("another's", "leave it alone"),
        ],
        column=2.45,
        row=0.95,
        box=(1.5, 0.58),
    )


def draw_scheduling_cycle() -> Picture:
    """Two cycles: one decides, pod after pod; the other binds, beside it."""
    return draw_boxes(
        {
            "queue": Box(0, 0, "one pod", WORK),
            "filter": Box(1, 0, "where may it run?"),
            "score": Box(2, 0, "how good is that?"),
            "post filter": Box(1, 1, "nowhere: could\nothers make room?", TROUBLE),
            "assume": Box(2, 1, "count it there\nfrom now on", STORED),
            "bind": Box(2, 2, "ask the server,\nbeside the next pod", SERVER),
            "wait": Box(0, 1, "for an event\nthat could help", WORK),
        },
        [
            Arrow("queue", "filter"),
            Arrow("filter", "score", "some"),
            Arrow("filter", "post filter", "none"),
            Arrow("score", "assume", "the best"),
            Arrow("assume", "bind"),
            Arrow("post filter", "wait"),
            Arrow("wait", "queue"),
            Arrow("bind", "wait", "refused: forget", bend=-0.12, at=0.45),
        ],
        box=(1.75, 0.72),
    )


def draw_binding() -> Picture:
    """Three copies of one pod: what each knows, and when."""
    return draw_boxes(
        {
            "scheduler": Box(0, 0, "assumed: it counts\non its node already"),
            "API server": Box(1, 0, "has it a node?\nno: one write", SERVER),
            "etcd": Box(2, 0, "spec.nodeName", STORED),
            "next pod": Box(0, 1, "is being decided", WORK),
            "kubelet": Box(2, 1, "watches for pods\nwith its own name"),
        },
        [
            Arrow("scheduler", "API server", "Binding", bend=-0.15),
            Arrow("API server", "scheduler", "201, or no", bend=-0.15, dashed=True),
            Arrow("API server", "etcd", "update"),
            Arrow("scheduler", "next pod", "does not wait"),
            Arrow("etcd", "kubelet", "watch"),
        ],
        column=2.4,
        box=(1.6, 0.72),
    )
