"""The `--audit-*` flags: a policy from a file, and one backend or two.

Upstream: `apiserver/pkg/server/options/audit.go` (`AuditOptions.ApplyTo`), `pkg/audit/policy/reader.go` (`LoadPolicyFromBytes`),
`pkg/apis/audit/validation/validation.go` (`ValidatePolicy`), v1.36. Left out: the batching flags of the log backend.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import yaml

from lifecycle.api.field_errors import quote
from lifecycle.api.wire import Object
from lifecycle.apiserver.filters.audit_backends import Backend, LogBackend, WebhookBackend
from lifecycle.apiserver.filters.audit_policy import LEVELS, AuditPolicy
from lifecycle.apiserver.webhook_client import WebhookClient, read_webhook_kubeconfig

API_VERSION = "audit.k8s.io/v1"
STAGES = ("RequestReceived", "ResponseStarted", "ResponseComplete", "Panic")


@dataclass(slots=True, frozen=True)
class AuditOptions:
    """Where the policy is, and where events go. `max_wait` (seconds) and `max_batch` are the webhook's."""

    policy_file: Path | None = None
    log_path: Path | None = None
    webhook_config_file: Path | None = None
    max_batch: int = 400
    max_wait: float = 30.0

    def check(self) -> None:
        """Raises ValueError for options that would record nothing."""
        if (self.log_path or self.webhook_config_file) and self.policy_file is None:
            raise ValueError(
                "an audit log without --audit-policy-file records nothing; give it a Policy of audit.k8s.io/v1"
            )
        if self.policy_file is not None and not (self.log_path or self.webhook_config_file):
            raise ValueError("--audit-policy-file needs --audit-log-path or --audit-webhook-config-file")


def load_policy(text: str) -> Object:
    """A policy document. Raises ValueError with upstream's sentence for one that is none."""
    try:
        document = yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise ValueError(f"failed decoding: {error}") from None
    if not isinstance(document, dict) or (document.get("apiVersion"), document.get("kind")) != (API_VERSION, "Policy"):
        said = document if isinstance(document, dict) else {}
        group, _, version = str(said.get("apiVersion", "")).rpartition("/")
        gvk = f"{group}/{version}, Kind={said.get('kind', '')}"
        raise ValueError(f"unknown group version field {gvk} in policy")
    if not document.get("rules"):
        raise ValueError("loaded illegal policy with 0 rules")
    errors = list(_wrong_with(document))
    if errors:
        raise ValueError(errors[0] if len(errors) == 1 else "[" + ", ".join(errors) + "]")
    return document


def _wrong_with(policy: Object) -> list[str]:
    errors = _wrong_stages(policy.get("omitStages"), "omitStages")
    for i, rule in enumerate(policy["rules"]):
        path = f"rules[{i}]"
        level = rule.get("level") or ""
        if not level:
            errors.append(f"{path}.level: Required value")
        elif level not in LEVELS:
            known = ", ".join(map(quote, LEVELS))
            errors.append(f"{path}.level: Unsupported value: {quote(level)}: supported values: {known}")
        if rule.get("nonResourceURLs") and (rule.get("resources") or rule.get("namespaces")):
            errors.append(
                f"{path}.nonResourceURLs: Invalid value: {_go_list(rule['nonResourceURLs'])}: "
                "rules cannot apply to both regular resources and non-resource URLs"
            )
        for j, url in enumerate(rule.get("nonResourceURLs") or ()):
            if url != "*" and not url.startswith("/"):
                errors.append(
                    f"{path}.nonResourceURLs[{j}]: Invalid value: {quote(url)}: "
                    "non-resource URL rules must begin with a '/' character"
                )
            elif "*" in url[:-1]:
                errors.append(
                    f"{path}.nonResourceURLs[{j}]: Invalid value: {quote(url)}: "
                    "non-resource URL wildcards '*' must be the final character of the rule"
                )
        errors += _wrong_stages(rule.get("omitStages"), f"{path}.omitStages")
    return errors


def _wrong_stages(stages: list[str] | None, path: str) -> list[str]:
    known = ", ".join(map(quote, STAGES))
    return [
        f"{path}[{i}]: Invalid value: {quote(stage)}: allowed stages are {known.replace(chr(34), '')}"
        for i, stage in enumerate(stages or ())
        if stage not in STAGES
    ]


def _go_list(values: list[str]) -> str:
    return "[" + ",".join(map(quote, values)) + "]"


def read_policy(path: Path) -> AuditPolicy:
    """The policy of a file. Raises OSError, or ValueError naming the file."""
    try:
        return AuditPolicy(load_policy(path.read_text()))
    except ValueError as error:
        raise ValueError(f"{error}: from file {path}") from None


def build_backends(options: AuditOptions) -> list[Backend]:
    """What the options name. Raises OSError or ValueError for files that cannot be used."""
    backends: list[Backend] = []
    if options.log_path is not None:
        backends.append(LogBackend(options.log_path))
    if options.webhook_config_file is not None:
        client = WebhookClient(read_webhook_kubeconfig(options.webhook_config_file))
        backends.append(WebhookBackend(client, max_batch=options.max_batch, max_wait=options.max_wait))
    return backends
