"""`k8s\\0` and `runtime.Unknown`: which kind the bytes are.

A message does not say what it is, so every object travels in an envelope with its
`apiVersion` and `kind`. This is also exactly how etcd keeps it: the value of
`/registry/pods/default/nginx` begins with `k8s\\0`.

Upstream: `apimachinery/pkg/runtime/serializer/protobuf/protobuf.go` (`doEncode`,
`Decode`), `runtime/types.go` (`Unknown`), v1.36.
"""

from __future__ import annotations

import struct
from binascii import Error as Base64Error
from functools import lru_cache
from typing import Any

from lifecycle.api.http.wire import Object
from lifecycle.api.protobuf.decoder import decoder
from lifecycle.api.protobuf.encoder import encoder
from lifecycle.api.protobuf.fields import message_for
from lifecycle.api.protobuf.leaves import raw_fields
from lifecycle.api.protobuf.wire_format import delimited

MAGIC = b"k8s\x00"
"""What every encoded object begins with."""

_ENCODING = (  # contentEncoding and contentType, always written, always empty
    b"\x1a\x00\x22\x00"
)


def is_protobuf(data: bytes) -> bool:
    """Whether the bytes are an encoded object. Upstream: `RecognizesData`."""
    return data.startswith(MAGIC)


@lru_cache(maxsize=1024)
def _type_meta(api_version: str, kind: str) -> bytes:
    return MAGIC + delimited(
        b"\x0a",
        delimited(b"\x0a", api_version.encode()) + delimited(b"\x12", kind.encode()),
    )


def encode(obj: Object) -> bytes:
    """An object or list of any supported kind in its envelope.

    Raises ValueError for a kind without a protobuf form, and for values that are not of
    the field's type.
    """
    api_version, kind = obj.get("apiVersion", ""), obj.get("kind", "")
    message = message_for(api_version, kind)
    if message is None:
        raise ValueError(f"{api_version}, Kind={kind} has no protobuf encoding")
    try:
        raw = encoder(message)(obj)
    except (
        TypeError,
        AttributeError,
        ValueError,
        KeyError,
        Base64Error,
        RecursionError,
        OverflowError,
        struct.error,
    ) as error:
        raise ValueError(f"{kind} cannot be encoded to protobuf: {error}") from error
    return _type_meta(api_version, kind) + delimited(b"\x12", raw) + _ENCODING


def decode(data: bytes) -> Object:
    """The object in an envelope, as JSON would have it. Raises ValueError for anything
    malformed or unknown.
    """
    if not data:
        raise ValueError("empty data")
    if not data.startswith(MAGIC):
        raise ValueError(
            "provided data does not appear to be a protobuf message, expected prefix"
            f" [{' '.join(map(str, MAGIC))}]"
        )
    if len(data) == len(MAGIC):
        raise ValueError("empty body")
    try:
        unknown = dict(raw_fields(data[4:]))
        type_meta = dict(raw_fields(unknown.get(1, b"")))
        api_version, kind = (
            type_meta.get(1, b"").decode(),
            type_meta.get(2, b"").decode(),
        )
        return decode_raw(unknown.get(2, b""), api_version, kind)
    except IndexError:
        raise ValueError("unexpected EOF") from None
    except (
        TypeError,
        AttributeError,
        OverflowError,
        RecursionError,
        struct.error,
    ) as error:
        raise ValueError(f"malformed protobuf: {error}") from error


def decode_raw(raw: bytes, api_version: str, kind: str) -> Object:
    """The object of a known kind from its bare message. Raises ValueError for a kind
    without a protobuf form.
    """
    if not kind:
        raise ValueError(
            "Object 'Kind' is missing in"
            f' \'&runtime.TypeMeta{{APIVersion:"{api_version}", Kind:""}}\''
        )
    message = message_for(api_version, kind)
    if message is None:
        raise ValueError(f'no kind "{kind}" is registered for version "{api_version}"')
    obj: dict[str, Any] = {"kind": kind, "apiVersion": api_version}
    obj.update(decoder(message)(raw))
    if kind.endswith("List") and obj.get("items", ()) is None:
        obj[
            "items"
            # the wire cannot tell an empty list from none; of the two only this one is
            # useful
        ] = []
    return obj
