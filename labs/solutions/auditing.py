"""Answers to labs/auditing.ipynb, and words for common mistakes. Look here last."""

from lifecycle.exercises.lab import Mistake

your_levels = {
    ("create", "apps/deployments", "shop"): "RequestResponse",
    ("get", "apps/deployments", "shop"): "None",
    ("patch", "apps/deployments/scale", "shop"): "Request",
    ("patch", "apps/deployments/scale", "bank"): "None",
    ("list", "secrets", "shop"): "Metadata",
    ("delete", "pods", "bank"): "None",
}
your_rules = [
    {
        "level": "None",
        "userGroups": ["system:nodes"],
        "verbs": ["get", "list", "watch"],
    },
    {
        "level": "Metadata",
        "resources": [{"group": "", "resources": ["secrets", "serviceaccounts/token"]}],
    },
    {
        "level": "RequestResponse",
        "verbs": ["create", "update", "patch", "delete"],
        "resources": [
            {"group": "apps", "resources": ["deployments", "deployments/scale"]},
        ],
    },
    {"level": "Metadata"},
]
no_scaling = [
    *your_rules[:2],
    {**your_rules[2], "resources": [{"group": "apps", "resources": ["deployments"]}]},
    your_rules[3],
]
tokens_too = [
    your_rules[0],
    {"level": "Metadata", "resources": [{"group": "", "resources": ["secrets"]}]},
    {
        **your_rules[2],
        "resources": [
            *your_rules[2]["resources"],
            {"group": "", "resources": ["serviceaccounts/token"]},
        ],
    },
    your_rules[3],
]
your_entries = {
    "create": 2,
    "get": 2,
    "refused": 2,
    "watch": 3,
    "create, without RequestReceived": 1,
}
your_known = {
    "user": True,
    "userAgent": True,
    "sourceIPs": True,
    "the name of the Deployment": False,
    "the namespace": True,
    "the decision of authorization": False,
}


def your_suspects(events, name):
    return [
        (
            event["user"]["username"],
            event["verb"],
            event["objectRef"].get("subresource", ""),
        )
        for event in events
        if event["stage"] == "ResponseComplete"
        and event["responseStatus"]["code"] < 300
        and event["verb"] not in ("get", "list", "watch")
        and event["objectRef"]["resource"] == "deployments"
        and event["objectRef"].get("name") == name
        and event["objectRef"].get("subresource") != "status"
    ]


def with_the_refused(events, name):
    return [
        (
            event["user"]["username"],
            event["verb"],
            event["objectRef"].get("subresource", ""),
        )
        for event in events
        if event["stage"] == "ResponseComplete"
        and event["verb"] not in ("get", "list", "watch")
        and event["objectRef"]["resource"] == "deployments"
        and event["objectRef"].get("name") == name
        and event["objectRef"].get("subresource") != "status"
    ]


def without_subresources(events, name):
    return [
        (event["user"]["username"], event["verb"], "")
        for event in events
        if event["stage"] == "ResponseComplete"
        and event["responseStatus"]["code"] < 300
        and event["verb"] not in ("get", "list", "watch")
        and event["objectRef"]["resource"] == "deployments"
        and event["objectRef"].get("name") == name
        and not event["objectRef"].get("subresource")
    ]


def everything_that_was_complete(events, name):
    return [
        (
            event["user"]["username"],
            event["verb"],
            event["objectRef"].get("subresource", ""),
        )
        for event in events
        if event["stage"] == "ResponseComplete"
        and event["objectRef"]["resource"] == "deployments"
        and event["objectRef"].get("name") == name
    ]


MISTAKES = [
    Mistake(
        "levels",
        {("patch", "apps/deployments/scale", "shop"): "RequestResponse"},
        "`deployments` does not mean `deployments/scale`.",
    ),
    Mistake(
        "levels",
        {("list", "secrets", "shop"): "None"},
        "The rule about Secrets stands before the one about reading.",
    ),
    Mistake(
        "levels",
        {("delete", "pods", "bank"): "Metadata"},
        "No rule fits, so nothing is kept.",
    ),
    Mistake(
        "rules",
        [{"level": "Metadata"}, *your_rules],
        "The first rule fits everything: nobody ever reads the others.",
        seen=lambda came: set(came.values()) == {"Metadata"},
    ),
    Mistake(
        "rules",
        tokens_too,
        "At that level the answer is kept, and the answer is a token.",
        seen=lambda came: came["ann asks for a token"] == "RequestResponse",
    ),
    Mistake(
        "rules",
        no_scaling,
        "Scaling goes to `deployments/scale`.",
        seen=lambda came: came["ann scales"] == "Metadata",
    ),
    Mistake(
        "entries",
        {"refused": 0},
        "The log stands before authorization: it sees who is sent away.",
    ),
    Mistake(
        "entries",
        {"refused": 1},
        "A refusal is an answer like any other, and is noted when it is complete.",
    ),
    Mistake(
        "entries",
        {"watch": 2},
        "A watch may last for hours: there is an entry when its answer begins.",
    ),
    Mistake(
        "known",
        {"the name of the Deployment": True},
        "The name stands in the body: the path only ends in `deployments`.",
    ),
    Mistake(
        "known",
        {"the decision of authorization": True},
        "The first entry is written before anybody has been asked.",
    ),
    Mistake(
        "known",
        {"the namespace": False},
        "The namespace is a part of the path.",
    ),
    Mistake(
        "suspects",
        everything_that_was_complete,
        "A request that reads, or only reports a status, has changed nothing.",
        seen=lambda came: came["how many"] > 40,
    ),
    Mistake(
        "suspects",
        with_the_refused,
        "Mallory tried, and was refused.",
        seen=lambda came: "mallory" in came["the people"],
    ),
    Mistake(
        "suspects",
        without_subresources,
        "Scaling changes what is asked for, although it is a subresource.",
        seen=lambda came: came["how many"] == 4,
    ),
]
