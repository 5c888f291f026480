"""Answers to labs/pod-sync.ipynb, and words for common mistakes. Look here last."""

from lifecycle.exercises.lab import Mistake

your_names = {
    "g": "/kubepods/podg",
    "b": "/kubepods/burstable/podb",
    "e": "/kubepods/besteffort/pode",
}
your_values = {
    "g": (102, 10000, 67108864),
    "b": (51, None, None),
    "e": (2, None, None),
    "h": (1126, None, None),
}
your_remains = {"volumes": False, "container": True, "cgroup": False}
your_entries = {
    "example.com/team/app:1": ["example.com/team", "example.com"],
    "eu.example.com/app": ["*.example.com"],
    "a.eu.example.com/app": [],
    "nginx": ["https://index.docker.io/v1/"],
    "example.com:5000/app": [],
}


def your_operation(known, pod):
    if known is None:
        return "ADD"

    def written(one):
        meta = one["metadata"]
        notes = {
            key: value
            for key, value in (meta.get("annotations") or {}).items()
            if not key.startswith("kubernetes.io/config.")
        }
        times = meta.get("deletionTimestamp"), meta.get("deletionGracePeriodSeconds")
        return one["spec"], meta.get("labels") or {}, notes, times

    if written(pod) != written(known):
        return "DELETE" if pod["metadata"].get("deletionTimestamp") else "UPDATE"
    return "RECONCILE" if pod.get("status") != known.get("status") else None


def blind_to_annotations(known, pod):
    if known is None:
        return "ADD"
    keys = ("labels", "deletionTimestamp", "deletionGracePeriodSeconds")
    meta, before = pod["metadata"], known["metadata"]
    same = all(meta.get(key) == before.get(key) for key in keys)
    if pod["spec"] != known["spec"] or not same:
        return "DELETE" if meta.get("deletionTimestamp") else "UPDATE"
    return "RECONCILE" if pod.get("status") != known.get("status") else None


def every_annotation(known, pod):
    if known is None:
        return "ADD"
    meta, before = pod["metadata"], known["metadata"]
    if pod["spec"] != known["spec"] or meta != before:
        return "DELETE" if meta.get("deletionTimestamp") else "UPDATE"
    return "RECONCILE" if pod.get("status") != known.get("status") else None


def an_update_of_what_ends(known, pod):
    if known is None:
        return "ADD"
    meta, before = dict(pod["metadata"]), dict(known["metadata"])
    ending = ("deletionTimestamp", "deletionGracePeriodSeconds")
    if any(meta.get(key) != before.get(key) for key in ending):
        return "DELETE"
    for one in (meta, before):
        notes = one.get("annotations") or {}
        one["annotations"] = {k: v for k, v in notes.items() if "config." not in k}
    if pod["spec"] != known["spec"] or meta != before:
        return "UPDATE"
    return "RECONCILE" if pod.get("status") != known.get("status") else None


MISTAKES = [
    Mistake(
        "names",
        {"g": "/kubepods/guaranteed/podg"},
        "The best class has no folder of its own: it lies right below `kubepods`.",
    ),
    Mistake(
        "names",
        {"b": "/kubepods/podb"},
        "Requests without limits make a pod burstable, and that class has a folder.",
    ),
    Mistake(
        "values",
        {"h": (1126, 10000, 67108864)},
        "One of its containers may take what it likes, and so may the pod.",
    ),
    Mistake(
        "values",
        {"e": (0, None, None)},
        "Zero would be nothing at all. The kernel's smallest value is 2.",
    ),
    Mistake(
        "remains",
        {"volumes": True},
        "Nobody will read them again, and some of them lie in memory.",
    ),
    Mistake(
        "remains",
        {"container": False},
        "Its log and its last words are still asked for.",
    ),
    Mistake(
        "entries",
        {"a.eu.example.com/app": ["*.example.com"]},
        "One star, one part: this name has two in its place.",
    ),
    Mistake(
        "entries",
        {"example.com:5000/app": ["example.com"]},
        "Another port may be somebody else: it has to be named.",
    ),
    Mistake(
        "entries",
        {"eu.example.com/app": ["*.example.com", "example.com"]},
        "A subdomain is another host. Without the star nothing fits.",
    ),
    Mistake(
        "operation",
        blind_to_annotations,
        "An annotation can be read in a container: it is news, too.",
        seen=lambda said: said["annotation"] is None,
    ),
    Mistake(
        "operation",
        every_annotation,
        "Some annotations are only the kubelet's notes: `config.seen` is no news.",
        seen=lambda said: said["only seen again"] is not None,
    ),
    Mistake(
        "operation",
        an_update_of_what_ends,
        "Once a pod is being deleted, every change belongs to its deletion.",
        seen=lambda said: said["changed while it ends"] == "UPDATE",
    ),
]
