"""Volumes: what a pod's containers find mounted, and what it takes to put it there.

`payloads` decides what is to be in a ConfigMap, Secret, downward API or projected
volume, `atomic_writer` puts it on disk so that nobody ever sees half of it, `empty_dir`
and `host_path` are the others that need no driver, `manager` brings what is mounted in
line with what pods want, and `mounts` says what each container gets to see.
`references` only looks whether what a pod needs exists: for nodes that are not there.

Upstream: `pkg/kubelet/volumemanager`, `pkg/volume`, v1.36.
"""

from lifecycle.kubelet.volumemanager.references import (
    ObjectReferences,
    token_projections,
    volume_references,
)

__all__ = ["ObjectReferences", "token_projections", "volume_references"]
