"""The tables of kinds that have no home of their own yet, by resource."""

from lifecycle.apiserver.registry.printers.printer import Printer
from lifecycle.apiserver.registry.unmigrated.table import (
    access,
    configuration,
    events,
    nodes,
    pods,
    services,
    volumes,
    workloads,
)

PRINTERS: dict[str, Printer] = {}
for _room in (
    access, configuration, events, nodes, pods,
    services, volumes, workloads,
):  # fmt: skip
    PRINTERS |= _room.PRINTERS
