"""What a document says it is of, and what is said of one that cannot say it."""

from __future__ import annotations

import re
from typing import Any

import pytest

from lifecycle.api.go.json.type_meta import interpret


@pytest.mark.parametrize(
    ("document", "found"),
    [
        (None, ("", "")),
        ({}, ("", "")),
        ({"kind": None, "apiVersion": ""}, ("", "")),
        ({"apiVersion": "v1", "kind": "Config", "more": 3}, ("v1", "Config")),
    ],
)
def test_version_and_kind(document: Any, found: tuple[str, str]) -> None:
    assert interpret(document) == found


@pytest.mark.parametrize(
    ("document", "said"),
    [
        ({"kind": 0}, "number into Go struct field .kind of type string"),
        ({"kind": []}, "array into Go struct field .kind of type string"),
        ({"apiVersion": False}, "bool into Go struct field .apiVersion of type string"),
        (3, 'number into Go value of type struct { APIVersion string "json:\\"apiVersion,omitempty\\"";'
            ' Kind string "json:\\"kind,omitempty\\"" }'),
    ],
)  # fmt: skip
def test_what_is_no_text_or_no_object_is_refused_in_go_s_words(document: Any, said: str) -> None:
    complaint = f"couldn't get version/kind; json parse error: json: cannot unmarshal {said}"
    with pytest.raises(ValueError, match=f"^{re.escape(complaint)}$"):
        interpret(document)
