"""What an API server can be told of who may do what: kube-apiserver's flags."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from lifecycle.cli.go_flags import Duration

if TYPE_CHECKING:
    from lifecycle.apiserver.authz.modes import AuthorizationOptions

F = TypeVar("F", bound=Callable[..., Any])


def authorization_options(function: F) -> F:
    """The options; their values belong to `authorization_settings`."""
    options = (
        click.option(
            "--authorization-mode",
            default="Node,RBAC",
            show_default=True,
            help=(
                "Who is asked, one after the other: AlwaysAllow, AlwaysDeny, ABAC,"
                " Webhook, RBAC, Node."
            ),
        ),
        click.option(
            "--authorization-policy-file",
            type=click.Path(path_type=Path),
            help="What ABAC goes by: a policy in each line.",
        ),
        click.option(
            "--authorization-webhook-config-file",
            type=click.Path(path_type=Path),
            help="A kubeconfig that says which Webhook is asked.",
        ),
        click.option(
            "--authorization-webhook-version",
            default="v1beta1",
            show_default=True,
            help="Of the SubjectAccessReview that is posted there: v1 or v1beta1.",
        ),
        click.option(
            "--authorization-webhook-cache-authorized-ttl",
            type=Duration(),
            default="5m0s",
            show_default=True,
            help="How long its yes holds.",
        ),
        click.option(
            "--authorization-webhook-cache-unauthorized-ttl",
            type=Duration(),
            default="30s",
            show_default=True,
            help="How long its no holds.",
        ),
        click.option(
            "--authorization-config",
            type=click.Path(path_type=Path),
            help="An AuthorizationConfiguration, in place of the other flags.",
        ),
    )
    for option in reversed(options):
        function = option(function)
    return function


def authorization_settings(options: dict[str, Any]) -> AuthorizationOptions:
    """What the options say; taken out of `options`. Raises ValueError."""
    from lifecycle.apiserver.authz.modes import AuthorizationOptions

    webhook = "authorization_webhook"
    settings = AuthorizationOptions(
        modes=tuple(options.pop("authorization_mode").split(",")),
        policy_file=options.pop("authorization_policy_file"),
        webhook_config_file=options.pop(f"{webhook}_config_file"),
        webhook_version=options.pop(f"{webhook}_version"),
        webhook_authorized_ttl=options.pop(f"{webhook}_cache_authorized_ttl"),
        webhook_unauthorized_ttl=options.pop(f"{webhook}_cache_unauthorized_ttl"),
        config=options.pop("authorization_config"),
    )
    settings.check()
    return settings
