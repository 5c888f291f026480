"""Tables of breakages: what a hasty programmer might do to our components, and which checks must refuse the result.

One module for each part of the journey. A row that breaks several claims at once costs as much as one that breaks one.
"""

from __future__ import annotations

from tests.claims.broken import api_server, controllers, kubectl, kubelet, runtime, scheduling, storage, wire
from tests.claims.broken.breakage import Breakage

BREAKAGES: tuple[Breakage, ...] = (
    *kubectl.BREAKAGES,
    *api_server.BREAKAGES,
    *storage.BREAKAGES,
    *controllers.BREAKAGES,
    *scheduling.BREAKAGES,
    *kubelet.BREAKAGES,
    *runtime.BREAKAGES,
    *wire.BREAKAGES,
)
