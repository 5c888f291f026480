"""Lists: what is selected, in key order, in pages, as of one revision.

A page ends with a continue token that holds the revision and the next key. All pages
show the state at that revision, so no object is missed or seen twice however much is
written meanwhile. When the revision has been compacted, the token has expired: 410.

Upstream: `apiserver/pkg/storage/cacher/cacher.go` (`GetList`, `computeListLimit`),
`storage/interfaces.go` (`ValidateListOptions`), `storage/continue.go`
(`DecodeContinue`, `EncodeContinue`), `storage/etcd3/errors.go`
(`handleCompactedErrorForPaging`), v1.36.
"""

from __future__ import annotations

import base64
import re
from bisect import bisect_left
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

from lifecycle.api import fast_json, status
from lifecycle.api.go.format import go_quote
from lifecycle.api.go.json.decode import json_type, wrong_type
from lifecycle.api.http.wire import Object
from lifecycle.api.loop.worker import beside
from lifecycle.apiserver.http.json_bodies import read_json
from lifecycle.apiserver.storage.cacher.cache_watcher import Criteria
from lifecycle.apiserver.storage.cacher.cached_object import Cached
from lifecycle.apiserver.storage.cacher.cacher import Cacher
from lifecycle.etcd.store import CompactedError, FutureRevisionError, Store, prefix_end

TOKEN_VERSION = "meta.k8s.io/v1"
EXPIRED = "The resourceVersion for the provided list is too old."
CONTINUE_EXPIRED = (
    "The provided continue parameter is too old to display a consistent list result. "
    "You can start a new list without the "
    "continue parameter, or use the continue token in this response to retrieve the "
    "remainder of the results. Continuing with "
    "the provided token results in an inconsistent list - objects that were created, "
    "modified, or deleted between the time the "
    "first chunk was returned and now may show up in the list."
)  # fmt: skip
NEWEST = -1
"""In a continue token: go on with whatever there is by now."""


@dataclass(slots=True)
class Page:
    """One page: the rows, the list's metadata, whether it is simply everything in a
    namespace (then it can be cached), and whether it is of an older revision (then no
    row has its JSON yet).
    """

    rows: list[Cached]
    metadata: Object = field(default_factory=dict)
    whole: bool = False
    past: bool = False

    @property
    def size(self) -> int:
        """Bytes of JSON, about. Where nobody has asked for an object's yet, most have
        a kilobyte.
        """
        return sum(row.size or 1024 for row in self.rows)


@dataclass(slots=True)
class ListOptions:
    """`resource_version` is "" (consistent), "0" (whatever is there) or a number;
    `match` is `Exact`, `NotOlderThan` or empty.
    """

    limit: int = 0
    token: str = ""
    resource_version: str = ""
    match: str = ""


async def list_page(
    cacher: Cacher, store: Store, criteria: Criteria, options: ListOptions
) -> Page:
    """One page. Raises StatusError 400 (bad token or version), 410 (expired), 504
    (version from the future).
    """
    cacher.catch_up()
    if cacher.unreadable:
        if options.resource_version == "0":
            cacher.unreadable.check_cache()
        cacher.unreadable.check_list(_prefix(cacher, criteria))
    cacher.consistent_reads += not options.resource_version and not options.token
    start, revision = _validate(cacher, store, criteria, options)
    limit = (
        0 if options.resource_version == "0" else options.limit
    )  # who asks for "0" gets what the cache holds, in one piece
    past = bool(revision) and revision != store.revision
    if past:
        candidates, count = await _past(cacher, store, criteria, revision, start, limit)
    else:
        revision = store.revision
        candidates = cacher.candidates(criteria, indexed=not limit)
        if start:
            first = bisect_left(candidates, start, key=lambda row: row.key)
            candidates = candidates[first:]
        count = len(candidates)
    if criteria.everything:
        rows = candidates[:limit] if limit else candidates
    else:
        rows = await beside(
            len(candidates) * criteria.size,
            _selected,
            candidates,
            criteria,
            cacher.fields_of,
            limit,
        )
    # whether any of the rest would match, nobody looks: the last page of a selection
    # may turn out to be empty
    more = (
        bool(limit)
        and len(rows) == limit
        and (rows[-1] is not candidates[-1] or len(candidates) < count)
    )
    metadata: Object = {"resourceVersion": str(revision)}
    if more:
        metadata["continue"] = encode_continue(
            revision, rows[-1].key + "\0", _prefix(cacher, criteria)
        )
        if criteria.everything:
            metadata["remainingItemCount"] = count - limit
    whole = criteria.everything and not start and not limit
    return Page(rows, metadata, whole, past)


def _selected(
    candidates: list[Cached],
    criteria: Criteria,
    fields_of: Callable[[Object], dict[str, str]],
    limit: int,
) -> list[Cached]:
    matching = (row for row in candidates if criteria.matches(row.obj, fields_of))
    return list(islice(matching, limit or None))


def _validate(
    cacher: Cacher, store: Store, criteria: Criteria, options: ListOptions
) -> tuple[str, int]:
    """The first key of the page, and the revision it has to show (0: the newest).
    Upstream: `storage.ValidateListOptions`.
    """
    resource_version = options.resource_version
    single = _is_single(cacher, criteria)
    if options.token and not single:  # a list of one knows no pages
        revision, start = decode_continue(options.token, _prefix(cacher, criteria))
        if resource_version not in ("", "0"):
            raise status.bad_request(
                "specifying resource version is not allowed when using continue"
            )
        return start, max(revision, 0)
    if resource_version in ("", "0"):
        return "", 0
    try:
        revision = parse_revision(resource_version)
    except status.StatusError as error:
        raise status.bad_request(f"invalid resource version: {error.message}") from None
    if revision > store.revision:
        raise status.too_large_resource_version(revision, store.revision)
    exact = options.match == "Exact" or (
        not options.match and options.limit and not single
    )  # a page of an old version is exact
    return "", revision if exact else 0


def _is_single(cacher: Cacher, criteria: Criteria) -> bool:
    return bool(
        criteria.name and (criteria.namespace or not cacher.resource.namespaced)
    )


def _prefix(cacher: Cacher, criteria: Criteria) -> str:
    return (
        f"{cacher.prefix}{criteria.namespace}/" if criteria.namespace else cacher.prefix
    )


async def _past(
    cacher: Cacher,
    store: Store,
    criteria: Criteria,
    revision: int,
    start: str,
    limit: int,
) -> tuple[list[Cached], int]:
    """What may be on a page, from the store, and how much there is from its start on:
    no more than the page if all of that counts, all if it is selected from.
    """
    prefix = _prefix(cacher, criteria)
    try:
        page = await store.range(
            max(start, prefix),
            prefix_end(prefix),
            revision=revision,
            limit=limit if criteria.everything else 0,
        )
    except CompactedError:
        raise _expired(start, prefix) from None
    except FutureRevisionError as error:
        raise status.too_large_resource_version(revision, error.current) from None
    objects = await cacher.decode_past(page.kvs)
    rows = [
        Cached(kv.key, obj, kv.mod_revision, size=len(kv.value))
        for kv, obj in zip(page.kvs, objects, strict=True)
    ]
    if _is_single(cacher, criteria):
        rows = [row for row in rows if row.key == prefix + criteria.name]
        return rows, len(rows)
    return rows, page.count


def _expired(start: str, prefix: str) -> status.StatusError:
    """410. Who was in the middle of a list gets a token to go on with, at the price of
    consistency.
    """
    error = status.gone(CONTINUE_EXPIRED if start else EXPIRED)
    if start:
        error.status["metadata"] = {"continue": encode_continue(NEWEST, start, prefix)}
    return error


def parse_revision(text: str) -> int:
    """A resourceVersion as a number. Raises StatusError 500: that this is the client's
    fault gets lost in upstream's storage layer.
    """
    why = "" if re.fullmatch(r"[0-9]+", text) else "invalid syntax"
    if not why and (len(text) > 40 or int(text) >= 1 << 64):
        why = "value out of range"
    if why:
        message = (
            f"resourceVersion: Invalid value: {go_quote(text)}: strconv.ParseUint:"
            f" parsing {go_quote(text)}: {why}"
        )
        raise status.failure(500, "", message)
    return int(text)


def encode_continue(revision: int, next_key: str, prefix: str) -> str:
    """A token for the page that starts at a key."""
    start = next_key.removeprefix(prefix.rstrip("/"))
    token = {"v": TOKEN_VERSION, "rv": revision, "start": start}
    text = fast_json.dumps(token).replace(b"\x00", b"\\u0000")
    return base64.urlsafe_b64encode(text).rstrip(b"=").decode()


def decode_continue(token: str, prefix: str) -> tuple[int, str]:
    """Revision (negative: the newest) and first key of a token. Raises StatusError 400
    for one we did not make.
    """
    illegal = re.search(r"[^A-Za-z0-9_-]", token)
    if illegal or len(token) % 4 == 1:
        at = illegal.start() if illegal else len(token) - 1
        raise _invalid_token(f"illegal base64 data at input byte {at}")
    decoded = base64.urlsafe_b64decode(token + "=" * (-len(token) % 4))
    try:
        fields = read_json(decoded)
    except ValueError as error:
        raise _invalid_token(str(error)) from None
    fields = _token_fields(fields)
    version = fields.get("v", "")
    if version != TOKEN_VERSION:
        raise _invalid_token(
            f"server does not recognize this encoded version {version}"
        )
    revision, start = fields.get("rv", 0), fields.get("start", "")
    if revision == 0:
        raise _invalid_token(
            f"incorrect encoded start resourceVersion (version {TOKEN_VERSION})"
        )
    if not start:
        raise _invalid_token(f"encoded start key empty (version {TOKEN_VERSION})")
    key = "/" + start.removeprefix("/")
    if any(
        part in ("", ".", "..") for part in key[1:].split("/")
    ):  # nobody ranges over more than was asked for
        raise _invalid_token(start)
    return revision, prefix.rstrip("/") + key


def _invalid_token(why: str) -> status.StatusError:
    return status.bad_request(
        f"invalid continue token: continue key is not valid: {why}"
    )


def _token_fields(fields: Any) -> Object:
    """The fields of a token. Raises StatusError 400 for one of another type, in the
    words of Go's decoder.
    """
    if fields is None:
        return {}
    if not isinstance(fields, dict):
        raise _invalid_token(wrong_type(fields, "storage.continueToken"))
    for key, value in fields.items():
        json_value, go_type = (
            json_type(value),
            {"v": "string", "rv": "int64", "start": "string"}.get(key),
        )
        if go_type is None or value is None or (go_type == json_value == "string"):
            continue
        if go_type == "int64" and json_value == "number":
            if type(value) is int and -(1 << 63) <= value < 1 << 63:
                continue
            json_value = f"number {value}"
        raise _invalid_token(
            f"json: cannot unmarshal {json_value} into Go struct field"
            f" continueToken.{key} of type {go_type}"
        )
    return {key: value for key, value in fields.items() if value is not None}
