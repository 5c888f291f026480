"""`python -m tab OUT`: everything that a page loads when its reader presses *Run here*."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import click

from tab.bundle import compiled, package_files, recording_files, write_archive
from tab.pyodide_files import FILES, PyodideError, pyodide_files


@click.command(help=__doc__)
@click.argument("out", type=click.Path(path_type=Path, file_okay=False))
def main(out: Path) -> None:
    """Fill the folder."""
    out.mkdir(parents=True, exist_ok=True)
    try:
        source = pyodide_files()
        for name in FILES:
            shutil.copyfile(source / name, out / name)
        compiled(package_files(), out / "package.tar.xz")
    except PyodideError as error:
        sys.exit(str(error))
    write_archive(out / "recordings.tar.xz", recording_files())
    for file in sorted(out.iterdir()):
        click.echo(f"{file.stat().st_size / 1e6:6.2f} MB  {file.name}")


if __name__ == "__main__":
    main()
