"""The admission plugins of a standard cluster.

Upstream: `pkg/kubeapiserver/options/plugins.go` (`DefaultOffAdmissionPlugins` lists all
that are *not* on), kubeadm's `--enable-admission-plugins=NodeRestriction`, v1.36. Left
out: trust bundles (`ClusterTrustBundleAttest`).
"""

from __future__ import annotations

from lifecycle.api.names import NameSource
from lifecycle.apiserver.admission.certificate_signers import (
    CertificateApproval,
    CertificateSigning,
    CertificateSubjectRestriction,
)
from lifecycle.apiserver.admission.chain import Plugin
from lifecycle.apiserver.admission.default_ingress_class import DefaultIngressClass
from lifecycle.apiserver.admission.default_storage_class import DefaultStorageClass
from lifecycle.apiserver.admission.default_toleration_seconds import (
    DefaultTolerationSeconds,
)
from lifecycle.apiserver.admission.limit_ranger import LimitRanger
from lifecycle.apiserver.admission.mutating_policy import MutatingAdmissionPolicy
from lifecycle.apiserver.admission.mutating_webhook import (
    Defaulter,
    MutatingAdmissionWebhook,
)
from lifecycle.apiserver.admission.namespace_lifecycle import NamespaceLifecycle
from lifecycle.apiserver.admission.node_restriction import NodeRestriction
from lifecycle.apiserver.admission.persistent_volume_claim_resize import (
    PersistentVolumeClaimResize,
)
from lifecycle.apiserver.admission.pod_resize_validator import PodResizeValidator
from lifecycle.apiserver.admission.pod_security import PodSecurity
from lifecycle.apiserver.admission.pod_topology_labels import PodTopologyLabels
from lifecycle.apiserver.admission.priority import Priority
from lifecycle.apiserver.admission.runtime_class import RuntimeClass
from lifecycle.apiserver.admission.service_account import ServiceAccount
from lifecycle.apiserver.admission.storage_object_in_use_protection import (
    StorageObjectInUseProtection,
)
from lifecycle.apiserver.admission.taint_nodes_by_condition import TaintNodesByCondition
from lifecycle.apiserver.admission.validating_policy import ValidatingAdmissionPolicy
from lifecycle.apiserver.admission.validating_webhook import ValidatingAdmissionWebhook
from lifecycle.apiserver.authz.authorizer import Authorize
from lifecycle.apiserver.storage.object_reader import ObjectReader
from lifecycle.apiserver.webhook.service_resolver import ServiceResolver


def default_plugins(
    reader: ObjectReader,
    names: NameSource,
    authorize: Authorize | None = None,
    resolver: ServiceResolver | None = None,
    *,
    defaulter: Defaulter,
) -> list[Plugin]:
    """One of each, reading from the server's caches. `names` gives the token volumes
    their suffixes; `authorize` answers the expressions of policies that ask what
    somebody may do; `defaulter` fills in what a mutated object does not say.

    ResourceQuota is not among them: it has to write, so the server's `Config` makes it.
    """
    signers = (
        [CertificateApproval(authorize), CertificateSigning(authorize)]
        if authorize is not None
        else []
    )
    return [
        *signers,
        CertificateSubjectRestriction(),
        NamespaceLifecycle(reader),
        LimitRanger(reader),
        ServiceAccount(reader, names),
        NodeRestriction(reader, authorize),
        TaintNodesByCondition(),
        PodSecurity(reader),
        Priority(reader),
        DefaultTolerationSeconds(),
        DefaultStorageClass(reader),
        StorageObjectInUseProtection(),
        PersistentVolumeClaimResize(reader),
        RuntimeClass(reader),
        DefaultIngressClass(reader),
        PodTopologyLabels(reader),
        PodResizeValidator(reader),
        MutatingAdmissionPolicy(reader, authorize, defaulter=defaulter),
        MutatingAdmissionWebhook(reader, authorize, resolver, defaulter=defaulter),
        ValidatingAdmissionPolicy(reader, authorize),
        ValidatingAdmissionWebhook(reader, authorize, resolver),
    ]
