"""A command's journey through our own cluster, read from its audit log."""

from __future__ import annotations

import asyncio

from lifecycle.cluster.audited import audited
from lifecycle.cluster.cluster_config import ClusterConfig
from lifecycle.trace.recorded import requests_of
from lifecycle.trace.writes import writes_of


def test_our_audit_log_tells_the_whole_journey():
    log = asyncio.run(audited(config=ClusterConfig(nodes=2)))
    writes = list(writes_of(requests_of(log)))
    stages = [f"{write.component} {write.stage}" for write in writes]
    assert stages[0] == "kubectl create Deployment"
    assert stages.count("replicaset-controller create Pod") == stages.count("scheduler bind") == 3
    assert stages[-1] == "deployment-controller status of Deployment"
