"""`--overrides` that are no patches. What is expected is what kubectl 1.32.4 answered to
`kubectl run x --image=y --dry-run=client --override-type=HOW --overrides=TEXT`."""

from __future__ import annotations

import re

import pytest

from lifecycle.kubectl.failures import CommandError
from lifecycle.kubectl.generators.overrides import overridden

POD = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": {"name": "x"},
    "spec": {"containers": [{"name": "x", "image": "y"}]},
}


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("{", "unexpected end of JSON input"),
        (" ", "unexpected end of JSON input"),
        ("x", "invalid character 'x' looking for beginning of value"),
        ('{"a":1,}', "invalid character '}' looking for beginning of object key string"),
        ("{a: 1}", "invalid character 'a' looking for beginning of object key string"),
        ("{'a':1}", "invalid character '\\'' looking for beginning of object key string"),
        ("nul", "invalid character ' ' in literal null (expecting 'l')"),
        ('{"a":1}x', "invalid character 'x' after top-level value"),
        ("7", "json: cannot unmarshal number into Go value of type jsonpatch.Patch"),
        ("true", "json: cannot unmarshal bool into Go value of type jsonpatch.Patch"),
        ("[7]", "json: cannot unmarshal number into Go value of type jsonpatch.Operation"),
    ],
)
def test_a_json_patch_that_is_none_is_refused_in_go_s_words(text: str, complaint: str) -> None:
    with pytest.raises(CommandError, match=f"^{re.escape(complaint)}$"):
        overridden(POD, text, "json")


@pytest.mark.parametrize(
    ("how", "complaint"), [("merge", "Invalid JSON Patch"), ("strategic", "invalid JSON document")]
)
@pytest.mark.parametrize("text", ["{", "x", " ", "7", '"x"', "true", '{"a":1,}'])
def test_other_patches_do_not_say_what_is_wrong(how: str, complaint: str, text: str) -> None:
    with pytest.raises(CommandError, match=f"^{complaint}$"):
        overridden(POD, text, how)


def test_null_is_no_patch_at_all_but_for_a_merge() -> None:
    assert overridden(POD, "null", "json") == overridden(POD, "null", "strategic") == POD
    with pytest.raises(CommandError, match=r"^Invalid JSON Patch$"):
        overridden(POD, "null", "merge")
    with pytest.raises(CommandError, match=r"^invalid JSON document$"):
        overridden(POD, "[]", "strategic")
