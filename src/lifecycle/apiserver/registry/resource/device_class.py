"""DeviceClasses: kinds of devices that a request can name.

Upstream: `pkg/registry/resource/deviceclass/strategy.go`,
`pkg/printers/internalversion/printers.go` (`printDeviceClass`), v1.36. Left out:
validation beyond the metadata.
"""

from __future__ import annotations

from lifecycle.apiserver.registry.printers.printer import NAME_AND_AGE
from lifecycle.apiserver.registry.rest.generation import Generation
from lifecycle.apiserver.registry.rest.strategy import Strategy

STRATEGY = Strategy(
    generation=Generation.SPEC, returns_deleted_object=True, printer=NAME_AND_AGE
)
