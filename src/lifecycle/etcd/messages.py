"""The messages of etcd's calls, made at run time from tables of names and numbers.

`new("RangeRequest", {"key": b"/a"})` is a message; what it contains may be given as
dicts. An answer's fields are its attributes; what an answer leaves out is zero.

Upstream: etcd `api/etcdserverpb/rpc.proto`, `api/mvccpb/kv.proto`, v3.6: `fields.tsv`
and `enums.tsv` hold what our calls need of them. On the wire no message says its
package, so the two packages are one here.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

from lifecycle.api.protobuf.declared import declared_messages
from lifecycle.etcd.store import Event, KeyValue

PACKAGE = "etcdserverpb"
EVENT_TYPES = ("PUT", "DELETE")

Message = Any
"""An instance of a class that `message_class` knows."""


@cache
def _classes() -> dict[str, Any]:
    return {**declared_messages(PACKAGE, __package__)}


def message_class(name: str) -> Any:
    """The class of a message such as `TxnRequest`. Raises KeyError."""
    return _classes()[name]


def new(name: str, fields: Mapping[str, Any]) -> Message:
    """A message with these fields. Raises ValueError for one that it does not have."""
    return _classes()[name](**fields)


def key_value(message: Message) -> KeyValue:
    """A `mvccpb.KeyValue`."""
    return KeyValue(
        message.key.decode(),
        message.value,
        message.create_revision,
        message.mod_revision,
        message.version,
        message.lease,
    )


def event_of(message: Message) -> Event:
    """A `mvccpb.Event`."""
    return Event(
        EVENT_TYPES[message.type],
        key_value(message.kv),
        key_value(message.prev_kv) if message.HasField("prev_kv") else None,
    )
