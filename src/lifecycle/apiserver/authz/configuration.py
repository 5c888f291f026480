"""`AuthorizationConfiguration`: the authorizers as a file, which the server reads again
while it runs.

The flag `--authorization-mode` knows each mode once. The file may name several
webhooks, each with its own time limits, failure policy and conditions. And it can
change under a running server: a new version is checked whole, and only a valid one
takes the place of the old.

Upstream: `apiserver/pkg/apis/apiserver/validation/validation.go`
(`ValidateAuthorizationConfiguration`),
`pkg/kubeapiserver/authorizer/{config,reload}.go`, v1.36. Left out: the once-a-minute
look at the file (`reload` is what it would call), and a webhook reached by the server's
own address (`type: InClusterConfig`).
"""

from __future__ import annotations

from pathlib import Path

from lifecycle.api.field_errors import (
    FieldError,
    duplicate,
    invalid,
    not_supported,
    required,
    too_many,
)
from lifecycle.api.go.duration import go_duration, parse_duration
from lifecycle.api.http.wire import Object, RequestInfo, UserInfo
from lifecycle.api.loop.clock import Clock
from lifecycle.api.validation.content import dns1123_subdomain
from lifecycle.apiserver.authz.always import PrivilegedGroups
from lifecycle.apiserver.authz.authorizer import Answer, Authorizer, UserRules
from lifecycle.apiserver.authz.match_conditions import match_condition
from lifecycle.apiserver.authz.modes import (
    ABAC,
    AUTHORIZATION_MODES,
    WEBHOOK,
    AuthorizationOptions,
    build_authorizers,
    build_simple,
)
from lifecycle.apiserver.authz.union import UnionAuthorizer, aggregate
from lifecycle.apiserver.authz.webhook import WebhookAuthorizer, WebhookSettings
from lifecycle.apiserver.cel.environment import CompileError
from lifecycle.apiserver.config_file.api_server import read_authorization_file
from lifecycle.apiserver.storage.object_reader import ObjectReader
from lifecycle.apiserver.webhook.client import (
    WebhookClient,
    read_webhook_kubeconfig,
)

MAX_CONDITIONS = 64


class ConfiguredAuthorizer:
    """The authorizers of a configuration, exchangeable while requests are served.
    Masters always come first.
    """

    def __init__(self, document: Object, reader: ObjectReader, clock: Clock) -> None:
        self._reader, self._clock = reader, clock
        self._union = self._build(document)

    def reload(self, document: Object) -> None:
        """Take another configuration. Raises ValueError for one that is not valid, and
        then keeps the old.
        """
        self._union = self._build(document)

    @property
    def authorizers(self) -> tuple[Authorizer, ...]:
        """Those in force, in order."""
        return tuple(self._union.authorizers)

    def authorize(self, user: UserInfo, info: RequestInfo) -> Answer:
        """What the authorizers in force say."""
        return self._union.authorize(user, info)

    def rules_for(self, user: UserInfo, namespace: str) -> UserRules:
        """What they can list."""
        return self._union.rules_for(user, namespace)

    def _build(self, document: Object) -> UnionAuthorizer:
        errors = validate_authorization_configuration(document)
        if errors:
            raise ValueError(aggregate([str(error) for error in errors]))
        for entry in document["authorizers"]:
            kind, name = entry["type"], entry["name"]
            if kind != WEBHOOK and name != kind.lower():
                raise ValueError(
                    f"expected name {kind.lower()} for authorizer {kind} instead of"
                    f" {name}"
                )
        built = [self._authorizer(entry) for entry in document["authorizers"]]
        return UnionAuthorizer(PrivilegedGroups(), *built)

    def _authorizer(self, entry: Object) -> Authorizer:
        if entry["type"] == ABAC:
            raise ValueError(
                "invalid authorization config: open : no such file or directory"
            )
        if entry["type"] != WEBHOOK:
            return build_simple(entry["type"], self._reader)
        webhook = {**entry["webhook"], **_times(entry["webhook"])}
        if webhook["connectionInfo"]["type"] == "InClusterConfig":
            raise ValueError(
                "unable to load in-cluster configuration, KUBERNETES_SERVICE_HOST and"
                " KUBERNETES_SERVICE_PORT must be defined"
            )
        connection = read_webhook_kubeconfig(
            Path(webhook["connectionInfo"]["kubeConfigFile"])
        )
        settings = WebhookSettings(
            authorized_ttl=parse_duration(webhook["authorizedTTL"]),
            unauthorized_ttl=parse_duration(webhook["unauthorizedTTL"]),
            failure=webhook["failurePolicy"],
            version=webhook["subjectAccessReviewVersion"],
            conditions=tuple(
                match_condition(each["expression"])
                for each in webhook.get("matchConditions") or ()
            ),
        )
        return WebhookAuthorizer(
            WebhookClient(connection, timeout=parse_duration(webhook["timeout"])),
            self._clock,
            settings,
        )


def validate_authorization_configuration(document: Object) -> list[FieldError]:
    """Everything that is wrong with a configuration."""
    entries = document.get("authorizers") or []
    if not entries:
        return [
            required("authorizers", "at least one authorization mode must be defined")
        ]
    errors: list[FieldError] = []
    types: set[str] = set()
    names: set[str] = set()
    for i, entry in enumerate(entries):
        path, kind, name = (
            f"authorizers[{i}]",
            entry.get("type", ""),
            entry.get("name", ""),
        )
        if not kind:
            errors.append(required(f"{path}.type"))
            continue
        if kind not in AUTHORIZATION_MODES:
            errors.append(
                not_supported(f"{path}.type", kind, sorted(AUTHORIZATION_MODES))
            )
            continue
        if kind in types and kind != WEBHOOK:
            errors.append(duplicate(f"{path}.type", kind))
            continue
        types.add(kind)
        if not name:
            errors.append(required(f"{path}.name"))
        elif name in names:
            errors.append(duplicate(f"{path}.name", name))
        elif wrong := dns1123_subdomain(name):
            errors.append(
                invalid(
                    f"{path}.name",
                    name,
                    f"authorizer name is invalid: {', '.join(wrong)}",
                )
            )
        names.add(name)
        webhook = entry.get("webhook")
        if kind == WEBHOOK and webhook is None:
            errors.append(required(f"{path}.webhook", "required when type=Webhook"))
        elif kind == WEBHOOK:
            errors += _validate_webhook(webhook, path)
        elif webhook is not None:
            errors.append(
                invalid(
                    f"{path}.webhook",
                    "non-null",
                    "may only be specified when type=Webhook",
                )
            )
    return errors


def _validate_webhook(webhook: Object, path: str) -> list[FieldError]:
    errors = _validate_durations(webhook, path)
    version, conditions = (
        webhook.get("subjectAccessReviewVersion", ""),
        webhook.get("matchConditions") or [],
    )
    field = f"{path}.subjectAccessReviewVersion"
    if not version:
        errors.append(required(field))
    elif version not in ("v1", "v1beta1"):
        errors.append(not_supported(field, version, ["v1", "v1beta1"]))
    condition_version = webhook.get("matchConditionSubjectAccessReviewVersion", "")
    field = f"{path}.matchConditionSubjectAccessReviewVersion"
    if not condition_version and conditions:
        errors.append(required(field, "required if match conditions are specified"))
    elif condition_version not in ("", "v1"):
        errors.append(not_supported(field, condition_version, ["v1"]))
    failure = webhook.get("failurePolicy", "")
    if not failure:
        errors.append(required(f"{path}.failurePolicy"))
    elif failure not in ("NoOpinion", "Deny"):
        errors.append(
            not_supported(f"{path}.failurePolicy", failure, ["NoOpinion", "Deny"])
        )
    return (
        errors
        + _validate_connection(webhook.get("connectionInfo") or {}, path)
        + _validate_conditions(conditions, path)
    )


def _times(webhook: Object) -> dict[str, str]:
    """How long an answer is waited for, and kept; what is nothing has its default.
    Upstream: `SetDefaults_WebhookConfiguration`.
    """
    times = {"timeout": webhook.get("timeout", "")}
    for key, default in (("authorizedTTL", "5m"), ("unauthorizedTTL", "30s")):
        text = webhook.get(key, "")
        times[key] = text if text and parse_duration(text) else default
    return times


def _validate_durations(webhook: Object, path: str) -> list[FieldError]:
    errors = []
    for key, text in _times(webhook).items():
        field = f"{path}.{key}"
        try:
            seconds = parse_duration(text) if text else 0.0
        except ValueError as error:
            errors.append(invalid(field, text, str(error)))
            continue
        if seconds == 0:
            errors.append(required(field))
        elif key == "timeout" and not 0 < seconds <= 30:
            errors.append(
                invalid(field, go_duration(seconds), "must be > 0s and <= 30s")
            )
        elif seconds < 0:
            errors.append(invalid(field, go_duration(seconds), "must be > 0s"))
    return errors


def _validate_connection(connection: Object, path: str) -> list[FieldError]:
    kind, file = connection.get("type", ""), connection.get("kubeConfigFile")
    field = f"{path}.connectionInfo"
    if not kind:
        return [required(f"{field}.type")]
    if kind == "InClusterConfig":
        wrong = "can only be set when type=KubeConfigFile"
        return [] if file is None else [invalid(f"{field}.kubeConfigFile", file, wrong)]
    if kind != "KubeConfigFile":
        return [
            not_supported(
                f"{field}.type",
                {"Type": kind, "KubeConfigFile": file},
                ["InClusterConfig", "KubeConfigFile"],
            )
        ]
    if not file:
        return [required(f"{field}.kubeConfigFile")]
    if not Path(file).is_absolute():
        return [invalid(f"{field}.kubeConfigFile", file, "must be an absolute path")]
    if not Path(file).exists():
        return [
            invalid(
                f"{field}.kubeConfigFile",
                file,
                f"error loading file: stat {file}: no such file or directory",
            )
        ]
    if not Path(file).is_file():
        return [invalid(f"{field}.kubeConfigFile", file, "must be a regular file")]
    return []


def _validate_conditions(conditions: list[Object], path: str) -> list[FieldError]:
    if len(conditions) > MAX_CONDITIONS:
        return [too_many(f"{path}.matchConditions", len(conditions), MAX_CONDITIONS)]
    errors, seen = [], set()
    for i, condition in enumerate(conditions):
        field, text = (
            f"{path}.matchConditions[{i}].expression",
            condition.get("expression", ""),
        )
        if not text.strip():
            errors.append(required(field))
        elif text in seen:
            errors.append(duplicate(field, text))
        else:
            seen.add(text)
            try:
                match_condition(text)
            except CompileError as error:
                errors.append(invalid(field, text, str(error)))
    return errors


def build_authorization(
    options: AuthorizationOptions, reader: ObjectReader, clock: Clock
) -> ConfiguredAuthorizer | UnionAuthorizer:
    """The authorizer of a server: of its configuration file if there is one, else of
    its flags. Raises ValueError, OSError.
    """
    if options.config is None:
        return UnionAuthorizer(
            PrivilegedGroups(), *build_authorizers(options, reader, clock)
        )
    options.check()
    document = read_authorization_file(options.config)
    return ConfiguredAuthorizer(document, reader, clock)
