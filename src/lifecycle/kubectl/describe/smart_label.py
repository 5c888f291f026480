"""From a field's name to a title: `observedGeneration` → `Observed Generation`.

Upstream: `kubectl/pkg/describe/describe.go` (`smartLabelFor`), `fatih/camelcase`
(`Split`), v1.36.
"""

from __future__ import annotations

ACRONYMS = ("API", "URL", "UID", "GUID")


def smart_label_for(field: str) -> str:
    """The words of a name, each with a capital. A name with anything in it but letters
    and `-` stays as it is.
    """
    if not all(letter.isalpha() or letter == "-" for letter in field):
        return field
    return " ".join(map(_titled, _merged(split_camel_case(field))))


def _titled(part: str) -> str:
    if part.upper() in ACRONYMS:
        return part.upper()
    return part.title() if part.lower() == part else part


def _merged(parts: list[str]) -> list[str]:
    """Capitals stay with the word that follows, if it begins with one, too."""
    merged: list[str] = []
    at = 0
    while at < len(parts):
        part, following = parts[at], parts[at + 1 : at + 2]
        capitals = len(part) >= 2 and all(
            letter.isupper() or not letter.isalpha() for letter in part
        )
        if capitals and following and following[0][0].isupper():
            part += following[0]
            at += 1
        merged.append(part)
        at += 1
    return merged


def split_camel_case(text: str) -> list[str]:
    """`podIPs` → `pod`, `I`, `Ps`: runs of the same kind of letter, but a capital
    belongs to the small letters after it.
    """
    runs: list[str] = []
    last = -1
    for letter in text:
        kind = 1 if letter.islower() else 2 if letter.isupper() else 4
        if kind == last:
            runs[-1] += letter
        else:
            runs.append(letter)
        last = kind
    for at in range(len(runs) - 1):
        if runs[at][:1].isupper() and runs[at + 1][0].islower():
            runs[at + 1] = runs[at][-1] + runs[at + 1]
            runs[at] = runs[at][:-1]
    return [run for run in runs if run]
