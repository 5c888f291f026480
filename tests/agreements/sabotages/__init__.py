"""Every agreement table, and beside it what turns its rows red."""

from tests.agreements.sabotages import (
    api_server,
    asked_kubelet,
    control_loops,
    control_plane,
    kubectl,
    network,
    node,
    on_the_edge,
    settings,
    workloads,
)
from tests.agreements.sabotages.judged import Judged

JUDGED: tuple[Judged, ...] = (
    *api_server.JUDGED,
    *asked_kubelet.JUDGED,
    *control_loops.JUDGED,
    *control_plane.JUDGED,
    *kubectl.JUDGED,
    *network.JUDGED,
    *node.JUDGED,
    *on_the_edge.JUDGED,
    *settings.JUDGED,
    *workloads.JUDGED,
)
