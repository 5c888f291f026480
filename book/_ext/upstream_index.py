"""The index: each of upstream's files and symbols, with the pages that stand on it.

A chapter names them once, in its table of sources or in a sentence, with the role
`k8s`; the names in brackets after it are the file's symbols. From there they get into
the index by themselves.
"""

from __future__ import annotations

import re
from typing import Any

from docutils import nodes
from sphinx import addnodes
from sphinx.transforms import SphinxTransform

UPSTREAM = "https://github.com/kubernetes/kubernetes/blob/"
SYMBOL = re.compile(r"[A-Za-z_][A-Za-z0-9_.]*")


def symbols_after(reference: nodes.reference) -> list[str]:
    """The names in code font between the brackets that follow a file."""
    found: list[str] = []
    node: nodes.Node | None = reference.next_node(descend=False, siblings=True)
    opened = False
    while node is not None:
        text = node.astext()
        if isinstance(node, nodes.Text):
            if not opened and not text.lstrip().startswith("("):
                break
            opened = True
            if ")" in text:
                break
        elif isinstance(node, nodes.reference):
            break
        elif isinstance(node, nodes.literal) and SYMBOL.fullmatch(text):
            found.append(text)
        node = node.next_node(descend=False, siblings=True)
    return found


class UpstreamIndex(SphinxTransform):
    """An index entry beside each link into the Kubernetes tree."""

    default_priority = 600

    def apply(self, **kwargs: Any) -> None:
        """Add them to the page."""
        number = 0
        for reference in list(self.document.findall(nodes.reference)):
            if not str(reference.get("refuri", "")).startswith(UPSTREAM):
                continue
            file = reference.astext()
            number += 1
            anchor = f"upstream-{number}"
            entries = [("single", f"{file} (upstream)", anchor, "", None)]
            entries += [
                ("single", f"{symbol} (upstream)", anchor, "", None)
                for symbol in symbols_after(reference)
            ]
            mark = nodes.target("", "", ids=[anchor])
            parent = reference.parent
            at = parent.index(reference)
            parent.insert(at, [addnodes.index(entries=entries), mark])


def setup(app: Any) -> dict[str, Any]:
    """Called by Sphinx."""
    app.add_transform(UpstreamIndex)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
