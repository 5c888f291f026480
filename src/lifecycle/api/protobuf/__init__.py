"""Kubernetes protobuf, the other wire format: what components speak to each other and
what etcd keeps.

The same objects as in JSON, without the field names: `k8s\\0`, then a `runtime.Unknown`
that says which kind follows, then the kind's own message. Everything rests on one
table, `fields.tsv`: message, number, JSON name, type, label, whether Go always writes
it, whether JSON leaves it out when empty. `encode` and `decode` are the table, compiled
on first use.

Upstream: `apimachinery/pkg/runtime/serializer/protobuf/protobuf.go` (`Serializer`), the
`generated.proto` and `types.go` files of `k8s.io/api`, v1.36. Left out: `Table` and
`AdmissionReview` (JSON only here), custom resources (JSON only upstream too), API
versions that are not served.
"""

from lifecycle.api.protobuf.envelope import MAGIC, decode, encode, is_protobuf
from lifecycle.api.protobuf.fields import is_supported
from lifecycle.api.protobuf.watch import decode_watch_frames, encode_watch_frame

__all__ = [
    "MAGIC",
    "decode",
    "decode_watch_frames",
    "encode",
    "encode_watch_frame",
    "is_protobuf",
    "is_supported",
]
