"""What an API server can be told of who is asking: kube-apiserver's flags."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from lifecycle.cli.go_flags import Duration, flag

if TYPE_CHECKING:
    from lifecycle.apiserver.authn.options import AuthenticationOptions

F = TypeVar("F", bound=Callable[..., Any])


def authentication_options(function: F) -> F:
    """The options; their values belong to `authentication_settings`."""
    options = (
        flag(
            "anonymous-auth",
            default=True,
            text="Let in who does not say who he is; not with AlwaysAllow.",
        ),
        click.option(
            "--token-auth-file",
            type=click.Path(path_type=Path),
            help='Bearer tokens and whose they are: lines of token,user,uid,"groups".',
        ),
        click.option(
            "--authentication-config",
            type=click.Path(path_type=Path),
            help="An AuthenticationConfiguration: whose JSON Web Tokens to believe.",
        ),
        click.option(
            "--authentication-token-webhook-config-file",
            type=click.Path(path_type=Path),
            help="A kubeconfig that says whom to ask about other tokens.",
        ),
        click.option(
            "--authentication-token-webhook-version",
            default="v1beta1",
            show_default=True,
            help="Of the TokenReview that is posted there: v1 or v1beta1.",
        ),
        click.option(
            "--authentication-token-webhook-cache-ttl",
            type=Duration(),
            default="2m0s",
            show_default=True,
            help="How long its answers are believed.",
        ),
    )
    for option in reversed(options):
        function = option(function)
    return function


def authentication_settings(options: dict[str, Any]) -> AuthenticationOptions:
    """What the options say; taken out of `options`. Raises ValueError, OSError."""
    from lifecycle.apiserver.authn.options import AuthenticationOptions
    from lifecycle.apiserver.config_file.api_server import read_authentication_file

    config = options.pop("authentication_config")
    webhook = "authentication_token_webhook"
    settings = AuthenticationOptions(
        token_auth_file=options.pop("token_auth_file"),
        webhook_config_file=options.pop(f"{webhook}_config_file"),
        webhook_version=options.pop(f"{webhook}_version"),
        webhook_cache_ttl=options.pop(f"{webhook}_cache_ttl"),
        configuration={} if config is None else read_authentication_file(config),
        anonymous=options.pop("anonymous_auth"),
    )
    settings.check()
    return settings
