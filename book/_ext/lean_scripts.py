"""Each page loads each script once, and none that this book has no use for.

The tool chain registers some scripts twice, which a browser reports as an error, and
always adds the set-up of live code (thebe), which would be fetched from elsewhere; the
site works offline.
"""

from __future__ import annotations

from typing import Any

UNUSED = ("THEBE", "thebe")


def keep_each_once(
    app: Any, page: str, template: str, context: dict[str, Any], doctree: Any
) -> None:
    """Thin out the scripts of a page, in place."""
    seen: set[str] = set()
    kept = []
    for script in context.get("script_files", ()):
        attributes = getattr(script, "attributes", {})
        text = f"{getattr(script, 'filename', '') or ''} {attributes.get('body', '')}"
        if text not in seen and not any(word in text for word in UNUSED):
            seen.add(text)
            kept.append(script)
    context["script_files"] = kept


def setup(app: Any) -> dict[str, Any]:
    """Called by Sphinx; late, so that everybody else has added theirs."""
    app.connect("html-page-context", keep_each_once, priority=900)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
