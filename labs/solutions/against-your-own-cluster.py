"""Answers to labs/against-your-own-cluster.ipynb, and words for mistakes."""

import os

from lifecycle.exercises.lab import Mistake

your_kind_of_cluster = (
    "recorded"
    if os.environ.get("LIFECYCLE_CLUSTER") in (None, "", "recorded")
    else "live"
)
your_unasked = "an error"
your_noticed = {
    "another_value": True,
    "another_uid_in_one_place": True,
    "later_by_a_day": False,
    "another_status_code": True,
    "a_missing_answer": True,
}


def your_tampering(lines):
    lines[0]["response"]["data"]["k"] = "tampered"


def nothing_at_all(lines):
    lines[0]["response"]["data"] = dict(lines[0]["response"]["data"])


def another_answer(lines):
    lines[1]["status"] = 422


your_codes = {"kind-1.36.2": 201, "bare-1.20.2": 404}

MISTAKES = [
    Mistake(
        "kind_of_cluster",
        "live" if your_kind_of_cluster == "recorded" else "recorded",
        "`LIFECYCLE_CLUSTER` decides. Without it, nobody is asked but a file.",
        seen=lambda kind: kind in ("live", "recorded"),
    ),
    Mistake(
        "unasked",
        "an empty list",
        "That would be an answer, and the cluster never gave one.",
    ),
    Mistake(
        "unasked",
        "a 404",
        "The cluster did not say that: it was not asked.",
    ),
    Mistake(
        "noticed",
        {"later_by_a_day": True},
        "A day may pass, if it passes for all.",
    ),
    Mistake(
        "noticed",
        {"another_uid_in_one_place": False},
        "A uid may be any uid, but the same object has to keep it.",
    ),
    Mistake(
        "tampering",
        nothing_at_all,
        "Nothing was reported: is anything different?",
        seen=lambda report: report["places"] == 0,
    ),
    Mistake(
        "tampering",
        another_answer,
        "That is a status code. Change something in a response.",
        seen=lambda report: report["status code"],
    ),
    Mistake(
        "codes",
        {"bare-1.20.2": 403},
        "An administrator asks, who may do anything; but there is no such path yet.",
    ),
]
