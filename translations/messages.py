"""What there is to translate: a page's paragraphs, as Sphinx extracts them, and the titles of the table of contents.

No cell runs. Code, and what cells show, is no message: it is the same in every language.
"""

from __future__ import annotations

import importlib.util
import json
import re
import tempfile
from pathlib import Path
from typing import Any

import yaml
from babel.messages.pofile import read_po
from sphinx.application import Sphinx
from sphinx.util.docutils import docutils_namespace, patch_docutils

CHECKOUT = Path(__file__).resolve().parents[1]
TITLES = "toc"
"""The catalogue of titles, which is no page's: a chapter has a translated title before it has a translated text."""
BUTTONS = "live"
"""The catalogue of what the scripts of live pages and of the playground say."""


def configuration() -> dict[str, Any]:
    """The book's configuration file."""
    settings: dict[str, Any] = yaml.safe_load((CHECKOUT / "_config.yml").read_text(encoding="utf-8"))
    return settings


def file_of(page: str, root: Path = CHECKOUT) -> Path:
    """A page's source, from its name in the table of contents."""
    for suffix in (".md", ".ipynb"):
        if (root / f"{page}{suffix}").exists():
            return root / f"{page}{suffix}"
    raise FileNotFoundError(f"there is no page {page}: names are as in _toc.yml, such as book/the-journey")


def messages_of(pages: list[str], root: Path = CHECKOUT) -> dict[str, list[str]]:
    """Each page's messages, in its order, from Sphinx's own gettext builder."""
    if not pages:
        return {}
    sphinx = configuration()["sphinx"]["config"]
    settings = {
        "extensions": ["myst_nb", "sphinx_design", "sphinx.ext.extlinks"],
        "source_suffix": {".rst": "restructuredtext"},  # Sphinx writes into its own default otherwise
        "root_doc": pages[0],
        "include_patterns": [str(file_of(page, root).relative_to(root)) for page in pages],
        "exclude_patterns": _elsewhere(pages, root),
        "nb_execution_mode": "off",
        "suppress_warnings": ["*"],
        "extlinks": sphinx["extlinks"],
        **{name: value for name, value in sphinx.items() if name.startswith("gettext_")},
        **{name: value for name, value in configuration()["parse"].items() if name.startswith("myst_")},
    }
    with tempfile.TemporaryDirectory() as out, patch_docutils(), docutils_namespace():
        app = Sphinx(root, None, out, f"{out}/doctrees", "gettext", settings, status=None, warning=None)
        app.build(force_all=True)
        return {page: _ids(Path(out, f"{page}.pot")) for page in pages}


def _elsewhere(pages: list[str], root: Path) -> list[str]:
    """The folders without a page that is asked for: Sphinx would walk through them all, the virtual environment too."""
    asked = {page.partition("/")[0] for page in pages}
    return [entry.name for entry in root.iterdir() if entry.is_dir() and entry.name not in asked]


def _ids(template: Path) -> list[str]:
    if not template.exists():
        return []
    with template.open("rb") as file:
        return [str(message.id) for message in read_po(file) if message.id]


def title_of(page: str) -> str:
    """A page's first heading, as it is shown: without marks."""
    source = file_of(page)
    text = source.read_text(encoding="utf-8")
    if source.suffix == ".ipynb":
        cells = json.loads(text)["cells"]
        text = "\n".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "markdown")
    heading = re.search(r"^# (.+)$", text, re.MULTILINE)
    if heading is None:
        raise ValueError(f"{source} has no title")
    return re.sub(r"[`*]", "", heading[1]).strip()


def titles() -> list[str]:
    """The captions of the parts and the titles of the pages, as the table of contents has them."""
    toc = yaml.safe_load((CHECKOUT / "_toc.yml").read_text(encoding="utf-8"))
    found = [title_of(toc["root"])]
    for part in toc["parts"]:
        found += [part["caption"], *_titles_below(part["chapters"])]
    return list(dict.fromkeys(found))


def _titles_below(entries: list[dict[str, Any]]) -> list[str]:
    found = []
    for entry in entries:
        found += [title_of(entry["file"]), *_titles_below(entry.get("sections", []))]
    return found


def words_of_scripts() -> list[str]:
    """What stands on buttons and in the lines beside them."""
    source = importlib.util.spec_from_file_location("live_words", CHECKOUT / "book" / "_ext" / "live_words.py")
    assert source is not None
    assert source.loader is not None
    module = importlib.util.module_from_spec(source)
    source.loader.exec_module(module)
    return list(dict.fromkeys(module.messages()))


def current_messages(names: list[str]) -> dict[str, list[str]]:
    """What each named catalogue should translate today."""
    of_no_page = {TITLES: titles, BUTTONS: words_of_scripts}
    found = messages_of([name for name in names if name not in of_no_page])
    found |= {name: messages() for name, messages in of_no_page.items() if name in names}
    return found
