"""Answers to labs/authorization.ipynb, and words for mistakes."""

from dataclasses import replace

from lifecycle.exercises.lab import Mistake

your_rights = {
    ("create", "", "pods", "binding"): True,
    ("get", "", "pods", ""): True,
    ("delete", "", "pods", ""): True,
    ("get", "", "secrets", ""): False,
    ("watch", "", "nodes", ""): True,
    ("update", "apps", "deployments", ""): False,
}
your_rules = [{"apiGroups": [""], "resources": ["pods/log"], "verbs": ["get"]}]
your_climb = {"everything": 403, "what she has": 201}


class your_authorizer:
    def __init__(self, authorizer):
        self.authorizer = authorizer

    def authorize(self, user, info):
        return self.authorizer.authorize(user, info)


class OnlyLogs:
    def __init__(self, authorizer):
        self.authorizer = authorizer

    def authorize(self, user, info):
        asked = info.subresource if info.subresource == "log" else ""
        return self.authorizer.authorize(user, replace(info, subresource=asked))


MISTAKES = [
    Mistake(
        "rights",
        {("delete", "", "pods", ""): False},
        "It preempts: the scheduler itself deletes the pods that have to make room.",
    ),
    Mistake(
        "rights",
        {("get", "", "secrets", ""): True},
        "What would it need secrets for? It only decides about places.",
    ),
    Mistake(
        "rules",
        {0: {"apiGroups": [""], "resources": ["pods"], "verbs": ["get"]}},
        "A rule for `pods` says nothing of `pods/log`.",
        seen=lambda may: may["get", "pods", ""] and not may["get", "pods", "log"],
    ),
    Mistake(
        "rules",
        {0: {"apiGroups": [""], "resources": ["pods/*"], "verbs": ["get"]}},
        "There is no such star: RBAC knows `*` and `*/log`, but not `pods/*`.",
        seen=lambda may: not any(may.values()),
    ),
    Mistake(
        "rules",
        {0: {"apiGroups": [""], "resources": ["pods/log"], "verbs": ["*"]}},
        "She is to read the logs, no more: one verb is enough.",
        seen=lambda may: may["delete", "pods", "log"],
    ),
    Mistake(
        "climb",
        {"everything": 201},
        "If you could grant what you do not have, you would soon have everything.",
    ),
    Mistake(
        "climb",
        {"what she has": 403},
        "She may give away what she holds herself.",
    ),
    Mistake(
        "authorizer",
        OnlyLogs,
        "`log` is not the only subresource: pass the question on as it is.",
        seen=lambda left: left["wrong decisions"] > 0,
    ),
]
