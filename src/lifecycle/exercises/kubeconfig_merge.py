"""Several kubeconfig files become one.

The cases are generated sets of files; on the same sets the book's own merging is held
against real kubectl (`config view`) in the tests.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from lifecycle.agreements.kubectl.kubeconfig import generated
from lifecycle.exercises.exercise import Attempt, Case, Exercise
from lifecycle.kubectl.kubeconfig.documents import SECTIONS, Config, empty_config
from lifecycle.kubectl.kubeconfig.loading import merge, resolve_local_paths

CONTRACT = """\
merge(files) -> dict

files: [(folder, document), …] in the order of KUBECONFIG; a document is a parsed
        kubeconfig, folder the absolute path of the folder it lies in.
Returns one kubeconfig: lists "clusters", "users", "contexts" in any order,
"current-context", "preferences".
The first file that mentions something wins: an entry by its name, whole;
current-context by being set at all; preferences key by key, and one that is false or
empty is not mentioned. Paths of certificates, keys and token files are relative to
their own file's folder and come out absolute; so does an exec plugin's command if it
has a slash in it."""

STARTER = '''\
def merge(files):
    """One kubeconfig out of several."""
    merged = {
        "clusters": [],
        "users": [],
        "contexts": [],
        "current-context": "",
        "preferences": {},
    }
    for folder, document in files:
        for section in ("clusters", "users", "contexts"):
            merged[section] += document.get(section, [])
        merged["current-context"] = document.get("current-context", "")
    return merged
'''

SETS = 120
PATHS: dict[str, Any] = {
    "name": "files",
    "user": {
        "client-certificate": "pki/jane.crt",
        "client-key": "/etc/jane.key",
        "tokenFile": "../token",
    },
}
PLUGINS = [
    {
        "name": "here",
        "user": {
            "exec": {
                "apiVersion": "client.authentication.k8s.io/v1",
                "command": "./login",
            }
        },
    },
    {
        "name": "path",
        "user": {
            "exec": {
                "apiVersion": "client.authentication.k8s.io/v1",
                "command": "login",
            }
        },
    },
]
EXTENDED: dict[str, Any] = {
    "extensions": [{"name": "theme", "extension": {"dark": True}}]
}
Files = list[tuple[str, Config]]


def cases() -> Iterator[Case]:
    """Generated sets, and one full of paths."""
    for number, one in enumerate(generated(SETS)):
        files: Files = [
            (f"/home/jane/{name}", document)
            for name, document in one.documents.items()
            if document is not None
        ]
        yield _case(
            "1 file" if len(files) == 1 else f"{len(files)} files",
            f"set {number}",
            files,
        )
    cluster = {
        "name": "west",
        "cluster": {"server": "https://west:6443", "certificate-authority": "./ca.crt"},
    }
    for folder in ("/etc/kubernetes", "/home/jane/.kube"):
        document = {"clusters": [cluster], "users": [PATHS, *PLUGINS]}
        yield _case("paths", f"in {folder}".replace("/", "∕"), [(folder, document)])
    colours: Files = [("/home/jane/one", {"preferences": {"colors": True}})]
    theme: Files = [("/home/jane/two", {"preferences": EXTENDED})]
    yield _case("preferences", "one key in each file", [*colours, *theme])
    yield _case("preferences", "the same, the other way round", [*theme, *colours])


def _case(group: str, label: str, files: Files) -> Case:
    ask: Callable[[Attempt], object] = lambda attempt: _by_name(attempt(files))  # noqa: E731
    return Case(group, label, _by_name(_ours(copy.deepcopy(files))), ask, files)


def _by_name(config: Config) -> Config:
    sections = {
        section: {entry["name"]: entry[kind] for entry in config[section]}
        for section, kind in SECTIONS.items()
    }
    counts = {section: len(config[section]) for section in SECTIONS}
    rest = {
        "current-context": config["current-context"],
        "preferences": config.get("preferences") or {},
    }
    return {**sections, **rest, "entries": counts}


def _ours(files: Files) -> Config:
    merged = empty_config()
    for folder, document in files:
        merge(merged, resolve_local_paths(document, Path(folder)))
    return merged


def ours() -> Attempt:
    """The book's."""
    return _ours


EXERCISE = Exercise(
    "kubeconfig-merge",
    "Merging kubeconfig files",
    CONTRACT,
    STARTER,
    "the book's own, which agrees with real kubectl",
    cases,
    ours,
    ("kubeconfig",),
)
