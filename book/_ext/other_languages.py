"""What a translated build needs beyond Sphinx' own catalogues.

A translated paragraph is parsed by itself, away from its notebook, so the number that a
cell has glued is looked up on the page afterwards. And the captions and titles of the
table of contents come from a catalogue of their own, `toc`: chapters are listed in the
reader's language before their text is translated.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from docutils import nodes
from myst_nb.ext.glue.roles import PasteTextRole
from sphinx import addnodes
from sphinx.locale import init as init_locale
from sphinx.transforms import SphinxTransform

CATALOGUE = "toc"


class GluedText(PasteTextRole):  # type: ignore[misc,unused-ignore]
    """A glued figure, in the page itself or in a translated paragraph of it."""

    def run(self) -> tuple[list[nodes.Node], list[nodes.system_message]]:
        """Refer to the page by name where the notebook is out of reach."""
        if "nb_renderer" not in self.document and "::" not in self.text:
            env = self.document.settings.env
            form = (
                "" if ":" in self.text else ":s"
            )  # how it is written cannot be left out
            self.text = f"{Path(env.doc2path(env.docname)).name}::{self.text}{form}"
        return super().run()


class TranslatedTitles(SphinxTransform):
    """Translates captions of the table of contents and a page's own title."""

    default_priority = 150  # the table of contents is put in at 100

    def apply(self, **kwargs: Any) -> None:
        """Do nothing in the language that the book is written in."""
        folders = [Path(self.env.srcdir, folder) for folder in self.config.locale_dirs]
        translator, found = init_locale(folders, self.config.language, CATALOGUE)
        if not found:
            return
        for toctree in self.document.findall(addnodes.toctree):
            if caption := toctree.get("caption"):
                toctree["caption"] = translator.gettext(caption)
        title = next(self.document.findall(nodes.title), None)
        if title is not None and not title.get("translated"):
            said = translator.gettext(title.astext())
            if said != title.astext():
                title.children = []
                title += nodes.Text(said)


def setup(app: Any) -> dict[str, Any]:
    """Called by Sphinx."""
    app.setup_extension("myst_nb")
    app.add_role_to_domain("glue", "text", GluedText(), override=True)
    app.add_transform(TranslatedTitles)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
