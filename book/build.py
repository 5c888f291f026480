"""`python book/build.py`: the site, as `jupyter-book build . --all -n -W --keep-going`
makes it, but on all of the machine's cores: Jupyter Book hands no number of jobs on to
Sphinx. Half of the pages run in one process, half in another.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

import click
from jupyter_book.sphinx import build_sphinx

SOURCE = Path(__file__).resolve().parents[1]


@click.command(help=__doc__)
@click.option(
    "--config",
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    default=SOURCE / "_config.yml",
    help="another configuration, for a translation",
)
@click.option(
    "--output",
    type=click.Path(path_type=Path, file_okay=False),
    default=SOURCE / "_build",
    help="the folder in which `html` is made",
)
@click.option("--jobs", default=os.cpu_count() or 1, help="how many at once")
def main(config: Path, output: Path, jobs: int) -> None:
    """Build every page anew; a warning is an error, told when all has been tried."""
    failed = build_sphinx(
        SOURCE,
        output / "html",
        use_external_toc=True,
        noconfig=True,
        path_config=config,
        confoverrides={
            "external_toc_path": str(SOURCE / "_toc.yml"),
            "latex_individualpages": False,
            "nitpicky": True,
        },
        builder="html",
        warningiserror=True,
        keep_going=True,
        freshenv=True,
        jobs=jobs,
    )
    if failed:
        sys.exit("the book is not built: what is wrong stands above")


if __name__ == "__main__":
    main()
