"""The core group, `v1`: pods, and what they stand on.

Upstream: `pkg/registry/core`, `pkg/apis/core`, v1.36.
"""

from lifecycle.apiserver.registry.rest.strategy import Strategy

STRATEGIES: dict[tuple[str, str], Strategy] = {}
