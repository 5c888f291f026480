"""Answers to labs/volumes.ipynb, and words for common mistakes. Look here last."""

from lifecycle.exercises.lab import Mistake

your_disk = {
    "nginx.conf": "link",
    "motd": "link",
    "..data": "link",
    "..data_tmp": "nothing",
    "directories": 1,
}
your_allowed = {
    "nginx.conf": True,
    ".htpasswd": True,
    "..data": False,
    "conf.d/site.conf": True,
    "conf.d/../../etc/passwd": False,
    "/etc/passwd": False,
    "what..ever": True,
}
your_phases = {
    "there is no such secret": "Pending",
    "there is none, and it is optional": "Running",
    "it comes later": "Running",
    "it is deleted": "Running",
}


def your_files(source, data):
    optional = source.get("optional", False)
    if data is None and not optional:
        return "waits"
    data = data or {}
    items = source.get("items") or [{"key": key, "path": key} for key in data]
    missing = [item for item in items if item["key"] not in data]
    if missing and not optional:
        return "waits"
    return {item["path"]: data[item["key"]] for item in items if item["key"] in data}


def a_missing_key_is_left_out(source, data):
    if data is None and not source.get("optional"):
        return "waits"
    data = data or {}
    items = source.get("items") or [{"key": key, "path": key} for key in data]
    return {item["path"]: data[item["key"]] for item in items if item["key"] in data}


def no_items_no_files(source, data):
    optional = source.get("optional", False)
    if data is None and not optional:
        return "waits"
    data = data or {}
    items = source.get("items", [{"key": key, "path": key} for key in data])
    if any(item["key"] not in data for item in items) and not optional:
        return "waits"
    return {item["path"]: data[item["key"]] for item in items if item["key"] in data}


def named_by_their_keys(source, data):
    optional = source.get("optional", False)
    if data is None and not optional:
        return "waits"
    data = data or {}
    items = source.get("items") or [{"key": key} for key in data]
    if any(item["key"] not in data for item in items) and not optional:
        return "waits"
    return {item["key"]: data[item["key"]] for item in items if item["key"] in data}


MISTAKES = [
    Mistake(
        "disk",
        {"nginx.conf": "file", "motd": "file"},
        "A file can be replaced at once, two cannot. So names are links, too.",
    ),
    Mistake(
        "disk",
        {"directories": 3},
        "Nobody can read the old versions any more, and they are removed.",
    ),
    Mistake(
        "disk",
        {"..data_tmp": "link"},
        "It was renamed to `..data`: that was the one step.",
    ),
    Mistake(
        "allowed",
        {"what..ever": False},
        "Two dots inside a name lead nowhere. At its beginning, or as a part, they do.",
    ),
    Mistake(
        "allowed",
        {".htpasswd": False},
        "One dot is fine. Two at the beginning are the writer's own.",
    ),
    Mistake(
        "allowed",
        {"conf.d/site.conf": False},
        "A directory of the volume's own is allowed.",
    ),
    Mistake(
        "phases",
        {"there is no such secret": "Failed"},
        "Nothing has failed for good: the kubelet tries again, without end.",
    ),
    Mistake(
        "phases",
        {"it is deleted": "Failed"},
        "The files stay as they are, and the kubelet complains in an event.",
    ),
    Mistake(
        "phases",
        {"there is none, and it is optional": "Pending"},
        "A pod that says *optional* starts without it.",
    ),
    Mistake(
        "files",
        a_missing_key_is_left_out,
        "A key that was asked for by name and is missing holds the pod back.",
        seen=lambda said: said["a map, a missing key"] != "waits",
    ),
    Mistake(
        "files",
        no_items_no_files,
        "An empty list is the same as none: all keys become files.",
        seen=lambda said: said["a map, no items"] == {},
    ),
    Mistake(
        "files",
        named_by_their_keys,
        "With `items` a file lies where its `path` says.",
        seen=lambda said: "conf.d/site.conf" not in said["a map, elsewhere"],
    ),
]
