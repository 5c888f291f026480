"""The options a server was made with, as kube-apiserver's command line would name them:
what `/flagz` shows.

Upstream: `cmd/kube-apiserver/app/options/options.go` (`ServerRunOptions.Flags`), v1.36.
Here are only those that make a difference to this server.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from lifecycle.api.go.duration import go_duration
from lifecycle.apiserver.admission.options import AdmissionOptions
from lifecycle.apiserver.audit.options import AuditOptions
from lifecycle.apiserver.authn.options import AuthenticationOptions
from lifecycle.apiserver.authz.modes import AuthorizationOptions
from lifecycle.apiserver.filters.max_in_flight import (
    MAX_MUTATING_REQUESTS,
    MAX_REQUESTS,
)
from lifecycle.apiserver.server.chain import REQUEST_TIMEOUT
from lifecycle.apiserver.storage.encryption_config.controller import EncryptionOptions

KUBEADM_PLUGINS = ("NodeRestriction",)


def server_flags(
    authentication: AuthenticationOptions | None,
    authorization: AuthorizationOptions | None,
    admission: AdmissionOptions | None,
    audit: AuditOptions | None,
    encryption: EncryptionOptions | None,
    cors_allowed_origins: Sequence[str],
    event_ttl: float,
) -> dict[str, Any]:
    """Flags and values; options that were not given are as kubeadm sets them."""
    who, may = (
        authentication or AuthenticationOptions(),
        authorization or AuthorizationOptions(),
    )
    plugins, log = admission or AdmissionOptions(), audit or AuditOptions()
    at_rest = encryption or EncryptionOptions()
    return {
        "anonymous-auth": who.anonymous,
        "authentication-token-webhook-cache-ttl": go_duration(who.webhook_cache_ttl),
        "authentication-token-webhook-config-file": who.webhook_config_file,
        "authentication-token-webhook-version": who.webhook_version,
        "token-auth-file": who.token_auth_file,
        "authorization-config": may.config,
        "authorization-mode": list(may.modes),
        "authorization-policy-file": may.policy_file,
        "authorization-webhook-cache-authorized-ttl": go_duration(
            may.webhook_authorized_ttl
        ),
        "authorization-webhook-cache-unauthorized-ttl": go_duration(
            may.webhook_unauthorized_ttl
        ),
        "authorization-webhook-config-file": may.webhook_config_file,
        "authorization-webhook-version": may.webhook_version,
        "enable-admission-plugins": [*KUBEADM_PLUGINS, *plugins.enable],
        "disable-admission-plugins": list(plugins.disable),
        "audit-log-compress": log.rotation.compress,
        "audit-log-format": log.log_format,
        "audit-log-maxage": log.rotation.max_age,
        "audit-log-maxbackup": log.rotation.max_backups,
        "audit-log-maxsize": log.rotation.max_size,
        "audit-log-path": log.log_path,
        "audit-policy-file": log.policy_file,
        "audit-webhook-batch-max-size": log.max_batch,
        "audit-webhook-batch-max-wait": go_duration(log.max_wait),
        "audit-webhook-config-file": log.webhook_config_file,
        "cors-allowed-origins": list(cors_allowed_origins),
        "encryption-provider-config": at_rest.provider_config,
        "encryption-provider-config-automatic-reload": at_rest.automatic_reload,
        "event-ttl": go_duration(event_ttl),
        "max-mutating-requests-inflight": MAX_MUTATING_REQUESTS,
        "max-requests-inflight": MAX_REQUESTS,
        "request-timeout": go_duration(REQUEST_TIMEOUT),
    }
