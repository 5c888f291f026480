"""What a pod's volumes need from other objects before it can start: ConfigMaps and
Secrets.

Nothing is mounted on a hollow node, but what is missing is missing all the same: a
volume keeps the whole pod in `ContainerCreating`.

Upstream: `pkg/kubelet/volumemanager/volume_manager.go` (`WaitForAttachAndMount`),
`pkg/volume/configmap`, `pkg/volume/secret`, v1.36. Left out: everything else about
volumes (see `manager.py`), and the cluster's CA beside a projected token (on a hollow
node nobody reads it; the token itself is asked for, see `sync_pod.py`, because that is
what the API server notices of a pod that starts).
"""

from __future__ import annotations

from collections.abc import Iterator

from lifecycle.api.http.wire import Object
from lifecycle.api.resources import resource
from lifecycle.client.rest import REQUEST_ERRORS, Client
from lifecycle.kubelet.volume.host_path import check_type_on_paper
from lifecycle.kubelet.volume.payloads import VolumeError, non_existent_key

Reference = tuple[str, str, tuple[str, ...]]
"""Resource (`configmaps` or `secrets`), name, and the keys in it that are wanted by
name.
"""


def _reference(plural: str, name: str, source: Object) -> Reference:
    return plural, name, tuple(item["key"] for item in source.get("items") or ())


def volume_references(volume: Object) -> Iterator[Reference]:
    """The objects a volume is made of, optional ones left out."""
    config_map, secret = volume.get("configMap"), volume.get("secret")
    if config_map and not config_map.get("optional"):
        yield _reference("configmaps", config_map.get("name", ""), config_map)
    if secret and not secret.get("optional"):
        yield _reference("secrets", secret.get("secretName", ""), secret)
    sources = (volume.get("projected") or {}).get("sources") or ()
    if any("serviceAccountToken" in source for source in sources):
        return
    for source in sources:
        for field, kind in (("configMap", "configmaps"), ("secret", "secrets")):
            if field in source and not source[field].get("optional"):
                yield _reference(kind, source[field].get("name", ""), source[field])


def volume_names(pod: Object, kind: str) -> set[str]:
    """The volumes that a container uses, be it of its own, an init container or an
    ephemeral one. `kind`: `volumeMounts` or `volumeDevices`. Upstream:
    `GetPodVolumeNames`.
    """
    return {
        each["name"]
        for key in ("initContainers", "containers", "ephemeralContainers")
        for container in pod["spec"].get(key) or ()
        for each in container.get(kind) or ()
    }


def mounted_volumes(pod: Object) -> list[Object]:
    """The volumes that a container uses: nobody waits for another."""
    names = volume_names(pod, "volumeMounts") | volume_names(pod, "volumeDevices")
    return [each for each in pod["spec"].get("volumes") or () if each["name"] in names]


def token_projections(pod: Object) -> Iterator[tuple[str, Object]]:
    """The service account tokens that a pod wants to find: the volume, and the
    projection's source.
    """
    for volume in mounted_volumes(pod):
        for source in (volume.get("projected") or {}).get("sources") or ():
            if "serviceAccountToken" in source:
                yield volume["name"], source["serviceAccountToken"]


class ObjectReferences:
    """Looks references up."""

    def __init__(self, client: Client) -> None:
        self.client = client

    async def get(self, plural: str, name: str, namespace: str) -> Object:
        """The object. Raises LookupError with the text that the kubelet passes on:
        `configmap "x" not found`.
        """
        try:
            return await self.client.get(resource(plural), name, namespace)
        except REQUEST_ERRORS as error:
            raise LookupError(
                str(error).replace(f"{plural} ", plural[:-1] + " ", 1)
            ) from None

    async def missing(self, reference: Reference, namespace: str) -> str:
        """Why a reference cannot be used; empty if it can."""
        plural, name, keys = reference
        try:
            obj = await self.get(plural, name, namespace)
        except LookupError as error:
            return str(error.args[0])
        there = {**(obj.get("data") or {}), **(obj.get("binaryData") or {})}
        absent = next((key for key in keys if key not in there), None)
        return "" if absent is None else non_existent_key(plural, absent)

    async def unmountable_volumes(self, pod: Object) -> list[tuple[str, str]]:
        """Volumes that cannot be set up, and why."""
        failures = []
        for volume in mounted_volumes(pod):
            host_path = volume.get("hostPath") or {}
            try:
                check_type_on_paper(
                    host_path.get("path", "/"), host_path.get("type") or ""
                )
            except VolumeError as error:
                failures.append((volume["name"], str(error)))
            for reference in volume_references(volume):
                reason = await self.missing(reference, pod["metadata"]["namespace"])
                if reason:
                    failures.append((volume["name"], reason))
                    break
        return failures
