"""A language's catalogues in `book/locale`, and how they are kept level with the book."""

from __future__ import annotations

from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import yaml
from babel.messages.catalog import Catalog
from babel.messages.pofile import read_po, write_po

from translations.messages import CHECKOUT

LOCALE = CHECKOUT / "book" / "locale"
ALIKE = 0.6


def languages() -> dict[str, dict[str, Any]]:
    """The languages, each with its name and with the catalogues that have to be complete."""
    listed: dict[str, dict[str, Any]] = yaml.safe_load((LOCALE / "languages.yaml").read_text(encoding="utf-8"))
    return listed


def path_of(language: str, name: str) -> Path:
    """Where Sphinx looks for a page's catalogue."""
    return LOCALE / language / "LC_MESSAGES" / f"{name}.po"


def names(language: str) -> list[str]:
    """The catalogues that a language has."""
    folder = LOCALE / language / "LC_MESSAGES"
    return sorted(file.relative_to(folder).with_suffix("").as_posix() for file in folder.rglob("*.po"))


def read(language: str, name: str) -> Catalog:
    """A catalogue; an empty one if the page has none yet."""
    path = path_of(language, name)
    if not path.exists():
        return Catalog(
            locale=language,
            project="What Happens When … Kubernetes",
            version="1",
            header_comment=f"# {name}, in the language {language}",
            msgid_bugs_address="see CONTRIBUTING.md",
            last_translator="see the history",
            language_team=language,
            fuzzy=False,
        )
    with path.open("rb") as file:
        return read_po(file, locale=language)


def update(language: str, name: str, messages: list[str]) -> Catalog:
    """Bring a catalogue level with the page: new paragraphs come in empty, a changed one keeps its
    translation, marked *fuzzy*, which means that readers are shown the original until somebody has looked.
    """
    catalogue = read(language, name)
    template = Catalog()
    for message in messages:
        template.add(message)
    catalogue.update(template, update_creation_date=False)
    catalogue.obsolete.clear()
    write(language, name, catalogue)
    return catalogue


def write(language: str, name: str, catalogue: Catalog) -> None:
    """One line for each paragraph, so that a difference shows what changed."""
    path = path_of(language, name)
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("wb") as file:
        write_po(file, catalogue, width=0)


@dataclass(frozen=True, slots=True)
class Behind:
    """What a catalogue lacks, and what it has too much."""

    name: str
    total: int
    changed: list[tuple[str, str]]
    """What the page says now, and the paragraph that was translated."""
    missing: list[str]
    gone: list[str]

    def __bool__(self) -> bool:
        return bool(self.changed or self.missing or self.gone)

    def __str__(self) -> str:
        lines = [f"{self.name}: {self.total - len(self.changed) - len(self.missing)} of {self.total} translated"]
        for now, before in self.changed:
            lines += [f"  changed: {_short(now)}", *([f"      was: {_short(before, now)}"] if before else [])]
        lines += [f"  missing: {_short(message)}" for message in self.missing]
        lines += [f"  no longer on the page: {_short(message)}" for message in self.gone]
        return "\n".join(lines)


def _short(message: str, beside: str = "", width: int = 100) -> str:
    """A message's beginning; beside another one, from where they begin to differ."""
    start = next((i for i, (a, b) in enumerate(zip(message, beside)) if a != b), 0)
    start = max(0, start - width // 3) if start > width // 2 else 0
    piece = message[start : start + width]
    return ("…" if start else "") + piece + ("…" if start + width < len(message) else "")


def behind(name: str, catalogue: Catalog, messages: list[str]) -> Behind:
    """Compare the paragraphs of a page with those that its catalogue translates."""
    current = dict.fromkeys(messages)
    entries = [entry for entry in catalogue if entry.id]
    done = {str(entry.id) for entry in entries if entry.string and not entry.fuzzy}
    fuzzy = {str(entry.id): "".join(entry.previous_id) for entry in entries if entry.string and entry.fuzzy}
    gone = [str(entry.id) for entry in entries if entry.id not in current]
    changed: list[tuple[str, str]] = []
    missing: list[str] = []
    for message in current:
        if message in done:
            continue
        if message in fuzzy:
            changed.append((message, fuzzy[message]))
        elif before := get_close_matches(message, gone, n=1, cutoff=ALIKE):
            gone.remove(before[0])
            changed.append((message, before[0]))
        else:
            missing.append(message)
    return Behind(name, len(current), changed, missing, gone)
