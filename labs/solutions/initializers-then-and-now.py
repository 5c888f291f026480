"""Answers to labs/initializers-then-and-now.ipynb, and words for mistakes."""

from lifecycle.exercises.lab import Mistake

your_view = {
    "list": 0,
    "list, include uninitialized": 1,
    "create the same name again": 409,
}


def your_initializer(obj):
    meta = obj["metadata"]
    labels = {"team": "lifecycle", **(meta.get("labels") or {})}
    obj["metadata"] = {**meta, "labels": labels}


def only_where_there_is_no_label(obj):
    meta = obj["metadata"]
    obj["metadata"] = {**meta, "labels": meta.get("labels") or {"team": "lifecycle"}}


def the_team_of_all(obj):
    meta = obj["metadata"]
    labels = {**(meta.get("labels") or {}), "team": "lifecycle"}
    obj["metadata"] = {**meta, "labels": labels}


your_writes = {"then": 2, "now": 1}
your_stored = {
    "Object{metadata: }": False,
    "Object{metadata: Object.metadata{name: nobody.name}}": False,
    "Object{metadata: Object.metadata{name: object.metadata.name}}": True,
    "'just text'": False,
}
your_expression = (
    "Object{metadata: Object.metadata{annotations: {'created-by':"
    " request.userInfo.username}}}"
)
A_LABEL = your_expression.replace("annotations", "labels")

MISTAKES = [
    Mistake(
        "view",
        {"create the same name again": 201},
        "The name is taken, by what nobody can see.",
    ),
    Mistake(
        "view",
        {"list": 1},
        "A list shows uninitialized objects only to those who ask for them.",
    ),
    Mistake(
        "initializer",
        the_team_of_all,
        "A team that is there already has to stay.",
        seen=lambda labels: labels["with a team"] == {"team": "lifecycle"},
    ),
    Mistake(
        "initializer",
        only_where_there_is_no_label,
        "Other labels are no team: look for this one.",
        seen=lambda labels: labels["with a tier"] == {"tier": "web"},
    ),
    Mistake(
        "writes",
        {"then": 1},
        "It is stored before its initializers are asked, and again after each.",
    ),
    Mistake(
        "writes",
        {"now": 2},
        "Admission comes before storage: nothing has been written yet.",
    ),
    Mistake(
        "stored",
        {"Object{metadata: Object.metadata{name: nobody.name}}": True},
        "`nobody` is no variable that an expression is given.",
    ),
    Mistake(
        "stored",
        {"'just text'": True},
        "It compiles, but its type is not the one that is needed.",
    ),
    Mistake(
        "expression",
        A_LABEL,
        "Nothing is among the annotations. Did it become a label?",
        seen=lambda made: not made["annotations"],
    ),
]
