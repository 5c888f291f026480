"""`lifecycle up`: a whole cluster in this process, until somebody ends it."""

from __future__ import annotations

import asyncio
import signal
import sys
from pathlib import Path
from typing import Any

import click

from lifecycle.cli.latency import latency_option
from lifecycle.cli.refusal import Refusal, refusals

DEFAULT_KUBECONFIG = Path("lifecycle.kubeconfig")


@click.command()
@click.option(
    "--nodes",
    default=3,
    show_default=True,
    help="Machines, the control plane included.",
)
@click.option(
    "--like",
    metavar="kind|PATH",
    help=(
        "Start out like a recorded cluster: kind's fresh one, or a recording's folder."
    ),
)
@click.option(
    "--store",
    default="memory",
    show_default=True,
    help="Where objects live: memory, sqlite:PATH or etcd:URL.",
)
@click.option(
    "--cert-dir",
    type=click.Path(path_type=Path),
    help=(
        "Where the cluster's keys and certificates are kept; by default PATH.pki beside"
        " sqlite:PATH, else nowhere."
    ),
)
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=0,
    help="Port on 127.0.0.1; 0 picks a free one.",
)
@click.option(
    "--kubeconfig",
    type=click.Path(path_type=Path),
    default=DEFAULT_KUBECONFIG,
    show_default=True,
    help="Where to write it.",
)
@click.option(
    "--runtime",
    default="hollow",
    show_default=True,
    help=(
        "What runs containers: hollow (in memory, instant), sandbox (real ones, ours),"
        " containerd (real ones, in a private containerd), containerd:SOCKET (in yours,"
        " with --nodes 1)."
    ),
)
@click.option(
    "--overlay",
    default="vxlan",
    show_default=True,
    help="Between real nodes: vxlan (a tunnel) or host-gw (routes).",
)
@latency_option(0.0)
@click.option(
    "--token", default="", help="A bearer token for a user in system:masters."
)
@click.option(
    "--without",
    default="",
    help="Components to leave out: scheduler,controllers,kubelet,proxy,dns.",
)
@click.option(
    "--context",
    default="lifecycle",
    show_default=True,
    help="Name of the context in the kubeconfig.",
)
@click.option("--seed", type=int, help="Make uids and names repeatable.")
@click.option(
    "--enable-admission-plugins",
    "enable",
    default="",
    help="Plugins that are off by default: AlwaysPullImages.",
)
@click.option(
    "--disable-admission-plugins",
    "disable",
    default="",
    help="Plugins that are on by default.",
)
@click.option(
    "--audit-log-path",
    type=click.Path(path_type=Path),
    help="Write audit events there, a line of JSON each; - is stdout.",
)
@click.option(
    "--audit-log-maxsize",
    default=100,
    show_default=True,
    help="Megabytes of a full log file; 0: no limit.",
)
@click.option(
    "--audit-log-maxbackup",
    default=100,
    show_default=True,
    help="How many full log files are kept; 0: all.",
)
@click.option(
    "--audit-log-maxage",
    default=366,
    show_default=True,
    help="Days that full ones are kept; 0: for ever.",
)
@click.option(
    "--audit-log-compress", is_flag=True, help="Compress full log files with gzip."
)
@click.option(
    "--audit-log-format",
    default="json",
    show_default=True,
    help="How events are written: json or legacy.",
)
@click.option(
    "--audit-policy-file",
    type=click.Path(path_type=Path),
    help="A Policy of audit.k8s.io/v1: what to record.",
)
@click.option(
    "--audit-webhook-config-file",
    type=click.Path(path_type=Path),
    help="A kubeconfig that says where to post audit events.",
)
@click.option(
    "--cors-allowed-origins",
    default="",
    help="Web pages that may use the API: regular expressions, with commas between.",
)
def up(
    kubeconfig: Path,
    context: str,
    without: str,
    enable: str,
    disable: str,
    audit_log_path: Path | None,
    audit_policy_file: Path | None,
    audit_webhook_config_file: Path | None,
    audit_log_maxsize: int,
    audit_log_maxbackup: int,
    audit_log_maxage: int,
    audit_log_compress: bool,
    audit_log_format: str,
    cors_allowed_origins: str,
    **options: Any,
) -> None:
    """Start a whole cluster in this process; serve until Ctrl-C.

    The kubeconfig is written as soon as the API answers. Prints one line, `ready
    <https-url>`, when also all nodes are Ready, as far as that does not take a
    component that --without leaves out.
    """
    from lifecycle.apiserver.admission.options import AdmissionOptions
    from lifecycle.apiserver.audit.log_file import Rotation
    from lifecycle.apiserver.audit.options import AuditOptions
    from lifecycle.apiserver.filters.cors import check_allowed_origins
    from lifecycle.cluster.background import new_event_loop
    from lifecycle.cluster.cluster_config import ClusterConfig

    def names(text: str) -> tuple[str, ...]:
        return tuple(name for name in text.split(",") if name)

    with refusals():
        admission = AdmissionOptions(enable=names(enable), disable=names(disable))
        rotation = Rotation(
            audit_log_maxsize, audit_log_maxbackup, audit_log_maxage, audit_log_compress
        )
        audit = AuditOptions(
            audit_policy_file,
            audit_log_path,
            audit_webhook_config_file,
            rotation=rotation,
            log_format=audit_log_format,
        )
        audit.check()
        origins = tuple(cors_allowed_origins.split(",")) if cors_allowed_origins else ()
        check_allowed_origins(origins)
        guards: Any = {
            "admission": admission,
            "audit": audit,
            "cors_allowed_origins": origins,
        }
        config = ClusterConfig(without=names(without), **guards, **options)
        config.check()
        with asyncio.Runner(loop_factory=new_event_loop) as runner:
            too_early = runner.run(_serve(config, kubeconfig, context))
    if too_early:  # as a shell says it: 128 and the signal's number
        Refusal("ended by a signal before the cluster was ready").show()
        click.get_current_context().exit(128 + too_early)


def _stop(waiting: asyncio.Future[int], number: int) -> None:
    """A signal has come; only the first one counts."""
    if not waiting.done():
        waiting.set_result(number)


async def _serve(config: Any, kubeconfig: Path, context: str) -> int:
    """Until a signal comes. Returns its number if that was before the cluster was
    ready, else 0.
    """
    from lifecycle.cluster.allocator import give_freed_memory_back
    from lifecycle.cluster.background import favour_throughput
    from lifecycle.cluster.cluster import Cluster

    loop = asyncio.get_running_loop()
    waiting: asyncio.Future[Any] = loop.create_future()
    ends = [signal.SIGINT, signal.SIGTERM]
    if hasattr(signal, "SIGHUP") and signal.getsignal(signal.SIGHUP) != signal.SIG_IGN:
        ends.append(signal.SIGHUP)  # the terminal is gone; `nohup` has it ignored
    for number in ends:
        loop.add_signal_handler(number, _stop, waiting, number)
    cluster = Cluster(config)
    written: list[Path] = []

    def write() -> None:
        cluster.write_kubeconfig(kubeconfig, context)
        written.append(kubeconfig)

    try:
        starting: asyncio.Future[Any] = asyncio.ensure_future(cluster.start(write))
        await asyncio.wait([starting, waiting], return_when=asyncio.FIRST_COMPLETED)
        if not starting.done():
            starting.cancel()
            await asyncio.wait([starting])  # it takes back what it has begun
            for path in written:  # it names a server that is gone
                path.unlink(missing_ok=True)
            return waiting.result()
        await starting
        give_freed_memory_back()
        favour_throughput()
        print(f"ready {cluster.url}", flush=True)
        print(f"kubeconfig: {kubeconfig}", file=sys.stderr, flush=True)
        if cluster.dns is not None:
            ask = (
                f"dig @127.0.0.1 -p {cluster.dns.port}"
                " kubernetes.default.svc.cluster.local"
            )
            print(
                f"dns: 127.0.0.1:{cluster.dns.port} (try {ask})",
                file=sys.stderr,
                flush=True,
            )
        if cluster.machines is not None:
            print(cluster.machines.where, file=sys.stderr, flush=True)
        failing: asyncio.Future[Any] = asyncio.ensure_future(cluster.failure())
        await asyncio.wait([failing, waiting], return_when=asyncio.FIRST_COMPLETED)
        if failing.done():
            await failing
        failing.cancel()
        return 0
    finally:
        waiting.cancel()
        await cluster.stop()
