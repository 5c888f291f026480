"""How an object becomes the bytes under its key, and back.

The stored value carries no resourceVersion: the revision of the write *is* the version,
and it is put in when the value is read. There are two forms. The embedded stores keep
JSON, which is what most clients ask for. In a real etcd we keep what a real API server
would: protobuf for the built-in kinds, JSON for custom ones. Reading takes both, since
the first bytes tell them apart.

Upstream: `apiserver/pkg/storage/etcd3/store.go` (`PrepareObjectForStorage`, `decode`),
`apiserver/pkg/storage/api_object_versioner.go`, `kube-apiserver --storage-media-type`,
v1.36. Encryption at rest is a store of its own
(`apiserver.storage.encrypted_store`).
"""

from __future__ import annotations

from lifecycle.api import fast_json, protobuf
from lifecycle.api.http.wire import Object
from lifecycle.api.loop.worker import LARGE
from lifecycle.etcd.store import Store

ENCRYPTED = b"k8s:enc:"
"""How a value begins that went through a transformer of an API server."""

JSON = "application/json"
PROTOBUF = "application/vnd.kubernetes.protobuf"


class UnreadableError(ValueError):
    """An object is there, but whoever has no key to it cannot read it; `str()` says
    why, in upstream's words (`identity.NewEncryptCheckTransformer` and the others).
    """


def storage_media_type(store: Store) -> str:
    """In which form values go into a store: as others expect them where others read
    along.
    """
    return PROTOBUF if store.remote else JSON


def encode_value(obj: Object, media_type: str = JSON, size: int = 0) -> bytes:
    """The stored form of an object, which has about `size` bytes: without
    resourceVersion and selfLink.
    """
    metadata = obj["metadata"]
    if "resourceVersion" in metadata:
        metadata = {
            key: value for key, value in metadata.items() if key != "resourceVersion"
        }
        obj = {**obj, "metadata": metadata}
    if media_type == PROTOBUF and protobuf.is_supported(
        obj.get("apiVersion", ""), obj.get("kind", "")
    ):
        return protobuf.encode(obj)
    if size > LARGE:
        return fast_json.dumps_in_parts(obj)
    return fast_json.trimmed(fast_json.dumps(obj))


def decode_value(value: bytes, revision: int) -> Object:
    """The object, its resourceVersion set to the revision that wrote it. Raises
    ValueError for bytes that are no object, UnreadableError for an encrypted one.
    """
    if value.startswith(ENCRYPTED):
        raise UnreadableError("identity transformer tried to read encrypted data")
    obj: Object = (
        protobuf.decode(value)
        if value.startswith(protobuf.MAGIC)
        else fast_json.loads(value)
    )
    obj["metadata"]["resourceVersion"] = str(revision)
    return obj
