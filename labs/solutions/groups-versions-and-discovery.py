"""Answers to labs/groups-versions-and-discovery.ipynb, and words for mistakes."""

from lifecycle.exercises.lab import Mistake

your_versions = {
    "ev": "v1",
    "hpa": "autoscaling/v2",
    "netpol": "networking.k8s.io/v1",
    "cj": "batch/v1",
    "psp": None,
}
your_differences = {"hpa", "cj", "psp"}
your_requests = {"kind-1.36.2": 2, "bare-1.20.2": 39}
your_cache = {
    "untouched": "believes",
    "cut": "asks",
    "old": "asks",
    "wrong kind": "asks",
}
your_folders = {
    "https://127.0.0.1:6443": "127.0.0.1_6443",
    "https://kube.example.com": "kube.example.com",
    "https://rancher.example.com/k8s/clusters/c-1": (
        "rancher.example.com/k8s/clusters/c_1"
    ),
}


def your_rows(resource):
    has_kind = (resource.get("responseKind") or {}).get("kind")
    own = [resource["resource"]] if has_kind else []
    return own + [
        f"{resource['resource']}/{sub['subresource']}"
        for sub in resource.get("subresources", ())
    ]


def no_subresources(resource):
    return [resource["resource"]]


def a_row_without_a_kind(resource):
    return [resource["resource"]] + [
        f"{resource['resource']}/{sub['subresource']}"
        for sub in resource.get("subresources", ())
    ]


MISTAKES = [
    Mistake(
        "versions",
        {"ev": "events.k8s.io/v1"},
        "Two groups have events. Where both fit, the group without a name comes first.",
    ),
    Mistake(
        "versions",
        {"hpa": "autoscaling/v1"},
        "`v1` is served, but the group prefers a newer one.",
    ),
    Mistake(
        "versions",
        {"psp": "policy/v1beta1"},
        "That was so until 1.24.",
    ),
    Mistake(
        "differences",
        {"hpa", "cj"},
        "There is also the word that leads nowhere today.",
    ),
    Mistake(
        "differences",
        {"hpa", "cj", "psp", "netpol"},
        "`netpol` was stable long before 1.20.",
    ),
    Mistake(
        "requests",
        {"kind-1.36.2": 22},
        "1.36 knows the aggregated form: all groups and versions in one answer.",
    ),
    Mistake(
        "requests",
        {"bare-1.20.2": 2},
        "1.20 does not know the aggregated form: each version has to be asked for.",
    ),
    Mistake(
        "cache",
        {"cut": "complains"},
        "Whatever is wrong with a cache, the server knows better.",
    ),
    Mistake(
        "cache",
        {"old": "believes"},
        "After six hours nothing is believed any more.",
    ),
    Mistake(
        "folders",
        {"https://127.0.0.1:6443": "127.0.0.1:6443"},
        "Not every file system takes a colon in a name.",
    ),
    Mistake(
        "folders",
        {
            "https://rancher.example.com/k8s/clusters/c-1": (
                "rancher.example.com/k8s/clusters/c-1"
            )
        },
        "A dash is neither a letter nor a digit, nor a dot, nor a slash.",
    ),
    Mistake(
        "rows",
        no_subresources,
        "In the old form `pods/log` is a row, too.",
        seen=lambda rows: "pods/log" not in rows["v1"],
    ),
    Mistake(
        "rows",
        a_row_without_a_kind,
        "There is a row for something that has no kind of its own, only subresources.",
        seen=lambda rows: "pods/log" in rows["v1"],
    ),
]
