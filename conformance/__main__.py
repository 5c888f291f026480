"""`python -m conformance`: run the tests, keep what came out, say it."""

from __future__ import annotations

import json
import sys
import tempfile
from datetime import UTC, datetime
from pathlib import Path

import click

from conformance.images import fill, missing_tools
from conformance.results import ALONE, by_area, keep, read, results_of, words_pattern
from conformance.suite import (
    ALONE_LABELS,
    CONFORMANCE,
    SuiteError,
    cluster,
    command,
    ending_on_signals,
    find_programs,
    run,
)
from lifecycle.cri.images.library import ImageLibrary


@click.command()
@click.option("--runtime", type=click.Choice(["sandbox", "containerd", "hollow"]), default="sandbox", show_default=True)
@click.option("--nodes", default=3, show_default=True, help="Machines, the control plane included.")
@click.option("--focus", default=CONFORMANCE, show_default=True, help="Run the tests whose names match.")
@click.option("--skip", default=ALONE, show_default=True, help="Leave these out; empty for none.")
@click.option("--alone", is_flag=True, help="Instead those that want a cluster to themselves, one after the other.")
@click.option("--again", is_flag=True, help="Only those that results.json says failed.")
@click.option("--procs", default=8, show_default=True, help="Tests side by side.")
@click.option("--keep/--no-keep", "keeps", default=True, show_default=True, help="Whether results.json is renewed.")
@click.option("--out", type=click.Path(path_type=Path), help="Where logs stay; by default nowhere.")
def main(
    runtime: str,
    nodes: int,
    focus: str,
    skip: str,
    alone: bool,
    again: bool,
    procs: int,
    keeps: bool,
    out: Path | None,
) -> None:
    """Kubernetes' conformance tests against `lifecycle up`."""
    if alone:
        skip, procs = "", 1
    labels = ALONE_LABELS if alone else ""
    failed: list[str] = []
    if again:
        failed = [each.name for each in read(runtime) if not each.passed and each.alone is alone]
        if not failed:
            sys.exit(f"conformance: results.json has no such test that failed on {runtime}")
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
                argv = command(programs, kubeconfig, folder, focus=focus, skip=skip, procs=procs, labels=labels)
                report = run(argv, folder / "tests.log")
        except (SuiteError, OSError, ValueError) as error:
            sys.exit(f"conformance: {error}")
        results = results_of(json.loads(report.read_text()), datetime.now(UTC).date().isoformat())
        if again:  # a name can be the beginning of another's
            results = [each for each in results if each.name in failed]
    if keeps:
        keep(runtime, results)
    for result in results:
        if not result.passed:
            click.echo(f"failed: {result.area}: {result.name}\n        {result.message}")
    for area, (passed, ran) in by_area(results).items():
        click.echo(f"{area}: {passed} of {ran}")
    click.echo(f"conformance: {sum(r.passed for r in results)} of {len(results)} passed on {runtime}")


main()
