"""How fresh an answer must be, when the store is somewhere else.

The server answers from its caches. Over a store in this process they are always as new
as the store. Over a real etcd, others may write, and the cache hears of it a moment
later; so before a request may look, the server asks etcd how far it is, and waits until
its caches are there. A client that names a resourceVersion is content with that one:
for `0`, or one that the caches have reached already, nobody has to be asked.

Upstream: `apiserver/pkg/storage/cacher/delegator.go` (`shouldDelegateList`,
`ConsistentListFromCache`), `cacher.go` (`waitUntilFreshAndGet`), v1.36. Left out: a
cached object as a first guess in updates (`origStateIsCurrent`).
"""

from __future__ import annotations

from lifecycle.api.http.wire import Request

READS = frozenset({"get", "list", "watch"})


def needs_the_newest(request: Request, revision: int) -> bool:
    """Whether the answer depends on more than what the caches knew at `revision`."""
    info = request.info
    if info is None:
        return False
    if info.verb in READS:
        resource_version = request.param("resourceVersion")
        return not (resource_version.isdecimal() and int(resource_version) <= revision)
    return info.verb != "create" or bool(
        info.subresource
    )  # to create, it is the store that says whether the name is taken
