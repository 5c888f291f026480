"""What a page stands on, in its footer: the version, the recorded cluster and its day,
and the licences of text and code.
"""

from __future__ import annotations

from typing import Any

from lifecycle.api.version import KUBERNETES_VERSION
from lifecycle.inspector import open_recording

LICENCES = (
    'Text and pictures: <a href="https://creativecommons.org/licenses/by/4.0/">CC BY'
    ' 4.0</a>. Code: <a href="https://www.apache.org/licenses/LICENSE-2.0">Apache 2.0'
    "</a>."
)


def tell(app: Any, config: Any) -> None:
    """Put it into the theme's footer."""
    provenance = open_recording().provenance
    config.html_theme_options["extra_footer"] = (
        f"<p>Checked against Kubernetes {KUBERNETES_VERSION}; evidence: {provenance}."
        f"<br>{LICENCES}</p>"
    )


def setup(app: Any) -> dict[str, Any]:
    """Called by Sphinx."""
    app.connect("config-inited", tell)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
