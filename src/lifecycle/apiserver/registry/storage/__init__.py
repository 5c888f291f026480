"""`storage.k8s.io`: classes of volumes, and their drivers.

Upstream: `pkg/registry/storage`, `pkg/apis/storage`, v1.36.
"""

from lifecycle.apiserver.registry.storage import (
    csi_driver,
    csi_node,
    csi_storage_capacity,
    storage_class,
    volume_attachment,
    volume_attributes_class,
)

STRATEGIES = {
    ("storage.k8s.io/v1", "CSIDriver"): csi_driver.STRATEGY,
    ("storage.k8s.io/v1", "CSINode"): csi_node.STRATEGY,
    ("storage.k8s.io/v1", "CSIStorageCapacity"): csi_storage_capacity.STRATEGY,
    ("storage.k8s.io/v1", "StorageClass"): storage_class.STRATEGY,
    ("storage.k8s.io/v1", "VolumeAttachment"): volume_attachment.STRATEGY,
    ("storage.k8s.io/v1", "VolumeAttributesClass"): volume_attributes_class.STRATEGY,
}
