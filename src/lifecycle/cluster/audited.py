"""A journey of our own as an audit log: every answer of the API server, line by line.

The same kind of evidence as a recorded cluster's log, made by our own server on the way
of one command.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from lifecycle.apiserver.audit.options import AuditOptions
from lifecycle.cluster.cluster_config import ClusterConfig
from lifecycle.cluster.follow import DEFAULT_COMMAND, follow

_EVERYTHING = (
    "{apiVersion: audit.k8s.io/v1, kind: Policy,"
    " omitStages: [RequestReceived], rules: [{level: RequestResponse}]}"
)


_CREATED_PODS = (
    "{apiVersion: audit.k8s.io/v1, kind: Policy, rules: [{level: Request, verbs:"
    " [create], resources: [{group: '', resources: [pods]}]}, {level: None}]}"
)


async def audited(
    argv: Sequence[str] = DEFAULT_COMMAND, config: ClusterConfig | None = None
) -> list[dict[str, Any]]:
    """Follow one kubectl command through a cluster; the audit log that this left.

    Raises FollowError as `follow` does.
    """
    with tempfile.TemporaryDirectory() as folder:
        options = _log(Path(folder), _EVERYTHING)
        await follow(argv, replace(config or ClusterConfig(), audit=options))
        return read_log(options)


def log_created_pods(folder: Path) -> AuditOptions:
    """A log of nothing but the requests that create pods: when they came, and when
    they were answered.
    """
    return _log(folder, _CREATED_PODS)


def _log(folder: Path, rules: str) -> AuditOptions:
    policy = folder / "policy.yaml"
    policy.write_text(rules)
    return AuditOptions(policy_file=policy, log_path=folder / "audit.jsonl")


def read_log(options: AuditOptions) -> list[dict[str, Any]]:
    """Its lines so far."""
    assert options.log_path is not None
    return [json.loads(line) for line in options.log_path.read_text().splitlines()]
