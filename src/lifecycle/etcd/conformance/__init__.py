"""What every store must do, as checks that anybody can run on his own.

Each check is a coroutine function that takes a way to open a store, and raises
AssertionError with what went wrong. A store need not be empty: a check writes below a
prefix of its own and counts revisions from where it finds them. Nobody else may write
meanwhile.

```python
from lifecycle.etcd.conformance import CHECKS, run_check


async def my_store() -> Store: ...


for name in CHECKS:
    asyncio.run(run_check(name, my_store))
```

The contract itself is `etcd.store`. Upstream:
`apiserver/pkg/storage/testing/store_tests.go` and `watcher_tests.go` play this role for
the implementations of `storage.Interface`, v1.36.
"""

from lifecycle.etcd.conformance import compaction, kv, lease, range, txn, watch
from lifecycle.etcd.conformance.check import CHECKS, StoreFactory, run_check

__all__ = [
    "CHECKS",
    "StoreFactory",
    "compaction",
    "kv",
    "lease",
    "range",
    "run_check",
    "txn",
    "watch",
]
