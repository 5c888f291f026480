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

_EVERYTHING = {
    "apiVersion": "audit.k8s.io/v1",
    "kind": "Policy",
    "omitStages": ["RequestReceived"],
    "rules": [{"level": "RequestResponse"}],
}


async def audited(
    argv: Sequence[str] = DEFAULT_COMMAND, config: ClusterConfig | None = None
) -> list[dict[str, Any]]:
    """Follow one kubectl command through a cluster; the audit log that this left.

    Raises FollowError as `follow` does.
    """
    with tempfile.TemporaryDirectory() as folder:
        options = _log_everything(Path(folder))
        await follow(argv, replace(config or ClusterConfig(), audit=options))
        return _read(options)


def _log_everything(folder: Path) -> AuditOptions:
    policy = folder / "policy.yaml"
    policy.write_text(json.dumps(_EVERYTHING))
    return AuditOptions(policy_file=policy, log_path=folder / "audit.jsonl")


def _read(options: AuditOptions) -> list[dict[str, Any]]:
    assert options.log_path is not None
    return [json.loads(line) for line in options.log_path.read_text().splitlines()]
