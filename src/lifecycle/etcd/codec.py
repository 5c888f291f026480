"""How an object becomes the bytes under its key, and back.

The stored value carries no resourceVersion: the revision of the write *is* the version, and it is put in when the value is read.
The embedded store keeps JSON. A real cluster keeps protobuf; `lifecycle.api.protobuf` reads those values.

Upstream: `apiserver/pkg/storage/etcd3/store.go` (`PrepareObjectForStorage`, `decode`),
`apiserver/pkg/storage/api_object_versioner.go`, v1.36.
"""

from __future__ import annotations

import orjson

from lifecycle.api.wire import Object


def encode_value(obj: Object) -> bytes:
    """The stored form: without resourceVersion and selfLink."""
    metadata = obj["metadata"]
    if "resourceVersion" in metadata:
        metadata = {key: value for key, value in metadata.items() if key != "resourceVersion"}
        obj = {**obj, "metadata": metadata}
    return orjson.dumps(obj)


def decode_value(value: bytes, revision: int) -> Object:
    """The object, its resourceVersion set to the revision that wrote it."""
    obj: Object = orjson.loads(value)
    obj["metadata"]["resourceVersion"] = str(revision)
    return obj
