"""Booleans in a query string.

One rule for all of them, in the API server and in the kubelet: `?watch` and `?watch=`
say yes, as does anything else but `0` and `false` in any case. So `True` and `yes` are
true, which is how many clients spell it.

Upstream: `apimachinery/pkg/runtime/conversion.go` (`Convert_Slice_string_To_bool`,
`…_To_Pointer_bool`), v1.36. The one exception there is `pretty`, which is read with
`strconv.ParseBool`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence


def bool_parameter(query: Mapping[str, Sequence[str]], key: str) -> bool | None:
    """The first value of `key`; None if it is not given. `query` maps each key to all
    its values.
    """
    values = query.get(key)
    return None if not values else values[0] != "0" and values[0].lower() != "false"
