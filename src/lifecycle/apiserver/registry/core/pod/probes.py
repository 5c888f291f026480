"""Probes, hooks and their handlers.

Upstream: `pkg/apis/core/validation/validation.go` (`validateHandler`, `validateProbe`,
`validateLifecycle`), v1.36.
"""

from __future__ import annotations

from typing import Any

from lifecycle.api.field_errors import (
    FieldError,
    forbidden,
    invalid,
    not_supported,
    required,
)
from lifecycle.api.http.wire import Object
from lifecycle.api.validation import content

_PROBE_HANDLERS = ("exec", "httpGet", "tcpSocket", "grpc")
_HOOK_HANDLERS = ("exec", "httpGet", "tcpSocket", "sleep")
_COUNTS = (
    "initialDelaySeconds",
    "timeoutSeconds",
    "periodSeconds",
    "successThreshold",
    "failureThreshold",
)
MORE_THAN_ONE = "may not specify more than 1 handler type"


def validate_port_number_or_name(port: Any, path: str) -> list[FieldError]:
    """A port as a number or a name."""
    messages = (
        content.port_name(port)
        if isinstance(port, str)
        else content.port_number(port or 0)
    )
    return [
        invalid(path, port or 0 if not isinstance(port, str) else port, why)
        for why in messages
    ]


def _http_get(action: Object, path: str) -> list[FieldError]:
    errors = [] if action.get("path") else [required(f"{path}.path")]
    errors += validate_port_number_or_name(action.get("port", 0), f"{path}.port")
    scheme = action.get("scheme", "")
    if scheme not in ("HTTP", "HTTPS"):
        errors.append(not_supported(f"{path}.scheme", scheme, ("HTTP", "HTTPS")))
    for header in action.get("httpHeaders") or ():
        name = header.get("name", "")
        errors += [
            invalid(f"{path}.httpHeaders", name, why)
            for why in content.http_header_name(name)
        ]
    return errors


def _validate_handler(
    handler: Object, kinds: tuple[str, ...], grace_period: int | None, path: str
) -> list[FieldError]:
    errors: list[FieldError] = []
    has_handler = False
    for kind in kinds:
        action = handler.get(kind)
        if action is None:
            continue
        here = f"{path}.{kind}"
        if has_handler:
            errors.append(forbidden(here, MORE_THAN_ONE))
            continue
        has_handler = True
        if kind == "exec":
            if not action.get("command"):
                errors.append(required(f"{here}.command"))
        elif kind == "httpGet":
            errors += _http_get(action, here)
        elif kind == "sleep":
            seconds = action.get("seconds", 0)
            if grace_period is not None and not 0 <= seconds <= grace_period:
                why = (
                    "must be non-negative and less than terminationGracePeriodSeconds"
                    f" ({grace_period})"
                )
                errors.append(invalid(here, seconds, why))
        else:
            errors += validate_port_number_or_name(
                action.get("port", 0), f"{here}.port"
            )
    if not has_handler:
        errors.append(required(path, "must specify a handler type"))
    return errors


def _validate_probe(probe: Object, path: str) -> list[FieldError]:
    errors = _validate_handler(probe, _PROBE_HANDLERS, None, path)
    for field in _COUNTS:
        if probe.get(field, 0) < 0:
            errors.append(
                invalid(
                    f"{path}.{field}",
                    probe[field],
                    "must be greater than or equal to 0",
                )
            )
    period = probe.get("terminationGracePeriodSeconds")
    if period is not None and period <= 0:
        errors.append(
            invalid(
                f"{path}.terminationGracePeriodSeconds",
                period,
                "must be greater than 0",
            )
        )
    return errors


def validate_probes_and_hooks(
    container: Object, grace_period: int | None, path: str
) -> list[FieldError]:
    """Lifecycle hooks and the three probes of a container that may have them."""
    errors: list[FieldError] = []
    lifecycle = container.get("lifecycle")
    if lifecycle is not None:
        for hook in ("postStart", "preStop"):
            if lifecycle.get(hook) is not None:
                errors += _validate_handler(
                    lifecycle[hook],
                    _HOOK_HANDLERS,
                    grace_period,
                    f"{path}.lifecycle.{hook}",
                )
    for name in ("livenessProbe", "readinessProbe", "startupProbe"):
        probe = container.get(name)
        if probe is None:
            continue
        here = f"{path}.{name}"
        errors += _validate_probe(probe, here)
        if name == "readinessProbe":
            if probe.get("terminationGracePeriodSeconds") is not None:
                period = probe["terminationGracePeriodSeconds"]
                errors.append(
                    invalid(
                        f"{here}.terminationGracePeriodSeconds",
                        period,
                        "must not be set for readinessProbes",
                    )
                )
        elif probe.get("successThreshold", 0) != 1:
            errors.append(
                invalid(
                    f"{here}.successThreshold",
                    probe.get("successThreshold", 0),
                    "must be 1",
                )
            )
    return errors
