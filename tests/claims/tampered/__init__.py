"""Tables of tampered evidence: recordings of clusters that are otherwise in one point, and the checks that must refuse them."""

from __future__ import annotations

from tests.claims.tampered import answers, commands, logs_and_nodes, watches
from tests.claims.tampered.tamper import Tamper

TAMPERS: tuple[Tamper, ...] = (*answers.TAMPERS, *commands.TAMPERS, *watches.TAMPERS, *logs_and_nodes.TAMPERS)
