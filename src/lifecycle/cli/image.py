"""`lifecycle image`: images of one's own, for nodes of the runtimes `sandbox` and
`containerd`.
"""

from __future__ import annotations

from pathlib import Path

import click

from lifecycle.cli.refusal import Misused, refusals

_FILE = click.Path(exists=True, path_type=Path)


@click.group()
def image() -> None:
    """Give nodes images: load, build, ls.

    They are kept for all clusters of this machine, running ones included, in
    $LIFECYCLE_IMAGES or ~/.local/share/lifecycle/images; nodes pull them from there.
    """


@image.command()
@click.argument("archives", nargs=-1, required=True, metavar="ARCHIVE…", type=_FILE)
def load(archives: tuple[Path, ...]) -> None:
    """Keep the images of archives: what `docker save` writes, or an OCI layout."""
    with refusals():
        from lifecycle.cri.images.archive import read_archive
        from lifecycle.cri.images.library import ImageLibrary, library_folder

        library = ImageLibrary(library_folder())
        for archive in archives:
            images = read_archive(archive)
            library.add(images)
            for name in images:
                click.echo(f"Loaded image: {name}")


@image.command()
@click.argument("source", metavar="DIR|BINARY", type=_FILE)
@click.option(
    "-t", "--tag", "tags", multiple=True, required=True, help="Its name; many are fine."
)
@click.option("--shell", is_flag=True, help="With busybox and its tools below.")
@click.option(
    "--add",
    "more",
    multiple=True,
    metavar="FILE:PATH",
    help="One more file, and where it goes.",
)
@click.option("--entrypoint", multiple=True, help="A word of it; again for the next.")
@click.option("--cmd", multiple=True, help="A word of the command; again for the next.")
@click.option("--env", multiple=True, metavar="NAME=VALUE", help="A variable.")
def build(
    source: Path,
    tags: tuple[str, ...],
    shell: bool,
    more: tuple[str, ...],
    entrypoint: tuple[str, ...],
    cmd: tuple[str, ...],
    env: tuple[str, ...],
) -> None:
    """Make an image of a folder, or of one static program, and keep it."""
    with refusals():
        from lifecycle.cri.images.from_files import image_from
        from lifecycle.cri.images.library import ImageLibrary, library_folder
        from lifecycle.cri.images.reference import normalized_name

        files: dict[str, Path] = {}
        for each in more:
            file, colon, path = each.rpartition(":")
            if not colon or not file or not path.startswith("/"):
                raise Misused(f"--add wants FILE:/PATH, not {each}")
            files[path] = Path(file)
        wrong = next((each for each in env if "=" not in each), None)
        if wrong is not None:
            raise Misused(f"--env wants NAME=VALUE, not {wrong}")
        built = image_from(
            source,
            shell=shell,
            entrypoint=entrypoint,
            command=cmd,
            environment=env,
            files=files,
        )
        images = {normalized_name(tag): built for tag in tags}
        ImageLibrary(library_folder()).add(images)
        for name in images:
            click.echo(f"Built image: {name} {built.config}")


@image.command()
def ls() -> None:
    """List the images that were loaded or built."""
    with refusals():
        from lifecycle.cri.images.library import ImageLibrary, library_folder

        library = ImageLibrary(library_folder())
        rows = [
            (name, digest.partition(":")[2][:12], f"{library.size(digest) / 1e6:.1f}MB")
            for name, digest in sorted(library.names().items())
        ]
        head = ("NAME", "DIGEST", "SIZE")
        wide = max(len(row[0]) for row in (head, *rows))
        for name, digest, size in (head, *rows):
            click.echo(f"{name:<{wide}}  {digest:<12}  {size}")
