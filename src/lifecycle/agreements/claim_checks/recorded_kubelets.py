"""What recorded kubelets asked of their API server."""

from __future__ import annotations

from lifecycle.inspector import Recording


def with_kubelets(recording: Recording) -> bool:
    """Whether real kubelets ran in that cluster."""
    return bool(recording.nodes())


def requests(recording: Recording, verb: str) -> list[list[str]]:
    """What kubelets asked about pods, by verb: fields of the audit's summary."""
    lines = (
        line.split("\t")
        for line in recording.text("audit/requests-by-component.tsv").splitlines()
    )
    return [
        f
        for f in lines
        if len(f) > 7
        and f[1].startswith("kubelet/")
        and f[3] == verb
        and f[6] == "pods"
        and not f[7]
    ]
