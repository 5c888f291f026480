"""When some of an Indexed Job's indexes are enough: the leader's, say, or any three.

Upstream: `pkg/controller/job/success_policy.go` (`matchSuccessPolicy`,
`matchSucceededIndexesRule`), v1.36.
"""

from __future__ import annotations

from lifecycle.api.http.wire import Object
from lifecycle.controllers.job.ordered_intervals import (
    OrderedIntervals,
    parse_intervals,
)


def match_success_policy(
    policy: Object | None, completions: int, done: OrderedIntervals
) -> str | None:
    """What the first satisfied rule says; None if there is none yet."""
    if not done:
        return None
    for number, rule in enumerate((policy or {}).get("rules") or ()):
        count = rule.get("succeededCount")
        if rule.get("succeededIndexes") is not None:
            indexes = parse_intervals(rule["succeededIndexes"], completions)
            if not indexes:
                continue
            succeeded = indexes.common(done)
            met = succeeded == indexes.total or (
                count is not None and succeeded >= count
            )
        else:
            met = count is not None and done.total >= count
        if met:
            return f"Matched rules at index {number}"
    return None
