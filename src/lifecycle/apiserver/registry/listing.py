"""Lists: what is selected, in key order, in pages, as of one revision.

A page ends with a continue token that holds the revision and the next key. All pages show the state at that revision, so no
object is missed or seen twice however much is written meanwhile. When the revision has been compacted, the token has expired: 410.

Upstream: `apiserver/pkg/storage/etcd3/store.go` (`GetList`), `storage/continue.go` (`DecodeContinue`, `EncodeContinue`),
`storage/cacher/delegator.go`, v1.36.
"""

from __future__ import annotations

import base64
import re
from dataclasses import dataclass, field

import orjson

from lifecycle.api import status
from lifecycle.api.field_errors import quote
from lifecycle.api.wire import Object
from lifecycle.apiserver.cache_watcher import Criteria
from lifecycle.apiserver.cached_object import Cached
from lifecycle.apiserver.cacher import Cacher
from lifecycle.etcd.store import CompactedError, FutureRevisionError, Store, prefix_end

TOKEN_VERSION = "meta.k8s.io/v1"
EXPIRED = (
    "The provided continue parameter is too old to display a consistent list result. "
    "You can start a new list without the continue parameter."
)  # fmt: skip


@dataclass(slots=True)
class Page:
    """One page: the rows, the list's metadata, and whether it is simply everything in a namespace (then it can be cached)."""

    rows: list[Cached]
    metadata: Object = field(default_factory=dict)
    whole: bool = False


@dataclass(slots=True)
class ListOptions:
    """`resource_version` is "" (consistent), "0" (whatever is there) or a number; `match` is `Exact`, `NotOlderThan` or empty."""

    limit: int = 0
    token: str = ""
    resource_version: str = ""
    match: str = ""


async def list_page(cacher: Cacher, store: Store, criteria: Criteria, options: ListOptions) -> Page:
    """One page. Raises StatusError 400 (bad token or version), 410 (expired), 504 (version from the future)."""
    cacher.catch_up()
    start, revision = "", 0
    if options.token:
        revision, start = decode_continue(options.token, _prefix(cacher, criteria))
        if options.resource_version not in ("", "0"):
            raise status.bad_request("specifying resource version is not allowed when using continue")
        revision = max(revision, 0)
    elif options.resource_version not in ("", "0"):
        revision = parse_revision(options.resource_version)
        if revision > store.revision:
            raise status.too_large_resource_version(revision, store.revision)
        if options.match == "NotOlderThan" or not (options.match or options.limit):  # a page of an old version is exact
            revision = 0
    if revision and revision != store.revision:
        rows = await _past(cacher, store, criteria, revision)
    else:
        revision = store.revision
        rows = cacher.candidates(criteria)
    if start:
        rows = [row for row in rows if row.key >= start]
    whole = criteria.everything and not start and not options.limit
    if not criteria.everything:
        rows = [row for row in rows if criteria.matches(row.obj, cacher.fields_of)]
    metadata: Object = {"resourceVersion": str(revision)}
    if options.limit and len(rows) > options.limit:
        rest = len(rows) - options.limit
        rows = rows[: options.limit]
        metadata["continue"] = encode_continue(revision, rows[-1].key + "\0", _prefix(cacher, criteria))
        if criteria.everything:  # with a selector nobody knows how many of the rest would match
            metadata["remainingItemCount"] = rest
    return Page(rows, metadata, whole)


def _prefix(cacher: Cacher, criteria: Criteria) -> str:
    return f"{cacher.prefix}{criteria.namespace}/" if criteria.namespace else cacher.prefix


async def _past(cacher: Cacher, store: Store, criteria: Criteria, revision: int) -> list[Cached]:
    prefix = _prefix(cacher, criteria)
    try:
        page = await store.range(prefix, prefix_end(prefix), revision=revision)
    except CompactedError:
        raise status.gone(EXPIRED) from None
    except FutureRevisionError as error:
        raise status.too_large_resource_version(revision, error.current) from None
    return [Cached(kv.key, cacher.decode(kv.value, kv.mod_revision), kv.mod_revision) for kv in page.kvs]


def parse_revision(text: str) -> int:
    """A resourceVersion as a number. Raises StatusError 500: that this is the client's fault gets lost in upstream's storage layer."""
    why = "" if re.fullmatch(r"[0-9]+", text) else "invalid syntax"
    if not why and (len(text) > 40 or int(text) >= 1 << 64):
        why = "value out of range"
    if why:
        message = f"resourceVersion: Invalid value: {quote(text)}: strconv.ParseUint: parsing {quote(text)}: {why}"
        raise status.failure(500, "", message)
    return int(text)


def encode_continue(revision: int, next_key: str, prefix: str) -> str:
    """A token for the page that starts at a key."""
    start = next_key.removeprefix(prefix.rstrip("/"))
    token = {"v": TOKEN_VERSION, "rv": revision, "start": start}
    text = orjson.dumps(token).replace(b"\x00", b"\\u0000")
    return base64.urlsafe_b64encode(text).rstrip(b"=").decode()


def decode_continue(token: str, prefix: str) -> tuple[int, str]:
    """Revision (negative: the newest) and first key of a token. Raises StatusError 400 for one we did not make."""
    illegal = re.search(r"[^A-Za-z0-9_-]", token)
    if illegal or len(token) % 4 == 1:
        at = illegal.start() if illegal else len(token) - 1
        raise _invalid_token(f"illegal base64 data at input byte {at}")
    decoded = base64.urlsafe_b64decode(token + "=" * (-len(token) % 4))
    try:
        fields = orjson.loads(decoded)
    except orjson.JSONDecodeError:
        raise _invalid_token(_json_complaint(decoded)) from None
    version = fields.get("v", "") if isinstance(fields, dict) else ""
    if version != TOKEN_VERSION:
        raise _invalid_token(f"server does not recognize this encoded version {version}")
    revision, start = fields.get("rv", 0), fields.get("start", "")
    if type(revision) is not int or revision == 0 or not -(1 << 63) <= revision < 1 << 63:
        raise _invalid_token(f"incorrect encoded start resourceVersion (version {TOKEN_VERSION})")
    if not isinstance(start, str) or not start:
        raise _invalid_token(f"encoded start key empty (version {TOKEN_VERSION})")
    key = "/" + start.removeprefix("/")
    if any(part in ("", ".", "..") for part in key[1:].split("/")):  # nobody ranges over more than was asked for
        raise _invalid_token(start)
    return revision, prefix.rstrip("/") + key


def _invalid_token(why: str) -> status.StatusError:
    return status.bad_request(f"invalid continue token: continue key is not valid: {why}")


def _json_complaint(data: bytes) -> str:
    """What Go's decoder says of bytes that are not JSON."""
    text = data.decode("utf-8", "replace")
    first = text.lstrip(" \t\r\n")[:1] if text.strip() else ""
    if not first:
        return "unexpected end of JSON input"
    char = data.lstrip()[0]
    shown = f"\\u{char:04x}" if char < 0x20 or char >= 0x7F else first
    return f"invalid character '{shown}' looking for beginning of value"
