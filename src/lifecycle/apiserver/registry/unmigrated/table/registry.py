"""The tables of kinds that have no home of their own yet, by resource."""

from lifecycle.apiserver.registry.printers.printer import Printer
from lifecycle.apiserver.registry.unmigrated.table import (
    access,
    admission,
    autoscaling,
    configuration,
    jobs,
    nodes,
    priorities,
)

PRINTERS: dict[str, Printer] = {}
for _room in (
    access, admission, autoscaling, configuration, jobs, nodes,
    priorities,
):  # fmt: skip
    PRINTERS |= _room.PRINTERS
