"""A pod with one volume of each kind, listed from inside: what `ls -laR` printed in the
recorded container, and what lies in our directories.

Kind, mode, size or target of every entry; an entry that only one side has is a
difference.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import NamedTuple

from lifecycle.agreements.kubelet.played_nodes import NAMESPACE, PlayedNode
from lifecycle.agreements.kubelet.recorded_disk import masked_path
from lifecycle.api.http.wire import Object
from lifecycle.compare import Comparison
from lifecycle.inspector import Recording

LISTING = "ls -laR "
KINDS = {"l": "link", "d": "directory", "-": "file"}
PLUGINS = {
    "configMap": "configmap",
    "secret": "secret",
    "emptyDir": "empty-dir",
    "downwardAPI": "downward-api",
    "projected": "projected",
}
"""A volume's source → the kubelet's plugin for it, which names the directory."""


class Entry(NamedTuple):
    """What one line of a listing says."""

    kind: str
    mode: str
    size: int
    target: str


def compare_volume_listing(
    recording: Recording, nodes: Mapping[str, PlayedNode]
) -> Comparison:
    """Every entry of every volume that the listing pod mounts in the directory it
    lists.
    """
    result = Comparison()
    for exchange in recording.exchanges("kubelet"):
        path, _, rest = exchange.path.partition("?")[0].rpartition("/")
        name = path.rpartition("/")[2]
        if rest != "log" or not isinstance(exchange.response, str):
            continue
        pod = _posted(recording, name)
        root = _listed_directory(pod)
        if not root:
            continue
        listed = listed_directories(exchange.response, root)
        theirs = recorded_entries(exchange.response, root, result.freedoms)
        node = next((node for node in nodes.values() if name in node.pods), None)
        all_ours = our_entries(node, name, pod, root) if node else {}
        ours = {k: v for k, v in all_ours.items() if k.rpartition("/")[0] in listed}
        for place in sorted({*ours, *theirs}):
            result.field(f"{name}/{place}", ours.get(place), theirs.get(place))
    return result


def _posted(recording: Recording, name: str) -> Object:
    return next(
        exchange.body
        for exchange in recording.exchanges("kubelet")
        if exchange.method == "POST"
        and exchange.path.endswith(f"/namespaces/{NAMESPACE}/pods")
        and exchange.body["metadata"]["name"] == name
    )


def _listed_directory(pod: Object) -> str:
    """What the pod's first container lists, if it does."""
    for word in pod["spec"]["containers"][0].get("command") or ():
        if LISTING in word:
            return str(word.partition(LISTING)[2].partition(";")[0].strip())
    return ""


def listed_directories(listing: str, root: str) -> set[str]:
    """The directories that the listing has whole: of a long log, only the tail was
    asked for.
    """
    return {
        masked_path(line.rstrip(":").removeprefix(root).strip("/"), Counter())
        for line in listing.splitlines()
        if line.startswith(root)
    }


def recorded_entries(
    listing: str, root: str, freedoms: Counter[str]
) -> dict[str, Entry]:
    """The entries by path below `root`. Sizes of directories are the file system's
    affair, and no bits of a link count.
    """
    entries, directory = {}, ""
    for line in listing.splitlines():
        words = line.split()
        if line.startswith(root):
            directory = line.rstrip(":").removeprefix(root).strip("/")
        elif len(words) > 8 and words[8] not in (".", "..") and directory:
            place = masked_path(f"{directory}/{words[8]}", freedoms)
            kind = KINDS[words[0][0]]
            entries[place] = Entry(
                kind,
                "" if kind == "link" else words[0][1:],
                int(words[4]) if kind == "file" else 0,
                masked_path(words[10], Counter()) if kind == "link" else "",
            )
    return entries


def our_entries(
    node: PlayedNode, name: str, pod: Object, root: str
) -> dict[str, Entry]:
    """The same of our directories, as they are mounted in the container."""
    plugins = {
        volume["name"]: PLUGINS[source]
        for volume in pod["spec"]["volumes"]
        for source in volume
        if source in PLUGINS
    }
    entries = {}
    for mount in pod["spec"]["containers"][0]["volumeMounts"]:
        inside = mount["mountPath"].removeprefix(root).strip("/")
        plugin = f"kubernetes.io~{plugins[mount['name']]}"
        base = f"pods/{name}/volumes/{plugin}/{mount['name']}/"
        for path, (kind, mode, content) in node.contents.items():
            if path.startswith(base):
                place = masked_path(f"{inside}/{path.removeprefix(base)}", Counter())
                entries[place] = Entry(
                    kind,
                    "" if kind == "link" else _bits(mode),
                    len(content) if kind == "file" else 0,
                    masked_path(content, Counter()) if kind == "link" else "",
                )
    return entries


def _bits(mode: int) -> str:
    letters = "".join(
        letter if mode >> (8 - i) & 1 else "-" for i, letter in enumerate("rwxrwxrwx")
    )
    return (
        letters[:-1] + ("t" if letters[-1] == "x" else "T")
        if mode & 0o1000
        else letters
    )
