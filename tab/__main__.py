"""`python -m tab OUT`: everything that a page loads when its reader presses *Run here*."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from tab.bundle import fill
from tab.pyodide_files import PyodideError


@click.command(help=__doc__)
@click.argument("out", type=click.Path(path_type=Path, file_okay=False))
def main(out: Path) -> None:
    """Fill the folder."""
    try:
        fill(out)
    except PyodideError as error:
        sys.exit(str(error))
    for file in sorted(file for file in out.rglob("*") if file.is_file()):
        click.echo(f"{file.stat().st_size / 1e6:6.2f} MB  {file.relative_to(out)}")


if __name__ == "__main__":
    main()
