"""The `--audit-*` flags: a policy from a file, and one backend or two.

Upstream: `apiserver/pkg/server/options/audit.go` (`AuditOptions.ApplyTo`,
`AuditLogOptions.Validate`), v1.36. Left out: the batching and truncating flags.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from lifecycle.api.aggregate import aggregate
from lifecycle.api.go.format import go_quote
from lifecycle.api.loop.clock import Clock
from lifecycle.apiserver.audit.backends import (
    Backend,
    LogBackend,
    WebhookBackend,
)
from lifecycle.apiserver.audit.log_file import Rotation
from lifecycle.apiserver.webhook.client import (
    WebhookClient,
    read_webhook_kubeconfig,
)

FORMATS = ("legacy", "json")


@dataclass(slots=True, frozen=True)
class AuditOptions:
    """Where the policy is, and where events go. `max_wait` (seconds) and `max_batch`
    are the webhook's; `rotation` and `log_format` are the file's.
    """

    policy_file: Path | None = None
    log_path: Path | None = None
    webhook_config_file: Path | None = None
    max_batch: int = 400
    max_wait: float = 30.0
    rotation: Rotation = field(default_factory=Rotation)
    log_format: str = "json"

    def check(self) -> None:
        """Raises ValueError for options that would record nothing, and for those that
        no server takes.
        """
        if (self.log_path or self.webhook_config_file) and self.policy_file is None:
            raise ValueError(
                "an audit log without --audit-policy-file records nothing; give it a"
                " Policy of audit.k8s.io/v1"
            )
        if self.policy_file is not None and not (
            self.log_path or self.webhook_config_file
        ):
            raise ValueError(
                "--audit-policy-file needs --audit-log-path or"
                " --audit-webhook-config-file"
            )
        if self.log_path is not None:
            self._check_log()

    def _check_log(self) -> None:
        wrong = []
        if self.log_format not in FORMATS:
            known = go_quote(",".join(FORMATS))
            wrong.append(
                f"invalid audit log format {self.log_format}, allowed formats are"
                f" {known}"
            )
        limits = self.rotation
        for flag, value in (
            ("age", limits.max_age),
            ("backup", limits.max_backups),
            ("size", limits.max_size),
        ):
            if value < 0:
                wrong.append(
                    f"--audit-log-max{flag} {value} can't be a negative number"
                )
        if wrong:
            raise ValueError(aggregate(wrong))


def build_backends(options: AuditOptions, clock: Clock) -> list[Backend]:
    """What the options name. Raises OSError or ValueError for files that cannot be
    used.
    """
    backends: list[Backend] = []
    if options.log_path is not None:
        legacy = options.log_format == "legacy"
        backends.append(
            LogBackend(options.log_path, clock, options.rotation, legacy=legacy)
        )
    if options.webhook_config_file is not None:
        client = WebhookClient(read_webhook_kubeconfig(options.webhook_config_file))
        backends.append(
            WebhookBackend(
                client, max_batch=options.max_batch, max_wait=options.max_wait
            )
        )
    return backends
