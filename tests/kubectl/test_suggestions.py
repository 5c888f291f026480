"""What kubectl thinks a word was meant to be: names that begin like it, that are two letters away, or that others call so."""

from __future__ import annotations

import functools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lifecycle.kubectl.command import ALL_NAMES, _distance, did_you_mean
from tests.kubectl.fake_server import kubectl

REAL = {
    "gett": "set get",
    "GET": "set get",
    "ge": "set get cp",
    "craete": "create",
    "delet": "delete",
    "logz": "logs",
    "aply": "apply",
    "applly": "apply",
    "rol": "run rollout top",
    "rollou": "rollout",
    "scalee": "scale",
    "lable": "label",
    "anotate": "annotate",
    "xec": "set get exec",
    "x": "cp",
    "remove": "delete",
    "rm": "run delete cp",
    "list": "get",
    "show": "",
    "edit-config": "",
    "config-view": "",
    "completoin": "completion",
    "wiat": "wait",
    "explian": "explain",
    "discribe": "describe",
    "version2": "version",
    "apiresources": "api-resources",
    "zzzz": "",
}
"""What the real kubectl 1.36 suggests."""


@pytest.mark.parametrize("word", REAL)
def test_the_real_kubectl_suggests_the_same(word: str) -> None:
    names = REAL[word].split()
    suggestion = "\n\nDid you mean this?\n" + "".join(f"\t{name}\n" for name in names) if names else "\n"
    code, out, err, server = kubectl([word])
    assert (code, out, err) == (1, "", f'error: unknown command "{word}" for "kubectl"{suggestion}')
    assert (server.asked(), server.discovered) == ([], []), "for that no server is asked"


def test_no_word_is_like_every_word() -> None:
    assert did_you_mean("") == ""


@pytest.mark.parametrize("name", ALL_NAMES)
def test_two_slips_of_the_finger_are_forgiven_and_three_are_not(name: str) -> None:
    assert f"\n\t{name}" in did_you_mean(f"#{name}#")
    assert f"\n\t{name}" not in did_you_mean(f"##{name}#")
    if len(name) > 4:
        assert f"\n\t{name}" in did_you_mean(name[1:-1])
        assert f"\n\t{name}" in did_you_mean(f"#{name[1:-1]}#")
        assert f"\n\t{name}" not in did_you_mean(f"##{name[2:-1]}#")


@functools.cache
def edits(one: str, other: str) -> int:
    """The fewest letters to leave out, put in or change, as it is defined."""
    if not one or not other:
        return len(one) + len(other)
    changed = edits(one[1:], other[1:]) + (one[0] != other[0])
    return min(changed, edits(one[1:], other) + 1, edits(one, other[1:]) + 1)


@given(st.text("abc", max_size=6), st.text("abc", max_size=6))
def test_a_distance_is_the_fewest_edits(one: str, other: str) -> None:
    assert _distance(one, other) == edits(one, other)
