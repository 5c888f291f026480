"""What an API server can be told on the command line, alone or with a whole cluster
around it.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from lifecycle.cli.authentication_options import (
    authentication_options,
    authentication_settings,
)
from lifecycle.cli.authorization_options import (
    authorization_options,
    authorization_settings,
)

F = TypeVar("F", bound=Callable[..., Any])

DEFAULT_KUBECONFIG = Path("lifecycle.kubeconfig")


def server_options(function: F) -> F:
    """The options; their values belong to `server_settings`, but for `kubeconfig` and
    `context`.
    """
    options = (
        click.option(
            "--store",
            default="memory",
            show_default=True,
            help="Where objects live: memory, sqlite:PATH or etcd:URL.",
        ),
        click.option(
            "--cert-dir",
            type=click.Path(path_type=Path),
            help=(
                "Where the cluster's keys and certificates are kept; by default"
                " PATH.pki beside sqlite:PATH, else nowhere."
            ),
        ),
        click.option(
            "--port",
            "--secure-port",
            "port",
            type=click.IntRange(0, 65535),
            default=0,
            help="Port on 127.0.0.1; 0 picks a free one.",
        ),
        click.option(
            "--kubeconfig",
            type=click.Path(path_type=Path),
            default=DEFAULT_KUBECONFIG,
            show_default=True,
            help="Where to write it.",
        ),
        click.option(
            "--token", default="", help="A bearer token for a user in system:masters."
        ),
        click.option(
            "--context",
            default="lifecycle",
            show_default=True,
            help="Name of the context in the kubeconfig.",
        ),
        click.option("--seed", type=int, help="Make uids and names repeatable."),
        click.option(
            "--enable-admission-plugins",
            "enable",
            default="",
            help="Plugins that are off by default: AlwaysPullImages.",
        ),
        click.option(
            "--disable-admission-plugins",
            "disable",
            default="",
            help="Plugins that are on by default.",
        ),
        click.option(
            "--audit-log-path",
            type=click.Path(path_type=Path),
            help="Write audit events there, a line of JSON each; - is stdout.",
        ),
        click.option(
            "--audit-log-maxsize",
            default=100,
            show_default=True,
            help="Megabytes of a full log file; 0: no limit.",
        ),
        click.option(
            "--audit-log-maxbackup",
            default=100,
            show_default=True,
            help="How many full log files are kept; 0: all.",
        ),
        click.option(
            "--audit-log-maxage",
            default=366,
            show_default=True,
            help="Days that full ones are kept; 0: for ever.",
        ),
        click.option(
            "--audit-log-compress",
            is_flag=True,
            help="Compress full log files with gzip.",
        ),
        click.option(
            "--audit-log-format",
            default="json",
            show_default=True,
            help="How events are written: json or legacy.",
        ),
        click.option(
            "--audit-policy-file",
            type=click.Path(path_type=Path),
            help="A Policy of audit.k8s.io/v1: what to record.",
        ),
        click.option(
            "--audit-webhook-config-file",
            type=click.Path(path_type=Path),
            help="A kubeconfig that says where to post audit events.",
        ),
        authentication_options,
        authorization_options,
        click.option(
            "--encryption-provider-config",
            type=click.Path(path_type=Path),
            help="An EncryptionConfiguration: what lies in the store encrypted.",
        ),
        click.option(
            "--encryption-provider-config-automatic-reload",
            is_flag=True,
            help="Look at that file every minute, and take over what is new in it.",
        ),
        click.option(
            "--cors-allowed-origins",
            default="",
            help=(
                "Web pages that may use the API: regular expressions, with commas"
                " between."
            ),
        ),
    )
    for option in reversed(options):
        function = option(function)
    return function


def server_settings(options: dict[str, Any]) -> dict[str, Any]:
    """What the options say, in the words of `ClusterConfig`; taken out of `options`.
    Raises ValueError, OSError.
    """
    from lifecycle.apiserver.admission.options import AdmissionOptions
    from lifecycle.apiserver.audit.log_file import Rotation
    from lifecycle.apiserver.audit.options import AuditOptions
    from lifecycle.apiserver.filters.cors import check_allowed_origins
    from lifecycle.apiserver.storage.encryption_config.controller import (
        EncryptionOptions,
    )

    rotation = Rotation(
        options.pop("audit_log_maxsize"),
        options.pop("audit_log_maxbackup"),
        options.pop("audit_log_maxage"),
        options.pop("audit_log_compress"),
    )
    audit = AuditOptions(
        options.pop("audit_policy_file"),
        options.pop("audit_log_path"),
        options.pop("audit_webhook_config_file"),
        rotation=rotation,
        log_format=options.pop("audit_log_format"),
    )
    audit.check()
    encryption = EncryptionOptions(
        options.pop("encryption_provider_config"),
        options.pop("encryption_provider_config_automatic_reload"),
    )
    origins = options.pop("cors_allowed_origins")
    allowed = tuple(origins.split(",")) if origins else ()
    check_allowed_origins(allowed)
    return {
        "admission": AdmissionOptions(
            enable=names(options.pop("enable")), disable=names(options.pop("disable"))
        ),
        "audit": audit,
        "authentication": authentication_settings(options),
        "authorization": authorization_settings(options),
        "encryption": encryption,
        "cors_allowed_origins": allowed,
        **{
            name: options.pop(name)
            for name in ("store", "cert_dir", "port", "token", "seed")
        },
    }


def names(text: str) -> tuple[str, ...]:
    """A list with commas between."""
    return tuple(name for name in text.split(",") if name)
