"""`python -m generators TABLE …`: makes data files of `src` again, in place."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path

import click

from generators import (
    cri,
    etcd,
    likeness,
    policy,
    programs,
    protobuf,
    published,
    seccomp,
    served_version,
    step_times,
    types,
    vxlan_echo,
)
from lifecycle.api.published import KUBERNETES_VERSION

HERE = Path(__file__).resolve().parents[1]
PACKAGE = HERE / "src" / "lifecycle"

Tables = Iterable[tuple[str, bytes]]

FROM_KUBERNETES: dict[str, Callable[[Path, str], Tables]] = {
    "types": lambda kubernetes, version: [
        ("api/schema/types.tsv", types.generate(kubernetes, version))
    ],
    "protobuf": lambda kubernetes, version: [
        ("api/protobuf/fields.tsv", protobuf.generate(kubernetes, version))
    ],
    "cri": lambda kubernetes, version: [
        (f"cri/{name}", table)
        for name, table in cri.generate(kubernetes, version).items()
    ],
    "etcd": lambda kubernetes, version: [
        (f"etcd/{name}", table)
        for name, table in etcd.generate(kubernetes, version).items()
    ],
}
FROM_RECORDINGS: dict[str, Callable[[Path, str], Tables]] = {
    "published": lambda recording, version: [
        (
            f"api/published/{version}.zip",
            published.generate(recording, PACKAGE / f"api/published/{version}.zip"),
        )
    ],
    "policy": lambda recording, _: [
        ("apiserver/bootstrap/policy.json", policy.generate(recording))
    ],
    "likeness": lambda recording, _: [
        (f"cluster/{likeness.FILE}", likeness.generate(recording))
    ],
    "served-version": lambda recording, _: [
        (
            f"apiserver/emulation/{OLDER}.tsv",
            served_version.generate(recording.with_name(f"bare-{OLDER[1:]}")),
        )
    ],
    "step-times": lambda recording, _: [
        (
            step_times.FILE,
            step_times.generate(
                [recording, recording.with_name(f"{recording.name}-again")]
            ),
        )
    ],
}
OLDER = "v1.20.2"
"""The version of another recording, beside that of today's."""
ONCE = "vxlan-echo"
PROFILE, NUMBERS = "seccomp", "syscall-numbers"
ASKED = "programs"


def repeatable(kubernetes: Path | None, recording: Path, version: str) -> Tables:
    """All tables that come out the same each time; those of Kubernetes' sources only
    with a checkout.
    """
    for generate in FROM_RECORDINGS.values():
        yield from generate(recording, version)
    if kubernetes is not None:
        for generate in FROM_KUBERNETES.values():
            yield from generate(kubernetes, version)


def _tables(
    table: str,
    kubernetes: Path | None,
    recording: Path,
    version: str,
    binaries: Path | None,
    profile: Path | None,
) -> Tables:
    if table == "all":
        return repeatable(kubernetes, recording, version)
    if table == ONCE:
        return [("cni/overlay/captured-vxlan-echo.json", vxlan_echo.generate())]
    if table == NUMBERS:
        headers = Path("/usr/include")
        return [("cri/sandbox/syscall_numbers.tsv", seccomp.numbers(headers))]
    if table == PROFILE:
        if profile is None:
            raise click.UsageError(
                f"{table} is made from a published profile: --profile PATH names a"
                " seccomp/default.json of moby/profiles"
            )
        rules = seccomp.rules(profile.read_bytes(), "moby/profiles at cd3bed8")
        return [("cri/seccomp.tsv", rules)]
    if table == ASKED:
        if binaries is None:
            raise click.UsageError(
                f"{table} asks Kubernetes' own programs: --programs PATH, or KUBE_BIN,"
                f" names a folder with kube-apiserver and the others at {version}"
            )
        return (
            (str(HERE / "recordings" / name), content)
            for name, content in programs.generate(binaries, HERE / ".tools")
        )
    if table in FROM_RECORDINGS:
        return FROM_RECORDINGS[table](recording, version)
    if kubernetes is None:
        raise click.UsageError(
            f"{table} is made from Kubernetes' sources: --kubernetes PATH names a"
            f" checkout of kubernetes/kubernetes at {version} (of its staging/src/"
            "k8s.io, the folders api, apimachinery, apiextensions-apiserver,"
            " kube-aggregator and cri-api are read, and etcd's in vendor)"
        )
    return FROM_KUBERNETES[table](kubernetes, version)


@click.command()
@click.argument(
    "table",
    type=click.Choice(
        ["all", *FROM_KUBERNETES, *FROM_RECORDINGS, ONCE, ASKED, PROFILE, NUMBERS]
    ),
)
@click.option(
    "--kubernetes",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="A checkout of kubernetes/kubernetes.",
)
@click.option(
    "--version",
    default=KUBERNETES_VERSION,
    show_default=True,
    help="What the checkout is of; it is written into the tables, not looked up.",
)
@click.option(
    "--recording",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    default=HERE / "recordings" / "kind-1.36.2",
    help="The recording of a fresh kind cluster; left out: this repository's.",
)
@click.option(
    "--programs",
    "binaries",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    envvar="KUBE_BIN",
    help="Kubernetes' own programs, to be asked.",
)
@click.option(
    "--profile",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="Docker's default seccomp profile.",
)
@click.option("--check", is_flag=True, help="Write nothing; fail if a table differs.")
def main(
    table: str,
    kubernetes: Path | None,
    version: str,
    recording: Path,
    binaries: Path | None,
    profile: Path | None,
    check: bool,
) -> None:
    """Make data files of the package again. TABLE is one table, or all that can be
    repeated: without --kubernetes, those that are made from recordings.
    """
    differ = False
    for name, content in _tables(
        table, kubernetes, recording, version, binaries, profile
    ):
        file = PACKAGE / name
        same = file.is_file() and file.read_bytes() == content
        differ = differ or not same
        if not (same or check):
            file.parent.mkdir(exist_ok=True)
            file.write_bytes(content)
        state = "unchanged" if same else "differs" if check else "written"
        click.echo(f"{state:10}{file.relative_to(HERE)} ({len(content):,} bytes)")
    if table == "all" and kubernetes is None:
        left = ", ".join(FROM_KUBERNETES)
        click.echo(f"left alone: {left}: they need --kubernetes PATH")
    if differ and check:
        raise SystemExit(1)


if __name__ == "__main__":
    main()
