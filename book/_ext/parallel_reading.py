"""Pages may be read by several processes at once.

Two extensions of the tool chain do not say whether that is safe, and then Sphinx reads
page after page. It is: the first numbers sections when all pages have been read, the
second prepares pages for LaTeX, which is not asked for here.
"""

from __future__ import annotations

from typing import Any

SILENT = ("sphinx_multitoc_numbering", "sphinx_jupyterbook_latex")


def setup(app: Any) -> dict[str, Any]:
    """Called by Sphinx."""
    for name in SILENT:
        app.setup_extension(name)
        app.extensions[name].parallel_read_safe = True
    return {"parallel_read_safe": True, "parallel_write_safe": True}
