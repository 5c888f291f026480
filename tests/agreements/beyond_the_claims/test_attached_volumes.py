"""Which volumes a kubelet waits for: those that the control plane attaches, until the node's status lists them by their name."""

from __future__ import annotations

from typing import Any

import pytest

from lifecycle.kubelet.volumemanager.attachable import NotAttached, verify_controller_attached_volume

CSI = {"spec": {"csi": {"driver": "d.example.com", "volumeHandle": "h^1"}}}
NAME = "kubernetes.io/csi/d.example.com^h^1"


def listed(*names: str) -> list[dict[str, Any]]:
    return [{"name": name, "devicePath": ""} for name in names]


@pytest.mark.parametrize(
    ("volume", "attached", "waits"),
    [
        (CSI, listed(), True),
        (CSI, listed(NAME), False),
        (CSI, listed("kubernetes.io/csi/d.example.com^other", NAME), False),
        (CSI, listed(NAME, "kubernetes.io/csi/d.example.com^other"), False),
        (CSI, listed("kubernetes.io/csi/d.example.com^other"), True),
        (CSI, listed("kubernetes.io/csi/other.example.com^h^1"), True),
        (CSI, listed("d.example.com^h^1"), True),
        ({"spec": {"hostPath": {"path": "/data"}}}, listed(), False),
        ({"spec": {"nfs": {}}}, listed("kubernetes.io/csi/d.example.com^other"), False),
    ],
)
def test_a_volume_that_is_attached_from_outside_is_waited_for(
    volume: dict[str, Any], attached: list[dict[str, Any]], waits: bool
) -> None:
    """Upstream: `GenerateVerifyControllerAttachedVolumeFunc`, `GetUniqueVolumeNameFromSpec`."""
    if not waits:
        verify_controller_attached_volume(volume, attached)
        return
    with pytest.raises(NotAttached, match="h\\^1"):
        verify_controller_attached_volume(volume, attached)
