"""What happens when … Kubernetes: every stage of the lifecycle, rebuilt so that it can
be read, run and compared.

with lifecycle.up(nodes=3) as cluster:
    apps = cluster.client.AppsV1Api()
"""

from __future__ import annotations

from typing import Any

__version__ = "0.1.0"
__all__ = ["__version__", "up"]


def __getattr__(name: str) -> Any:
    # `import lifecycle` does no work: the cluster and all its rooms are loaded by the
    # first `lifecycle.up`
    if name == "up":
        from lifecycle.api.garbage import collected_rarely

        with collected_rarely():
            from lifecycle.cluster.background import up

        return up
    raise AttributeError(f"module 'lifecycle' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
