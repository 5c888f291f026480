"""A number of pods, or a share of them: `3` or `25%`.

Upstream: `apimachinery/pkg/util/intstr/intstr.go` (`GetScaledValueFromIntOrPercent`),
v1.36.
"""

from __future__ import annotations


def scaled_value(value: int | str | None, total: int, *, round_up: bool) -> int:
    """An `IntOrString` as a number; `"25%"` is of `total`. Raises ValueError for other
    text.
    """
    if value is None:
        return 0
    if isinstance(value, int):
        return value
    if not value.endswith("%"):
        raise ValueError(
            "invalid value for IntOrString: invalid type: string is not a percentage:"
            f" {value}"
        )
    product = int(value[:-1]) * total
    return -(-product // 100) if round_up else product // 100
