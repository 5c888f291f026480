"""What is built in this room stays as it was built; the exceptions are known."""

from __future__ import annotations

from tests.changeable import changeable

CHANGEABLE = {
    "overlay.host_gw.HostGwBackend",
    "overlay.lease.LeaseWatcher",
    "overlay.subnet_manager.NodeLeases",
    "overlay.vxlan.VxlanBackend",
    "plugins.host_local.config.IPAMConfig",
    "plugins.portmap_rules.Chain",
    "plugins.skel.CmdArgs",
}
"""What is filled in step by step, or keeps a state: by module and name."""


def test_what_is_built_is_not_changed_afterwards() -> None:
    assert changeable("cni") == CHANGEABLE
