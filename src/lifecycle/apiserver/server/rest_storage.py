"""A cache and a registry for every resource that is stored.

Upstream: `pkg/controlplane/instance.go` (`RESTStorageProvider`,
`InstallAPIs`), v1.36.
"""

from __future__ import annotations

from collections.abc import Iterator

from lifecycle.api.resources import Resource, all_resources
from lifecycle.apiserver.apiextensions.definition_store import DefinitionStore
from lifecycle.apiserver.apis.autoscaler_versions import AUTOSCALING_V1, to_v1
from lifecycle.apiserver.apis.event_versions import EVENTS, from_core
from lifecycle.apiserver.endpoints.resource_handler import storable
from lifecycle.apiserver.registry.autoscaling.horizontal_pod_autoscaler.store import (
    AutoscalerV1Store,
)
from lifecycle.apiserver.registry.certificates.certificate_signing_request.store import (  # noqa: E501
    CertificateSigningRequestStore,
)
from lifecycle.apiserver.registry.core.service.store import ServiceStore
from lifecycle.apiserver.registry.event_stores import CoreEventStore, EventStore
from lifecycle.apiserver.registry.resource.stores import (
    ClaimStore,
    ClaimTemplateStore,
)
from lifecycle.apiserver.registry.store import Environment, ResourceStore
from lifecycle.apiserver.registry.strategies import strategy_for
from lifecycle.apiserver.storage.cacher.cacher import Cacher
from lifecycle.etcd.keys import resource_prefix
from lifecycle.etcd.store import Store

FROM_STORAGE = {
    (EVENTS, "events"): from_core,
    (AUTOSCALING_V1, "horizontalpodautoscalers"): to_v1,
}
"""How a cache shows what is stored in another version."""

SPECIAL_STORES: dict[tuple[str, str], type[ResourceStore]] = {
    ("", "services"): ServiceStore,
    ("", "events"): CoreEventStore,
    ("events.k8s.io", "events"): EventStore,
    (AUTOSCALING_V1, "horizontalpodautoscalers"): AutoscalerV1Store,
    (
        "certificates.k8s.io",
        "certificatesigningrequests",
    ): CertificateSigningRequestStore,
    ("apiextensions.k8s.io", "customresourcedefinitions"): DefinitionStore,
    ("resource.k8s.io", "resourceclaims"): ClaimStore,
    ("resource.k8s.io", "resourceclaimtemplates"): ClaimTemplateStore,
}


def new_cachers(store: Store) -> dict[tuple[str, str], Cacher]:
    """A watch cache for each resource, by `(group, plural)`."""
    cachers: dict[tuple[str, str], Cacher] = {}
    stored: dict[str, Cacher] = {}  # by what the keys begin with
    for row in _stored():
        from_storage = FROM_STORAGE.get((row.api_version, row.plural))
        prefix = resource_prefix(row)
        cacher = cachers[row.store_key] = Cacher(
            store,
            row,
            strategy_for(row.api_version, row.kind).field_labels.selectable_fields,
            from_storage,
            # whatever an event says, it has both faces: they may be shown later
            stored.get(prefix) if from_storage is from_core else None,
        )
        if from_storage is None:
            stored[prefix] = cacher
    return cachers


def new_stores(environment: Environment) -> dict[tuple[str, str], ResourceStore]:
    """A registry for each resource, over the caches of the environment."""
    return {
        row.store_key: SPECIAL_STORES.get(row.store_key, ResourceStore)(
            row, environment, strategy_for(row.api_version, row.kind)
        )
        for row in _stored()
    }


def _stored() -> Iterator[Resource]:
    return (row for row in all_resources() if storable(row))
