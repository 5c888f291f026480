"""What every component says of itself under `/metrics`, in Prometheus' text format.

Upstream: `component-base/metrics/legacyregistry`, `component-base/version` (build
info), `client-go/tools/metrics` (`rest_client_requests_total`),
`component-base/metrics/prometheus/clientgo/leaderelection`; Prometheus'
`process_collector.go`, v1.36. Left out: histograms.
"""

from __future__ import annotations

import os
import resource
import time
from collections.abc import Iterable, Mapping
from pathlib import Path

from lifecycle.api.version import GIT_COMMIT, KUBERNETES_VERSION, PLATFORM

Sample = tuple[Mapping[str, str], float]
"""Labels, and the value."""

STARTED = time.time()
"""When this process began, nearly: this module is loaded first of all."""


def family(name: str, kind: str, text: str, samples: Iterable[Sample]) -> str:
    """One family; nothing at all without samples. `kind`: counter or gauge."""
    lines = [
        f"{name}{_labels(labels)} {_number(value)}\n"
        for labels, value in sorted(
            samples, key=lambda sample: sorted(sample[0].items())
        )
    ]
    if not lines:
        return ""
    return f"# HELP {name} {text}\n# TYPE {name} {kind}\n{''.join(lines)}"


def _labels(labels: Mapping[str, str]) -> str:
    if not labels:
        return ""
    pairs = (f'{name}="{_escaped(value)}"' for name, value in sorted(labels.items()))
    return f"{{{','.join(pairs)}}}"


def _escaped(value: str) -> str:
    return value.replace("\\", r"\\").replace("\n", r"\n").replace('"', r"\"")


def _number(value: float) -> str:
    return str(int(value)) if value == int(value) else repr(value)


def build_info() -> str:
    """Which Kubernetes this is."""
    version = KUBERNETES_VERSION.removeprefix("v")
    major, minor, _ = version.split(".")
    labels = {
        "git_version": KUBERNETES_VERSION,
        "git_commit": GIT_COMMIT,
        "major": major,
        "minor": minor,
        "platform": PLATFORM,
    }
    text = "A metric with a constant '1' value labeled by version and platform."
    return family("kubernetes_build_info", "gauge", text, [(labels, 1)])


def process() -> str:
    """What this process takes."""
    usage = resource.getrusage(resource.RUSAGE_SELF)
    text = [
        family(
            "process_cpu_seconds_total",
            "counter",
            "Total user and system CPU time spent in seconds.",
            [({}, usage.ru_utime + usage.ru_stime)],
        ),
        family(
            "process_start_time_seconds",
            "gauge",
            "Start time of the process since unix epoch in seconds.",
            [({}, STARTED)],
        ),
    ]
    if Path("/proc/self/statm").exists():
        pages = int(Path("/proc/self/statm").read_text().split()[1])
        text += [
            family(
                "process_open_fds",
                "gauge",
                "Number of open file descriptors.",
                [({}, len(os.listdir("/proc/self/fd")))],
            ),
            family(
                "process_resident_memory_bytes",
                "gauge",
                "Resident memory size in bytes.",
                [({}, pages * resource.getpagesize())],
            ),
        ]
    return "".join(text)


def rest_client_requests(host: str, counts: Mapping[tuple[str, str], int]) -> str:
    """What was asked of the API server; keys are method and status code."""
    return family(
        "rest_client_requests_total",
        "counter",
        "Number of HTTP requests, partitioned by status code, method, and host.",
        (
            ({"code": code, "host": host, "method": method}, count)
            for (method, code), count in counts.items()
        ),
    )


def leader_election_master_status(name: str, leads: bool) -> str:
    """Whether this replica is the one that works."""
    text = (
        "Gauge of if the reporting system is master of the relevant lease, 0 indicates"
        " backup, 1 indicates master. 'name' is the string used to identify the lease."
        " Please make sure to group by name."
    )
    return family(
        "leader_election_master_status", "gauge", text, [({"name": name}, leads)]
    )
