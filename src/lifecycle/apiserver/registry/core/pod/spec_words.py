"""A pod's spec as words by which it can be known again.

The pods of one template say the same, with one exception: the volume of its token has a
name that the ServiceAccount plugin drew by lot. It stands in the volume and in each
mount, and what it is matters to nobody as long as it is the same in all places. So in
its place the words have a character that no JSON contains, and no other pod can have
there by saying so.

Upstream: `plugin/pkg/admission/serviceaccount/admission.go`
(`ServiceAccountVolumeName`), v1.36.
"""

from __future__ import annotations

import re

from lifecycle.api import fast_json
from lifecycle.api.names import ALPHANUMS
from lifecycle.api.wire import Object

_BY_LOT = re.compile(rb'"kube-api-access-[%b]{5}"' % ALPHANUMS.encode())
_NAMED_AFTER_THE_POD = b'"ephemeral":'


def spec_words(spec: Object, *further: object) -> bytes:
    """The words of a spec, and of whatever else a question depends on. None for a spec
    with volumes whose claims are named after the pod.
    """
    words = fast_json.dumps([spec, *further])
    if _NAMED_AFTER_THE_POD in words:
        return b""
    drawn = _BY_LOT.search(words)
    return words.replace(drawn[0], b'"\x00"') if drawn is not None else words
