"""What is to be in a volume that the API fills: files, their contents and modes.

Without `items` every key becomes a file; with them only those named, where they say. A
key that is missing is an error unless the whole source is optional.

Upstream: `pkg/volume/configmap/configmap.go`, `secret/secret.go` (`MakePayload`),
`downwardapi/downwardapi.go` (`CollectData`), `projected/projected.go` (`collectData`),
v1.36.
"""

from __future__ import annotations

import base64
from collections.abc import Awaitable, Callable, Mapping

from lifecycle.api.aggregate import aggregate
from lifecycle.api.http.wire import Object
from lifecycle.kubelet.container.downward import (
    DownwardError,
    field_value,
    find_container,
    resource_value,
)
from lifecycle.kubelet.volume.atomic_writer import FileProjection

DEFAULT_MODE = 0o644
API_VOLUMES = ("configMap", "secret", "projected", "downwardAPI")
"""The kinds of volumes whose files come from the API."""

GetObject = Callable[[str, str, str], Awaitable[Object]]
"""Takes plural, name and namespace. Raises LookupError with upstream's text."""
GetToken = Callable[[Object, str, int], Awaitable[str]]
"""Takes pod, audience and lifetime in seconds; a service account token bound to the
pod. Raises LookupError.
"""


class VolumeError(Exception):
    """The volume cannot be set up; the text follows `MountVolume.SetUp failed for
    volume "x" : `.
    """


def object_bytes(obj: Object, plural: str) -> dict[str, bytes]:
    """All keys of a ConfigMap or Secret, decoded."""
    if plural == "secrets":
        return {
            key: base64.b64decode(value)
            for key, value in (obj.get("data") or {}).items()
        }
    contents = {key: value.encode() for key, value in (obj.get("data") or {}).items()}
    return contents | {
        key: base64.b64decode(value)
        for key, value in (obj.get("binaryData") or {}).items()
    }


def non_existent_key(plural: str, key: str) -> str:
    """What is said of a key that a volume asks for by name, and that is not there."""
    if plural == "secrets":
        return f"references non-existent secret key: {key}"
    return f"configmap references non-existent config key: {key}"


def make_payload(
    source: Object,
    contents: Mapping[str, bytes],
    mode: int,
    plural: str,
    optional: bool,
) -> dict[str, FileProjection]:
    """Files of one ConfigMap or Secret. Raises VolumeError for a key that is not
    there.
    """
    items = source.get("items")
    if not items:
        return {key: FileProjection(contents[key], mode) for key in sorted(contents)}
    files = {}
    for item in items:
        if item["key"] not in contents:
            if optional:
                continue
            raise VolumeError(non_existent_key(plural, item["key"]))
        files[item["path"]] = FileProjection(
            contents[item["key"]], item.get("mode", mode)
        )
    return files


async def object_payload(
    source: Object, plural: str, name: str, namespace: str, mode: int, get: GetObject
) -> dict[str, FileProjection]:
    """The same, with the object fetched. Raises VolumeError."""
    optional = bool(source.get("optional"))
    try:
        contents = object_bytes(await get(plural, name, namespace), plural)
    except LookupError as error:
        if not optional:
            raise VolumeError(str(error.args[0])) from None
        contents = {}
    return make_payload(source, contents, mode, plural, optional)


def downward_payload(
    items: list[Object],
    pod: Object,
    mode: int,
    status: Object,
    allocatable: Mapping[str, str],
) -> dict[str, FileProjection]:
    """Files of the downward API. Raises VolumeError with every item's complaint."""
    files, errors = {}, []
    for item in items:
        try:
            if item.get("fieldRef"):
                text = field_value(pod, item["fieldRef"]["fieldPath"], status)
            else:
                selector = item["resourceFieldRef"]
                text = resource_value(
                    pod,
                    selector,
                    find_container(pod, selector["containerName"]),
                    allocatable,
                )
        except DownwardError as error:
            errors.append(str(error))
            continue
        files[item["path"]] = FileProjection(text.encode(), item.get("mode", mode))
    if errors:
        raise VolumeError(aggregate(errors))
    return files


async def projected_payload(
    source: Object,
    pod: Object,
    status: Object,
    allocatable: Mapping[str, str],
    get: GetObject,
    get_token: GetToken,
) -> dict[str, FileProjection]:
    """All sources in one directory, later ones winning. Raises VolumeError with every
    source's complaint.

    A token is readable for all, unless the pod runs as one known user: then it is that
    one's alone, and with an `fsGroup` the group's as well.
    """
    namespace = pod["metadata"]["namespace"]
    mode = source.get("defaultMode", DEFAULT_MODE)
    files: dict[str, FileProjection] = {}
    errors: list[str] = []
    for entry in source.get("sources") or ():
        try:
            for field, plural in (("configMap", "configmaps"), ("secret", "secrets")):
                if field in entry:
                    name = entry[field].get("name", "")
                    files |= await object_payload(
                        entry[field], plural, name, namespace, mode, get
                    )
            if "downwardAPI" in entry:
                items = entry["downwardAPI"].get("items") or []
                files |= downward_payload(items, pod, mode, status, allocatable)
            if "serviceAccountToken" in entry:
                files |= await _token_file(
                    entry["serviceAccountToken"], pod, mode, get_token
                )
            if "clusterTrustBundle" in entry:
                bundle = entry["clusterTrustBundle"]
                files |= await _trust_bundle(bundle, pod, mode, get)
        except VolumeError as error:
            errors.append(str(error))
    if errors:
        raise VolumeError(aggregate(errors))
    return files


async def volume_payload(
    volume: Object,
    pod: Object,
    status: Object,
    allocatable: Mapping[str, str],
    get: GetObject,
    get_token: GetToken,
) -> dict[str, FileProjection]:
    """The files of one of `API_VOLUMES`. Raises VolumeError."""
    kind = next(kind for kind in API_VOLUMES if kind in volume)
    source = volume[kind] or {}
    namespace = pod["metadata"]["namespace"]
    mode = source.get("defaultMode", DEFAULT_MODE)
    if kind == "configMap":
        name = source.get("name", "")
        return await object_payload(source, "configmaps", name, namespace, mode, get)
    if kind == "secret":
        name = source.get("secretName", "")
        return await object_payload(source, "secrets", name, namespace, mode, get)
    if kind == "downwardAPI":
        return downward_payload(
            source.get("items") or [], pod, mode, status, allocatable
        )
    return await projected_payload(source, pod, status, allocatable, get, get_token)


async def _token_file(
    source: Object, pod: Object, mode: int, get_token: GetToken
) -> dict[str, FileProjection]:
    try:
        token = await get_token(
            pod, source.get("audience", ""), source.get("expirationSeconds", 3600)
        )
    except LookupError as error:
        raise VolumeError(f"failed to fetch token: {error.args[0]}") from None
    return {source["path"]: _guarded(token.encode(), pod, mode)}


def _guarded(data: bytes, pod: Object, mode: int) -> FileProjection:
    """A file that is only the pod's to read, where it is known who that is. A group is
    let in when the whole volume is given to it.
    """
    user = fs_user(pod)
    group = (pod["spec"].get("securityContext") or {}).get("fsGroup")
    is_known = user is not None or group is not None
    return FileProjection(data, 0o600 if is_known else mode, user)


async def _trust_bundle(
    source: Object, pod: Object, mode: int, get: GetObject
) -> dict[str, FileProjection]:
    if not source.get("name"):
        raise VolumeError(
            "selecting ClusterTrustBundles by signer is not supported here: name one"
        )
    try:
        bundle = await get(
            "clustertrustbundles.certificates.k8s.io", source["name"], ""
        )
    except LookupError as error:
        if source.get("optional"):
            return {source["path"]: _guarded(b"", pod, mode)}
        raise VolumeError(str(error.args[0])) from None
    return {source["path"]: _guarded(bundle["spec"]["trustBundle"].encode(), pod, mode)}


def fs_user(pod: Object) -> int | None:
    """The one user that all containers run as, if there is one. Upstream:
    `FsUserFrom`.
    """
    default = (pod["spec"].get("securityContext") or {}).get("runAsUser")
    spec = pod["spec"]
    users = {
        (container.get("securityContext") or {}).get("runAsUser", default)
        for container in [*spec["containers"], *(spec.get("initContainers") or ())]
    }
    return users.pop() if len(users) == 1 else None
