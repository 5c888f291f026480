"""Lines of a text broken between words.

Upstream: `mitchellh/go-wordwrap` (`WrapString`), as used by
`kubectl/pkg/util/term/term_writer.go`, v1.36.2.
"""

from __future__ import annotations

import re

_PIECES = re.compile(r"\n|[^\S\n\xa0]+|(?:\S|\xa0)+")


def wrapped(text: str, width: int) -> str:
    """The text with lines no longer than `width`, as far as its words allow; white
    space goes where a line was broken.
    """
    out: list[str] = []
    column, space = 0, ""
    for piece in _PIECES.findall(text):
        if piece == "\n":
            out.append(space if column + len(space) <= width else "")
            out.append(piece)
            column, space = 0, ""
        elif piece[0].isspace() and piece[0] != "\xa0":
            space = piece
        else:
            if column + len(space) + min(len(piece), width - 1) > width:
                out.append("\n")
                column, space = 0, ""
            out.append(space + piece)
            column, space = column + len(space) + len(piece), ""
    out.append(space if column + len(space) <= width else "")
    return "".join(out)
