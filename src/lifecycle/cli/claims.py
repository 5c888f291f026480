"""`lifecycle claims`: what the articles say, and what became of it."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

import click

from lifecycle.cli.refusal import Refusal, refusals

VERSIONS = {"v1.36": "kind-1.36.2", "v1.20": "bare-1.20.2"}


@click.command(short_help="What became of each claim of the old articles.")
@click.option(
    "--ledger",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Another ledger than the book's.",
)
@click.option("--stage", help="Only the claims of one stage.")
@click.option(
    "--unchecked",
    is_flag=True,
    help="Only the claims that no recording and no program speaks of: read in source.",
)
def claims(ledger: Path | None, stage: str | None, unchecked: bool) -> None:
    """Print the matrix claim × version, with how many claims rest on which evidence.

    Leaves with 1 if the evidence contradicts the ledger. It takes some ten seconds, and
    says on a terminal how far it is: each rebuilt component is made anew and asked.
    """
    from rich.console import Console
    from rich.progress import track

    from lifecycle.agreements import claim_checks
    from lifecycle.compare import claims as book
    from lifecycle.compare.program_answers import recorded_programs
    from lifecycle.inspector import open_recording, recordings_directory

    with refusals():
        file = ledger or recordings_directory().parent / "book" / "claims.yaml"
        entries = book.load_claims(file)
        stages = sorted({claim.stage for claim in entries})
        if stage not in (None, *stages):
            raise Refusal(
                f"no claims of stage {stage!r}; there are: {', '.join(stages)}"
            )
        book.import_checks(claim_checks)
        evidence = {version: open_recording(name) for version, name in VERSIONS.items()}
        programs = recorded_programs(recordings_directory())
        errors = Console(stderr=True)

        def told(what: str, asked: Sequence[book.Claim]) -> Iterable[book.Claim]:
            quiet = not errors.is_terminal
            return track(asked, what, console=errors, transient=True, disable=quiet)

        everything = book.ClaimsMatrix(
            entries, evidence, stage or "", programs, unchecked=unchecked, told=told
        )
    console = Console(width=None if sys.stdout.isatty() else 140)
    console.print(everything)
    console.print(everything.summary)
    if everything.contradicted:
        sys.exit(1)
