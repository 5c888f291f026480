"""`python -m translations behind|update|config LANGUAGE [PAGE…]`."""

from __future__ import annotations

import sys
from typing import Any

import click
import yaml

from translations.catalogue import behind, languages, names, read, update
from translations.messages import BUTTONS, CHECKOUT, TITLES, configuration, current_messages, file_of

LANGUAGE = click.argument("language", type=click.Choice(sorted(languages())))


@click.group(help=__doc__)
def main() -> None:
    """The commands below."""


@main.command("behind")
@LANGUAGE
@click.argument("pages", nargs=-1)
def say_behind(language: str, pages: tuple[str, ...]) -> None:
    """Print the paragraphs that have changed or come since they were translated."""
    chosen = list(pages) or names(language)
    must = languages()[language]["complete"]
    failed = False
    for name, messages in current_messages(_existing(chosen)).items():
        found = behind(name, read(language, name), messages)
        click.echo(str(found))
        failed |= bool(found) and name in must
    sys.exit(failed)


@main.command("update")
@LANGUAGE
@click.argument("pages", nargs=-1)
def bring_level(language: str, pages: tuple[str, ...]) -> None:
    """Bring the language's catalogues level with the book; a PAGE that is named and has none yet gets one."""
    chosen = _existing(sorted({*names(language), *pages}))
    for name, messages in current_messages(chosen).items():
        click.echo(str(behind(name, update(language, name, messages), messages)))


@main.command("config")
@LANGUAGE
def print_config(language: str) -> None:
    """Print the configuration with which the book is built in this language. It will lie elsewhere, and the
    folder of the extensions is looked for beside it.
    """
    settings: dict[str, Any] = configuration()
    settings["sphinx"]["config"]["language"] = language
    local = settings["sphinx"]["local_extensions"]
    settings["sphinx"]["local_extensions"] = {name: str(CHECKOUT / folder) for name, folder in local.items()}
    click.echo(yaml.safe_dump(settings, allow_unicode=True, sort_keys=False))


def _existing(chosen: list[str]) -> list[str]:
    for name in chosen:
        try:
            _ = name in (TITLES, BUTTONS) or file_of(name)
        except FileNotFoundError as error:
            raise click.ClickException(str(error)) from None
    return chosen


if __name__ == "__main__":
    main()
