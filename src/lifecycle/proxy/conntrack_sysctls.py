"""How long the kernel remembers connections: settings of a node that kube-proxy makes
when it starts.

A connection whose far end has said goodbye (CLOSE_WAIT) is remembered for a minute by
default. Some programs take longer to answer goodbye; if their flow is forgotten before,
what they still send is not rewritten back, and the far end does not know it. So
kube-proxy asks for an hour. An established connection is forgotten after a day instead
of five.

The size of the table is for all network namespaces of a machine together, and only the
first may write it; kind therefore leaves it alone, and so does this default.

Upstream: `pkg/proxy/conntrack/sysctls.go` (`SetSysctls`), v1.36. Left out: the hash
table's size.
"""

from __future__ import annotations

import logging
from pathlib import Path

from lifecycle.cni.namespaces import with_net_ns_path
from lifecycle.proxy.iptables.config import ConntrackConfig

log = logging.getLogger(__name__)

FOLDER = Path("/proc/sys/net/netfilter")


def set_sysctls(
    config: ConntrackConfig, netns: str, cpus: int, folder: Path = FOLDER
) -> None:
    """Write what differs, in the network namespace at `netns`. What cannot be written
    is logged: rules work without, only not for as long.
    """
    with with_net_ns_path(netns):
        for name, value in config.sysctls(cpus).items():
            file = folder / name
            try:
                if int(file.read_text()) != value:
                    file.write_text(str(value))
            except OSError as error:
                log.warning("%s stays as it is: %s", name, error.strerror)
