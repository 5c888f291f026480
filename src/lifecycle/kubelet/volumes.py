"""What a pod needs from other objects before it can start: ConfigMaps and Secrets, as volumes and as environment.

Nothing is mounted on a hollow node, but what is missing is missing all the same: a volume keeps the whole pod in
`ContainerCreating`, an environment variable keeps its container in `CreateContainerConfigError`.

Upstream: `pkg/kubelet/volumemanager/volume_manager.go` (`WaitForAttachAndMount`), `pkg/volume/configmap`,
`pkg/volume/secret`, `pkg/kubelet/kubelet_pods.go` (`makeEnvironmentVariables`), v1.36. Left out: everything else
about volumes; the projected service account token and its CA (on a hollow node nobody reads them, and with thousands
of pods asking for them would be half the work).
"""

from __future__ import annotations

from collections.abc import Iterator

from lifecycle.api.resources import resource
from lifecycle.api.status import StatusError
from lifecycle.api.wire import Object
from lifecycle.client.rest import Client

Reference = tuple[str, str, str]
"""Resource (`configmaps` or `secrets`), name, and a key in it (empty: none in particular)."""


def volume_references(volume: Object) -> Iterator[Reference]:
    """The objects a volume is made of, optional ones left out."""
    config_map, secret = volume.get("configMap"), volume.get("secret")
    if config_map and not config_map.get("optional"):
        yield "configmaps", config_map.get("name", ""), ""
    if secret and not secret.get("optional"):
        yield "secrets", secret.get("secretName", ""), ""
    sources = (volume.get("projected") or {}).get("sources") or ()
    if any("serviceAccountToken" in source for source in sources):
        return
    for source in sources:
        for field, kind in (("configMap", "configmaps"), ("secret", "secrets")):
            if field in source and not source[field].get("optional"):
                yield kind, source[field].get("name", ""), ""


def environment_references(container: Object) -> Iterator[Reference]:
    """The objects a container's environment is made of, optional ones left out."""
    for source in container.get("envFrom") or ():
        for field, kind in (("configMapRef", "configmaps"), ("secretRef", "secrets")):
            if field in source and not source[field].get("optional"):
                yield kind, source[field]["name"], ""
    for variable in container.get("env") or ():
        value = variable.get("valueFrom") or {}
        for field, kind in (("configMapKeyRef", "configmaps"), ("secretKeyRef", "secrets")):
            if field in value and not value[field].get("optional"):
                yield kind, value[field]["name"], value[field]["key"]


class ObjectReferences:
    """Looks references up."""

    def __init__(self, client: Client) -> None:
        self._client = client

    async def missing(self, reference: Reference, namespace: str) -> str:
        """Why a reference cannot be used; empty if it can."""
        kind, name, key = reference
        try:
            found = await self._client.get(resource(kind), name, namespace)
        except StatusError as error:
            return error.message.replace(f"{kind} ", kind[:-1] + " ", 1)
        if key and key not in (found.get("data") or {}) and key not in (found.get("binaryData") or {}):
            what = "ConfigMap" if kind == "configmaps" else "Secret"
            return f"couldn't find key {key} in {what} {namespace}/{name}"
        return ""

    async def unmountable_volumes(self, pod: Object) -> list[tuple[str, str]]:
        """Volumes that cannot be set up, and why."""
        found = []
        for volume in pod["spec"].get("volumes") or ():
            for reference in volume_references(volume):
                why = await self.missing(reference, pod["metadata"]["namespace"])
                if why:
                    found.append((volume["name"], why))
                    break
        return found

    async def environment_error(self, pod: Object, container: Object) -> str:
        """Why a container's environment cannot be made; empty if it can."""
        for reference in environment_references(container):
            why = await self.missing(reference, pod["metadata"]["namespace"])
            if why:
                return why
        return ""
