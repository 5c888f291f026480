"""Answers to labs/the-handler-chain.ipynb, and words for mistakes."""

from lifecycle.exercises.lab import Mistake

your_verbs = {
    ("GET", "/api/v1/nodes", ""): "list",
    ("GET", "/api/v1/nodes", "watch=1"): "watch",
    ("DELETE", "/api/v1/namespaces/shop/pods", ""): "deletecollection",
    ("HEAD", "/api/v1/nodes/n1", ""): "get",
    ("GET", "/metrics", ""): "get",
}


def your_closing_time(handler, is_closed):
    async def closing_time(request):
        if is_closed() and request.info.verb not in ("get", "list", "watch"):
            return refuse(CLOSED)
        return await handler(request)

    return closing_time


def only_one_delete(handler, is_closed):
    async def closing_time(request):
        writes = ("create", "update", "patch", "delete")
        if is_closed() and request.info.verb in writes:
            return refuse(CLOSED)
        return await handler(request)

    return closing_time


def no_patch(handler, is_closed):
    async def closing_time(request):
        if is_closed() and request.info.verb in ("create", "update"):
            return refuse(CLOSED)
        return await handler(request)

    return closing_time


def watches_are_refused(handler, is_closed):
    async def closing_time(request):
        if is_closed() and request.info.verb not in ("get", "list"):
            return refuse(CLOSED)
        return await handler(request)

    return closing_time


your_lines = {"inside": 2, "outside": 0}
your_refused = {
    "2 queues of 3": 10,
    "1 queue of 20": 0,
    "1 queue of 20, 2.5 s of patience": 8,
}
your_join_verbs = ["get", "list", "watch"]


def your_chain(handler, config):
    handler = with_metrics(handler, config.metrics)
    handler = with_authorization(handler, config.authorizer)
    handler = with_audit(handler, config.audit)
    handler = with_authentication(handler, config.authenticator)
    handler = with_request_info(handler, config.request_info)
    return with_audit_init(handler, config.names)


def logs_before_it_knows_who(handler, config):
    handler = with_metrics(handler, config.metrics)
    handler = with_authorization(handler, config.authorizer)
    handler = with_authentication(handler, config.authenticator)
    handler = with_audit(handler, config.audit)
    handler = with_request_info(handler, config.request_info)
    return with_audit_init(handler, config.names)


def decides_before_it_logs(handler, config):
    handler = with_metrics(handler, config.metrics)
    handler = with_audit(handler, config.audit)
    handler = with_authorization(handler, config.authorizer)
    handler = with_authentication(handler, config.authenticator)
    handler = with_request_info(handler, config.request_info)
    return with_audit_init(handler, config.names)


MISTAKES = [
    Mistake(
        "verbs",
        {("GET", "/api/v1/nodes", "watch=1"): "list"},
        "A watch has a verb of its own.",
    ),
    Mistake(
        "verbs",
        {("DELETE", "/api/v1/namespaces/shop/pods", ""): "delete"},
        "There is no name in that path: how many does it delete?",
    ),
    Mistake(
        "verbs",
        {("HEAD", "/api/v1/nodes/n1", ""): "head"},
        "HEAD reads. To authorization it is the same as GET.",
    ),
    Mistake(
        "closing_time",
        no_patch,
        "`patch` changes things as well, and so do the two deletes.",
        seen=lambda codes: codes["patch while closed"] == 200,
    ),
    Mistake(
        "closing_time",
        only_one_delete,
        "There are two verbs that delete.",
        seen=lambda codes: codes["deletecollection while closed"] == 200,
    ),
    Mistake(
        "closing_time",
        watches_are_refused,
        "A watch only reads.",
        seen=lambda codes: codes["watch while closed"] == 503,
    ),
    Mistake(
        "lines",
        {"outside": 2},
        "Outside of the log, a request that is refused never reaches it.",
    ),
    Mistake(
        "lines",
        {"inside": 1},
        "There is a line for the arrival, too.",
    ),
    Mistake(
        "refused",
        {"2 queues of 3": 16},
        "Four sit, and others wait: there are six places.",
    ),
    Mistake(
        "refused",
        {"1 queue of 20, 2.5 s of patience": 0},
        "Four more sit down each second, and after two and a half the rest give up.",
    ),
    Mistake(
        "join_verbs",
        ["*"],
        "A star allows deleting, too.",
        seen=lambda codes: codes["delete"] == 200,
    ),
    Mistake(
        "join_verbs",
        ["list"],
        "`list` gives her a moment. Following has a verb of its own.",
        seen=lambda codes: codes["watch"] == 403,
    ),
    Mistake(
        "chain",
        logs_before_it_knows_who,
        "Look at the users in the log: who has to be asked before it is written?",
        seen=lambda left: left["differences"] > 5000,
    ),
    Mistake(
        "chain",
        decides_before_it_logs,
        "Authorization gives its reasons, and there is no entry yet to write them on.",
        seen=lambda left: 0 < left["differences"] <= 5000,
    ),
]
