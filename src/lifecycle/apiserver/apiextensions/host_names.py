"""Names of hosts, as a format in a schema means them.

One label may end in a dash; of several, the last has letters only. Symbols and letters
of any script are letters here.

Upstream: `kube-openapi/pkg/validation/strfmt/default.go` (`HostnamePattern`,
`IsHostname`), v1.36.
"""

from __future__ import annotations

import unicodedata

LONGEST_NAME, LONGEST_LABEL = 255, 63
"""In bytes."""


def is_host_name(text: str) -> bool:
    """Is it one?"""
    labels = text.split(".")
    if len(text.encode()) > LONGEST_NAME or any(
        len(label.encode()) > LONGEST_LABEL for label in labels
    ):
        return False
    if len(labels) == 1:
        name = text[:1] + text[1:].removeprefix("-")
        return bool(text) and all(_is_plain(char) for char in name)
    last = labels.pop()
    return len(last) > 1 and all(map(_is_letter, last)) and all(map(_is_label, labels))


def _is_label(label: str) -> bool:
    return (
        bool(label)
        and all(char == "-" or _is_plain(char) for char in label)
        and "-" not in (label[0], label[-1])
    )


def _is_letter(char: str) -> bool:
    return unicodedata.category(char).startswith("L")


def _is_plain(char: str) -> bool:
    return char in "0123456789" or unicodedata.category(char)[0] in "LS"
