"""What each source of a volume has to show: its type in words, and its fields in their
order.

Upstream: `kubectl/pkg/describe/describe.go` (`print…VolumeSource`), v1.36.
"""

from __future__ import annotations

from typing import Any, NamedTuple

Text, Flag, Number = "", False, 0
"""What a field is when it is not set."""


class Field(NamedTuple):
    """A line of a source: its title, with a colon except where upstream forgot it; the
    field's name; and what stands there without one.
    """

    title: str
    name: str
    unset: Any = Text


FS_TYPE, READ_ONLY = Field("FSType:", "fsType"), Field("ReadOnly:", "readOnly", Flag)
SECRET_REF = Field("SecretRef:", "secretRef")
OPTIONAL = Field("Optional:", "optional", Flag)
_DISK = "a Persistent Disk resource in"
_ISCSI = (
    "ISCSI (an ISCSI Disk resource that is attached to a kubelet's host machine and"
    " then exposed to the pod)"
)
_SCALE_IO = (
    Field("Gateway:", "gateway"),
    Field("System:", "system"),
    Field("Protection Domain:", "protectionDomain"),
    Field("Storage Pool:", "storagePool"),
    Field("Storage Mode:", "storageMode"),
    Field("VolumeName:", "volumeName"),
)
SOURCES: dict[str, tuple[str, tuple[Field, ...]]] = {
    "hostPath": (
        "HostPath (bare host directory volume)",
        (Field("Path:", "path"), Field("HostPathType:", "type", "<none>")),
    ),
    "gcePersistentDisk": (
        f"GCEPersistentDisk ({_DISK} Google Compute Engine)",
        (
            Field("PDName:", "pdName"),
            FS_TYPE,
            Field("Partition:", "partition", Number),
            READ_ONLY,
        ),
    ),
    "awsElasticBlockStore": (
        f"AWSElasticBlockStore ({_DISK} AWS)",
        (
            Field("VolumeID:", "volumeID"),
            FS_TYPE,
            Field("Partition:", "partition", Number),
            READ_ONLY,
        ),
    ),
    "gitRepo": (
        "GitRepo (a volume that is pulled from git when the pod is created)",
        (Field("Repository:", "repository"), Field("Revision:", "revision")),
    ),
    "secret": (
        "Secret (a volume populated by a Secret)",
        (Field("SecretName:", "secretName"), OPTIONAL),
    ),
    "configMap": (
        "ConfigMap (a volume populated by a ConfigMap)",
        (Field("Name:", "name"), OPTIONAL),
    ),
    "nfs": (
        "NFS (an NFS mount that lasts the lifetime of a pod)",
        (Field("Server:", "server"), Field("Path:", "path"), READ_ONLY),
    ),
    "iscsi": (
        _ISCSI,
        (
            Field("TargetPortal:", "targetPortal"),
            Field("IQN:", "iqn"),
            Field("Lun:", "lun", Number),
            Field("ISCSIInterface", "iscsiInterface"),
            FS_TYPE,
            READ_ONLY,
            Field("Portals:", "portals", []),
            Field("DiscoveryCHAPAuth:", "chapAuthDiscovery", Flag),
            Field("SessionCHAPAuth:", "chapAuthSession", Flag),
            SECRET_REF,
            Field("InitiatorName:", "initiatorName", "<none>"),
        ),
    ),
    "glusterfs": (
        "Glusterfs (a Glusterfs mount on the host that shares a pod's lifetime)",
        (Field("EndpointsName:", "endpoints"), Field("Path:", "path"), READ_ONLY),
    ),
    "persistentVolumeClaim": (
        "PersistentVolumeClaim (a reference to a PersistentVolumeClaim in the same"
        " namespace)",
        (Field("ClaimName:", "claimName"), READ_ONLY),
    ),
    "rbd": (
        "RBD (a Rados Block Device mount on the host that shares a pod's lifetime)",
        (
            Field("CephMonitors:", "monitors", []),
            Field("RBDImage:", "image"),
            FS_TYPE,
            Field("RBDPool:", "pool"),
            Field("RadosUser:", "user"),
            Field("Keyring:", "keyring"),
            SECRET_REF,
            READ_ONLY,
        ),
    ),
    "quobyte": (
        "Quobyte (a Quobyte mount on the host that shares a pod's lifetime)",
        (Field("Registry:", "registry"), Field("Volume:", "volume"), READ_ONLY),
    ),
    "azureDisk": (
        "AzureDisk (an Azure Data Disk mount on the host and bind mount to the pod)",
        (
            Field("DiskName:", "diskName"),
            Field("DiskURI:", "diskURI"),
            Field("Kind: ", "kind"),
            FS_TYPE,
            Field("CachingMode:", "cachingMode"),
            READ_ONLY,
        ),
    ),
    "vsphereVolume": (
        f"vSphereVolume ({_DISK} vSphere)",
        (
            Field("VolumePath:", "volumePath"),
            FS_TYPE,
            Field("StoragePolicyName:", "storagePolicyName"),
        ),
    ),
    "cinder": (
        f"Cinder ({_DISK} OpenStack)",
        (Field("VolumeID:", "volumeID"), FS_TYPE, READ_ONLY, SECRET_REF),
    ),
    "photonPersistentDisk": (
        f"PhotonPersistentDisk ({_DISK} photon platform)",
        (Field("PdID:", "pdID"), FS_TYPE),
    ),
    "portworxVolume": (
        "PortworxVolume (a Portworx Volume resource)",
        (Field("VolumeID:", "volumeID"),),
    ),
    "scaleIO": (
        "ScaleIO (a persistent volume backed by a block device in ScaleIO)",
        (*_SCALE_IO, FS_TYPE, READ_ONLY),
    ),
    "local": (
        "LocalVolume (a persistent volume backed by local storage on a node)",
        (Field("Path:", "path"),),
    ),
    "cephfs": (
        "CephFS (a CephFS mount on the host that shares a pod's lifetime)",
        (
            Field("Monitors:", "monitors", []),
            Field("Path:", "path"),
            Field("User:", "user"),
            Field("SecretFile:", "secretFile"),
            SECRET_REF,
            READ_ONLY,
        ),
    ),
    "storageos": (
        "StorageOS (a StorageOS Persistent Disk resource)",
        (
            Field("VolumeName:", "volumeName"),
            Field("VolumeNamespace:", "volumeNamespace"),
            FS_TYPE,
            READ_ONLY,
        ),
    ),
    "fc": (
        "FC (a Fibre Channel disk)",
        (
            Field("TargetWWNs:", "targetWWNs"),
            Field("LUN:", "lun", "<none>"),
            FS_TYPE,
            READ_ONLY,
        ),
    ),
    "azureFile": (
        "AzureFile (an Azure File Service mount on the host and bind mount to the pod)",
        (
            Field("SecretName:", "secretName"),
            Field("ShareName:", "shareName"),
            READ_ONLY,
        ),
    ),
    "flexVolume": (
        "FlexVolume (a generic volume resource that is provisioned/attached using an"
        " exec based plugin)",
        (
            Field("Driver:", "driver"),
            FS_TYPE,
            SECRET_REF,
            READ_ONLY,
            Field("Options:", "options", {}),
        ),
    ),
    "flocker": (
        "Flocker (a Flocker volume mounted by the Flocker agent)",
        (Field("DatasetName:", "datasetName"), Field("DatasetUUID:", "datasetUUID")),
    ),
    "csi": (
        "CSI (a Container Storage Interface (CSI) volume source)",
        (Field("Driver:", "driver"), FS_TYPE, READ_ONLY),
    ),
    "image": (
        "Image (a container image or OCI artifact)",
        (Field("Reference:", "reference"), Field("PullPolicy:", "pullPolicy")),
    ),
}
PERSISTENT: dict[str, tuple[Field, ...]] = {
    "glusterfs": (
        Field("EndpointsName:", "endpoints"),
        Field("EndpointsNamespace:", "endpointsNamespace", "<unset>"),
        Field("Path:", "path"),
        READ_ONLY,
    ),
    "scaleIO": (
        *_SCALE_IO,
        Field("SecretName:", "secretRef.name"),
        Field("SecretNamespace:", "secretRef.namespace"),
        FS_TYPE,
        READ_ONLY,
    ),
    "azureFile": (
        Field("SecretName:", "secretName"),
        Field("SecretNamespace:", "secretNamespace"),
        Field("ShareName:", "shareName"),
        READ_ONLY,
    ),
    "csi": (
        Field("Driver:", "driver"),
        FS_TYPE,
        Field("VolumeHandle:", "volumeHandle"),
        READ_ONLY,
    ),
}
"""What differs where the source is that of a PersistentVolume."""
