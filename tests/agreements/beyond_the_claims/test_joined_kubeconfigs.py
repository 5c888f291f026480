"""Several kubeconfig files in one: who says something first is right."""

from __future__ import annotations

import os
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest

from lifecycle.kubectl.kubeconfig.documents import Config, empty_config
from lifecycle.kubectl.kubeconfig.loading import loading_precedence, merge


def joined(*documents: Config) -> Config:
    into, before = empty_config(), deepcopy(documents)
    for document in documents:
        merge(into, document)
    assert documents == before, "none of them is changed"
    return into


PREFERENCES: list[tuple[list[Any], Any]] = [
    ([{"a": 1}, {"a": 2}], {"a": 1}),
    ([{"a": 2}, {"a": 1}], {"a": 2}),
    ([{"a": 1}, {"a": 2, "b": 2}, {"a": 3, "b": 3, "c": 3}], {"a": 1, "b": 2, "c": 3}),
    ([{}, {"a": 2}], {"a": 2}),
    ([None, {"a": 2}, None], {"a": 2}),
    # what is not set in Go says nothing
    ([{"a": False}, {"a": True}], {"a": True}),
    ([{"a": True}, {"a": False}], {"a": True}),
    ([{"a": False}, {"a": False}], {}),
]


@pytest.mark.parametrize(("files", "all_in_all"), PREFERENCES)
def test_of_preferences_the_first_that_is_set_counts(files: list[Any], all_in_all: Any) -> None:
    assert joined(*({"preferences": each} for each in files))["preferences"] == all_in_all


@pytest.mark.parametrize(
    ("files", "current"),
    [
        (["a", "b"], "a"),
        (["b", "a"], "b"),
        (["", "b", "c"], "b"),
        ([None, "b"], "b"),
        (["a", None], "a"),
        ([None, ""], ""),
    ],
)
def test_the_first_that_names_a_context_has_chosen_it(files: list[str | None], current: str) -> None:
    assert joined(*({"current-context": each} for each in files))["current-context"] == current


@pytest.mark.parametrize(
    ("section", "kind"),
    [("clusters", "cluster"), ("users", "user"), ("contexts", "context"), ("extensions", "extension")],
)
def test_an_entry_is_the_first_files_whole(section: str, kind: str) -> None:
    def file(**entries: Any) -> Config:
        return {section: [{"name": name, kind: body} for name, body in entries.items()]}

    found = joined(file(x={"one": 1}), file(x={"one": 2, "two": 2}, y={"two": 2}), file(y={"two": 3}, z={}))
    assert {each["name"]: each[kind] for each in found[section]} == {"x": {"one": 1}, "y": {"two": 2}, "z": {}}
    assert len(found[section]) == 3


def test_one_place_is_looked_at_and_not_the_others() -> None:
    """A flag's file alone; else those that a variable names, each once; else the one at home."""
    home = {"HOME": "/home/alice"}
    files = {**home, "KUBECONFIG": os.pathsep.join(["/one", "", "/two", "/one"])}
    assert loading_precedence("/flag", files) == [Path("/flag")]
    assert loading_precedence("", files) == [Path("/one"), Path("/two")]
    assert loading_precedence("", {**home, "KUBECONFIG": ""}) == [Path("/home/alice/.kube/config")]
    assert loading_precedence("", home) == [Path("/home/alice/.kube/config")]
