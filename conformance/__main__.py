"""`python -m conformance`: run the tests, keep what came out, say it."""

from __future__ import annotations

import json
import sys
import tempfile
from datetime import UTC, datetime
from pathlib import Path

import click

from conformance.images import fill, missing_tools
from conformance.results import by_area, keep, read, results_of, subject_of, words_pattern
from conformance.suite import (
    ALONE_LABELS,
    CHOICES,
    SuiteError,
    cluster,
    command,
    ending_on_signals,
    find_programs,
    put_in_zones,
    run,
)
from lifecycle.cri.images.library import ImageLibrary


@click.command()
@click.option("--runtime", type=click.Choice(["sandbox", "containerd", "hollow"]), default="sandbox", show_default=True)
@click.option("--nodes", type=int, help="Machines, the control plane included; by default as many as the tests want.")
@click.option(
    "--tests", type=click.Choice(list(CHOICES)), default="conformance", show_default=True, help="Which of them."
)
@click.option("--focus", help="Instead run the tests whose names match.")
@click.option("--skip", help="Instead leave these out; empty for none.")
@click.option("--alone", is_flag=True, help="Instead those that want a cluster to themselves, one after the other.")
@click.option("--again", is_flag=True, help="Only those that results.json says failed.")
@click.option("--procs", default=8, show_default=True, help="Tests side by side.")
@click.option("--keep/--no-keep", "keeps", default=True, show_default=True, help="Whether results.json is renewed.")
@click.option("--out", type=click.Path(path_type=Path), help="Where logs stay; by default nowhere.")
def main(
    runtime: str,
    nodes: int | None,
    tests: str,
    focus: str | None,
    skip: str | None,
    alone: bool,
    again: bool,
    procs: int,
    keeps: bool,
    out: Path | None,
) -> None:
    """Kubernetes' conformance tests against `lifecycle up`."""
    choice = CHOICES[tests]
    focus = choice.focus if focus is None else focus
    skip = choice.skip if skip is None else skip
    nodes = nodes or choice.nodes
    if alone:
        skip, procs = "", 1
    labels = ALONE_LABELS if alone else ""
    subject = subject_of(runtime, tests)
    failed: list[str] = []
    if again:
        failed = [each.name for each in read(subject) if not each.passed and each.alone is alone]
        if not failed:
            sys.exit(f"conformance: results.json has no such test that failed on {subject}")
        focus = "|".join(map(words_pattern, failed))
    with ending_on_signals(), tempfile.TemporaryDirectory(prefix="conformance-") as temporary:
        folder = out or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        folder = folder.resolve()
        try:
            programs = find_programs()
            if missing := missing_tools():
                click.echo(f"not installed, so the image lacks them: {', '.join(missing)}", err=True)
            images = Path(temporary) / "images"
            fill(ImageLibrary(images), programs.agnhost)
            with cluster(runtime, nodes, folder, images) as kubeconfig:
                if choice.zoned:
                    put_in_zones(programs, kubeconfig)
                argv = command(
                    programs, kubeconfig, folder, focus=focus, skip=skip, procs=procs, workers=nodes - 1, labels=labels
                )
                report = run(argv, folder / "tests.log")
        except (SuiteError, OSError, ValueError) as error:
            sys.exit(f"conformance: {error}")
        results = results_of(json.loads(report.read_text()), datetime.now(UTC).date().isoformat())
        if again:  # a name can be the beginning of another's
            results = [each for each in results if each.name in failed]
    if keeps:
        keep(subject, results)
    for result in results:
        if not result.passed:
            click.echo(f"failed: {result.area}: {result.name}\n        {result.message}")
    for area, (passed, ran) in by_area(results).items():
        click.echo(f"{area}: {passed} of {ran}")
    click.echo(f"conformance: {sum(r.passed for r in results)} of {len(results)} passed on {subject}")


main()
