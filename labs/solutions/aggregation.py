"""Answers to labs/aggregation.ipynb, and words for common mistakes. Look here last."""

from lifecycle.exercises.lab import Mistake

your_servers = {
    ("POST", "/apis/apps/v1/namespaces/shop/deployments"): "kube-apiserver",
    ("GET", "/apis/metrics.k8s.io/v1beta1/pods"): "added server",
    ("GET", "/apis/metrics.k8s.io/v1beta1"): "added server",
    ("GET", "/apis/metrics.k8s.io/v1/pods"): "kube-apiserver",
    ("GET", "/api/v1/pods"): "kube-apiserver",
    ("DELETE", "/apis/lookup.lifecycle.book/v1/terms/pause"): "added server",
}
your_belief = {
    "the front proxy's certificate": "jane",
    "no certificate": "nobody",
    "a user's certificate of the cluster": "refused",
    "another program's, of the front proxy's authority": "refused",
    "the front proxy's certificate, and no header": "nobody",
}


def your_headers(headers, user):
    connection = (
        "accept-encoding",
        "connection",
        "content-length",
        "host",
        "keep-alive",
        "proxy-authenticate",
        "proxy-authorization",
        "te",
        "trailer",
        "transfer-encoding",
        "upgrade",
    )
    kept = [
        (name, value)
        for name, value in headers.items()
        if name not in connection and not name.startswith("x-remote-")
    ]
    uid = [("X-Remote-Uid", user.uid)] if user.uid else []
    groups = [("X-Remote-Group", group) for group in user.groups]
    return [*kept, ("X-Remote-User", user.name), *uid, *groups]


def with_a_hole(headers, user):
    kept = [(name, value) for name, value in headers.items() if name != "host"]
    return [*kept, ("X-Remote-User", user.name)]


def the_name_alone(headers, user):
    kept = [
        (name, value)
        for name, value in headers.items()
        if name not in ("host", "connection", "te") and "x-remote-" not in name
    ]
    return [*kept, ("X-Remote-User", user.name)]


def the_connection_too(headers, user):
    kept = [
        (name, value)
        for name, value in headers.items()
        if name != "host" and "x-remote-" not in name
    ]
    groups = [("X-Remote-Group", group) for group in user.groups]
    told = [("X-Remote-User", user.name), ("X-Remote-Uid", user.uid)]
    return [*kept, *told, *groups]


your_reasons = {
    "there is no such Service": "ServiceNotFound",
    "the Service listens on 8443": "ServicePortError",
    "no pod is selected": "EndpointsNotFound",
    "the only pod is not ready": "MissingEndpoints",
    "the Service is an ExternalName": "Passed",
    "one of two pods is ready": "Passed",
}


def your_order(services):
    highest, versions = {}, {}
    for each in services:
        spec = each["spec"]
        group, priority = spec["group"], spec["groupPriorityMinimum"]
        highest[group] = max(priority, highest.get(group, 0))
        versions.setdefault(group, []).append(spec)
    return [
        [
            group,
            [
                spec["version"]
                for spec in sorted(
                    versions[group],
                    key=lambda one: (
                        one["versionPriority"],
                        version_rank(one["version"]),
                    ),
                    reverse=True,
                )
            ],
        ]
        for group in sorted(highest, key=lambda one: -highest[one])
    ]


def versions_by_the_alphabet(services):
    order = {}
    for each in sorted(
        services, key=lambda each: -each["spec"]["groupPriorityMinimum"]
    ):
        order.setdefault(each["spec"]["group"], []).append(each["spec"]["version"])
    return [[group, sorted(versions)] for group, versions in order.items()]


def as_they_come(services):
    order = {}
    for each in services:
        order.setdefault(each["spec"]["group"], []).append(each["spec"]["version"])
    return [[group, versions] for group, versions in order.items()]


MISTAKES = [
    Mistake(
        "servers",
        {("GET", "/apis/metrics.k8s.io/v1/pods"): "added server"},
        "The row names a version, and this is another one.",
    ),
    Mistake(
        "servers",
        {("GET", "/apis/metrics.k8s.io/v1beta1"): "kube-apiserver"},
        "Only the added server knows what is in that group.",
    ),
    Mistake(
        "belief",
        {"a user's certificate of the cluster": "jane"},
        "Then every user with a certificate could be Jane.",
    ),
    Mistake(
        "belief",
        {"no certificate": "jane"},
        "Anybody can write a header.",
    ),
    Mistake(
        "belief",
        {"another program's, of the front proxy's authority": "jane"},
        "The config map names who may speak for others.",
    ),
    Mistake(
        "belief",
        {"the front proxy's certificate, and no header": "front-proxy-client"},
        "The front proxy is no user: its certificate only makes the headers count.",
    ),
    Mistake(
        "headers",
        with_a_hole,
        "Whoever sends `x-remote-user: root` is root over there.",
        seen=lambda came: ("x-remote-user", "root") in came["forged"],
    ),
    Mistake(
        "headers",
        the_name_alone,
        "What may Ann do? Roles are given to groups, too.",
        seen=lambda came: ("X-Remote-Group", "shop") not in came["honest"],
    ),
    Mistake(
        "headers",
        the_connection_too,
        "`connection` and its like belong to one connection, and this is another one.",
        seen=lambda came: any(name == "te" for name, _ in came["a connection's own"]),
    ),
    Mistake(
        "reasons",
        {"the only pod is not ready": "EndpointsNotFound"},
        "There is a slice. What is missing is an address in it that may be used.",
    ),
    Mistake(
        "reasons",
        {"the Service is an ExternalName": "EndpointsNotFound"},
        "Such a Service has no endpoints, and needs none.",
    ),
    Mistake(
        "reasons",
        {"one of two pods is ready": "MissingEndpoints"},
        "One is enough.",
    ),
    Mistake(
        "order",
        as_they_come,
        "Look at the numbers: who has the highest `groupPriorityMinimum`?",
        seen=lambda came: came["today"][0][0] == "metrics.k8s.io",
    ),
    Mistake(
        "order",
        versions_by_the_alphabet,
        "Versions have a number of their own, and `v10beta2` is no `v1`.",
        seen=lambda came: came["versions"][0][1][0] == "v1",
    ),
]
