"""What the ports of Services and of Endpoints have in common.

Upstream: `pkg/apis/core/validation/validation.go` (`validateServicePort`,
`validateEndpointPort`), v1.36.
"""

from __future__ import annotations

from lifecycle.api.field_errors import FieldError, invalid
from lifecycle.api.http.wire import Object
from lifecycle.api.validation import content
from lifecycle.apiserver.registry.core.pod.containers import PROTOCOLS
from lifecycle.apiserver.registry.rest.enum import validate_required_enum


def validate_number_and_protocol(port: Object, path: str) -> list[FieldError]:
    """A number in range, a known protocol."""
    number, protocol = port.get("port", 0), port.get("protocol", "")
    errors = [
        invalid(f"{path}.port", number, why) for why in content.port_number(number)
    ]
    errors += validate_required_enum(f"{path}.protocol", protocol, PROTOCOLS)
    return errors


def validate_app_protocol(port: Object, path: str) -> list[FieldError]:
    """A qualified name, if any."""
    protocol = port.get("appProtocol")
    if protocol is None:
        return []
    return [
        invalid(f"{path}.appProtocol", protocol, why)
        for why in content.qualified_name(protocol)
    ]
