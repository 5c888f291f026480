"""Amounts are kept in whole thousandths.

Upstream: `pkg/apis/core/v1/defaults.go` (`SetDefaults_ResourceList`), v1.36.
"""

from __future__ import annotations

from lifecycle.api.http.wire import Object


def round_up_resource_list(amounts: Object | None) -> None:
    """Round each quantity up to a whole thousandth, in place. Only canonical text
    ending in `n` or `u` can be finer.
    """
    if not amounts:
        return
    for name, text in amounts.items():
        if isinstance(text, str) and text[-1:] in ("n", "u"):
            from lifecycle.api.quantity import parse_quantity

            amounts[name] = str(parse_quantity(f"{parse_quantity(text).milli()}m"))
