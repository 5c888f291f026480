"""A here-document: lines that a command reads, typed together with it.

    kubectl apply -f - <<EOF
    apiVersion: v1
    …
    EOF

Upstream: the POSIX shell's redirection of the same name (2.7.4), without expansions:
this terminal has no variables.
"""

from __future__ import annotations

import re

_BEGIN = re.compile(r"\s*<<(?P<dash>-?)\s*(?P<quote>['\"]?)(?P<word>\w+)(?P=quote)\s*$")


def split_here_document(text: str) -> tuple[str, str | None]:
    """(the command, what it reads; None if nothing is said). Raises ValueError for a
    document without an end, and for what stands behind one.
    """
    first, _, rest = text.partition("\n")
    begin = _BEGIN.search(first)
    if begin is None:
        return text, None
    lines = rest.split("\n")
    if begin["dash"]:
        lines = [line.lstrip("\t") for line in lines]
    word = begin["word"]
    if word not in lines:
        raise ValueError(f"here-document: no line says {word}, where it would end")
    end = lines.index(word)
    if any(line.strip() for line in lines[end + 1 :]):
        raise ValueError("one command at a time: something stands after the document")
    return first[: begin.start()], "".join(f"{line}\n" for line in lines[:end])
