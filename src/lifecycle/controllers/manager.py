"""kube-controller-manager: all controllers in one process, on one set of informers.

Each controller works under a client of its own, whose user agent names the service
account it acts for, as upstream's do with `--use-service-account-credentials` (over a
network: `client_builder_dynamic.py`); all of them write as field manager
`kube-controller-manager`, the part before the slash.

Upstream: `cmd/kube-controller-manager/app/controllermanager.go`
(`NewControllerDescriptors`, `Run`), v1.36. Left out: leader election (see
`lifecycle.client.leader_election`; one manager per embedded cluster needs none), health
checks.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from typing import Protocol

from lifecycle.api.loop.clock import Clock
from lifecycle.api.names import NameSource
from lifecycle.api.version import user_agent
from lifecycle.client.rest import Client
from lifecycle.client.shared_informer import SharedInformerFactory
from lifecycle.controllers.clusterrole_aggregation import (
    ClusterRoleAggregationController,
)
from lifecycle.controllers.cronjob.cronjob_controller import CronJobController
from lifecycle.controllers.daemonset.daemon_set_controller import DaemonSetController
from lifecycle.controllers.deployment.deployment_controller import DeploymentController
from lifecycle.controllers.disruption.disruption_controller import DisruptionController
from lifecycle.controllers.endpoints.endpoints_controller import EndpointsController
from lifecycle.controllers.endpointslice.endpointslice_controller import (
    EndpointSliceController,
)
from lifecycle.controllers.endpointslicemirroring.endpointslicemirroring_controller import (  # noqa: E501
    EndpointSliceMirroringController,
)
from lifecycle.controllers.ephemeral.ephemeral_controller import (
    EphemeralVolumeController,
)
from lifecycle.controllers.garbagecollector.garbage_collector import GarbageCollector
from lifecycle.controllers.job.job_controller import JobController
from lifecycle.controllers.namespace.namespace_controller import NamespaceController
from lifecycle.controllers.node_lifecycle.node_lifecycle_controller import (
    NodeLifecycleController,
)
from lifecycle.controllers.nodeipam import NodeIPAMController
from lifecycle.controllers.persistentvolume.expand_controller import ExpandController
from lifecycle.controllers.persistentvolume.pv_controller import (
    PersistentVolumeController,
)
from lifecycle.controllers.podautoscaler.horizontal_controller import (
    HorizontalController,
)
from lifecycle.controllers.podgc.gc_controller import PodGCController
from lifecycle.controllers.replicaset.replica_set_controller import ReplicaSetController
from lifecycle.controllers.replication.replication_controller import ReplicationManager
from lifecycle.controllers.resourcequota.resource_quota_controller import (
    ResourceQuotaController,
)
from lifecycle.controllers.root_ca_publisher import RootCACertPublisher
from lifecycle.controllers.serviceaccount.serviceaccounts_controller import (
    ServiceAccountsController,
)
from lifecycle.controllers.serviceaccount.tokens_controller import (
    Issue,
    TokensController,
)
from lifecycle.controllers.servicecidrs import ServiceCIDRsController
from lifecycle.controllers.statefulset.stateful_set_controller import (
    StatefulSetController,
)
from lifecycle.controllers.storageprotection.protection_controllers import (
    PVCProtectionController,
    PVProtectionController,
    VACProtectionController,
)
from lifecycle.controllers.taint_eviction.taint_eviction_controller import (
    TaintEvictionController,
)
from lifecycle.controllers.ttl import TTLController
from lifecycle.controllers.ttlafterfinished.ttl_after_finished_controller import (
    TTLAfterFinishedController,
)
from lifecycle.controllers.validating_admission_policy_status import (
    Check,
    ValidatingAdmissionPolicyStatusController,
)

COMMAND = "kube-controller-manager"


class Controller(Protocol):
    """What the manager runs."""

    async def run(self) -> None:
        """Work until cancelled."""
        ...


class ControllerFactory(Protocol):
    """How a controller is made."""

    def __call__(
        self,
        client: Client,
        informers: SharedInformerFactory,
        *,
        clock: Clock,
        names: NameSource,
    ) -> Controller:
        """Make it; it subscribes to its informers and does nothing else yet."""
        ...


OWN_IDENTITY = "tokens-controller"
"""This one cannot act for an account: before it has run, upstream says, there may be no
tokens for any.
"""

# flag name → (service account, constructor), in upstream's order of names
CONTROLLERS: dict[str, tuple[str, ControllerFactory]] = {
    "clusterrole-aggregation-controller": (
        "clusterrole-aggregation-controller",
        ClusterRoleAggregationController,
    ),
    "cronjob-controller": ("cronjob-controller", CronJobController),
    "daemonset-controller": ("daemon-set-controller", DaemonSetController),
    "deployment-controller": ("deployment-controller", DeploymentController),
    "disruption-controller": ("disruption-controller", DisruptionController),
    "endpoints-controller": ("endpoint-controller", EndpointsController),
    "endpointslice-controller": ("endpointslice-controller", EndpointSliceController),
    "endpointslice-mirroring-controller": (
        "endpointslicemirroring-controller",
        EndpointSliceMirroringController,
    ),
    "ephemeral-volume-controller": (
        "ephemeral-volume-controller",
        EphemeralVolumeController,
    ),
    "garbage-collector-controller": ("generic-garbage-collector", GarbageCollector),
    "horizontal-pod-autoscaler-controller": (
        "horizontal-pod-autoscaler",
        HorizontalController,
    ),
    "job-controller": ("job-controller", JobController),
    "namespace-controller": ("namespace-controller", NamespaceController),
    "node-ipam-controller": ("node-controller", NodeIPAMController),
    "node-lifecycle-controller": ("node-controller", NodeLifecycleController),
    "persistentvolume-binder-controller": (
        "persistent-volume-binder",
        PersistentVolumeController,
    ),
    "persistentvolume-expander-controller": ("expand-controller", ExpandController),
    "persistentvolume-protection-controller": (
        "pv-protection-controller",
        PVProtectionController,
    ),
    "persistentvolumeclaim-protection-controller": (
        "pvc-protection-controller",
        PVCProtectionController,
    ),
    "pod-garbage-collector-controller": ("pod-garbage-collector", PodGCController),
    "replicaset-controller": ("replicaset-controller", ReplicaSetController),
    "replicationcontroller-controller": ("replication-controller", ReplicationManager),
    "resourcequota-controller": ("resourcequota-controller", ResourceQuotaController),
    "root-ca-certificate-publisher-controller": (
        "root-ca-cert-publisher",
        RootCACertPublisher,
    ),
    "service-cidr-controller": ("service-cidrs-controller", ServiceCIDRsController),
    "serviceaccount-controller": (
        "service-account-controller",
        ServiceAccountsController,
    ),
    "serviceaccount-token-controller": (OWN_IDENTITY, TokensController),
    "statefulset-controller": ("statefulset-controller", StatefulSetController),
    "taint-eviction-controller": ("node-controller", TaintEvictionController),
    "ttl-after-finished-controller": (
        "ttl-after-finished-controller",
        TTLAfterFinishedController,
    ),
    "ttl-controller": ("ttl-controller", TTLController),
    "validatingadmissionpolicy-status-controller": (
        "validatingadmissionpolicy-status-controller",
        ValidatingAdmissionPolicyStatusController,
    ),
    "volumeattributesclass-protection-controller": (
        "volumeattributesclass-protection-controller",
        VACProtectionController,
    ),
}


def is_enabled(name: str, controllers: Iterable[str] | str) -> bool:
    """`--controllers`: names, `*` for all, `-name` to leave one out. The first entry
    about a name decides. Upstream: `genericcontrollermanager.IsControllerEnabled`.
    """
    entries = (
        controllers.split(",") if isinstance(controllers, str) else list(controllers)
    )
    for entry in entries:
        if entry in (name, f"-{name}"):
            return entry == name
    return "*" in entries


class ControllerManager:
    """Runs the controllers named by `controllers` (see `is_enabled`).

    `client_for`: makes the client of a controller from its service account's name; by
    default they share the transport (and so the identity) of `client` and differ in
    their user agents. `root_ca` is the PEM that is published as `kube-root-ca.crt`;
    without it nothing is published. `check_policy` finds what is odd about a
    ValidatingAdmissionPolicy; `issue_token` makes the tokens that are kept in secrets.
    `informers`: share somebody else's (who stops them then).
    """

    def __init__(
        self,
        client: Client,
        *,
        clock: Clock,
        names: NameSource,
        controllers: Iterable[str] | str = "*",
        root_ca: str = "",
        cluster_cidr: str = "10.244.0.0/16",
        check_policy: Check | None = None,
        issue_token: Issue | None = None,
        client_for: Callable[[str], Client] | None = None,
        informers: SharedInformerFactory | None = None,
    ) -> None:
        self.informers = informers or SharedInformerFactory(client)
        self._owns_informers = informers is None
        self.controllers: dict[str, Controller] = {}
        make_client = client_for or (
            lambda account: self._default_client(client, account)
        )
        for name, (account, factory) in CONTROLLERS.items():
            if not is_enabled(name, controllers):
                continue
            own = Client(
                client.transport,
                user_agent(COMMAND, account),
                headers=_without_agent(client),
            )
            identity = own if account == OWN_IDENTITY else make_client(account)
            controller = factory(identity, self.informers, clock=clock, names=names)
            if isinstance(controller, RootCACertPublisher):
                controller.root_ca = root_ca
            if isinstance(controller, TokensController):
                controller.root_ca, controller.issue = root_ca, issue_token
            if isinstance(controller, NodeIPAMController):
                controller.set_cluster_cidr(cluster_cidr)
            if isinstance(controller, ValidatingAdmissionPolicyStatusController):
                controller.check = check_policy
            self.controllers[name] = controller

    @staticmethod
    def _default_client(client: Client, account: str) -> Client:
        agent = user_agent(COMMAND, f"system:serviceaccount:kube-system:{account}")
        return Client(client.transport, agent, headers=_without_agent(client))

    async def run(self) -> None:
        """Start the informers and every controller; runs until cancelled. A controller
        that fails takes the manager down.
        """
        self.informers.start()
        try:
            async with asyncio.TaskGroup() as group:
                for name, controller in self.controllers.items():
                    group.create_task(controller.run(), name=name)
        finally:
            if self._owns_informers:
                await self.informers.stop()


def _without_agent(client: Client) -> dict[str, str]:
    return {key: value for key, value in client.headers.items() if key != "user-agent"}
