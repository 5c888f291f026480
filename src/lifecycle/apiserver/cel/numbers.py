"""Quantities (`quantity('1.5Gi')`) and versions (`semver('1.2.3')`): values that
compare as what they mean.

Both have `isLessThan`, `isGreaterThan` and `compareTo`. The compiler keeps them apart;
the running program looks at what it was given.

Upstream: `apiserver/pkg/cel/library/{quantity,semverlib}.go`, v1.36; versions by
`github.com/blang/semver/v4`.
"""

from __future__ import annotations

import re
from typing import Any

from lifecycle.api.quantity import Quantity, parse_quantity
from lifecycle.apiserver.cel.declare import T, declared, function
from lifecycle.apiserver.cel.types import message, types

_SEMVER = re.compile(
    r"(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)"
    r"(?:-((?:0|[1-9]\d*|\d*[a-zA-Z-][0-9a-zA-Z-]*)(?:\.(?:0|[1-9]\d*|\d*[a-zA-Z-][0-9a-zA-Z-]*))*))?"
    r"(?:\+[0-9a-zA-Z-]+(?:\.[0-9a-zA-Z-]+)*)?"
)


def _amount(value: Any) -> Quantity:
    return parse_quantity(value if isinstance(value, int) else value.text)


def _quantity(text: str) -> Any:
    return _in_nanos(parse_quantity(text))


def _in_nanos(amount: Quantity) -> Any:
    """As a message, of which two are equal if the amounts are: `1.5` and `1500m`."""
    return message("Quantity", text=f"{amount.exact(-9)}n")


def _is_quantity(text: str) -> bool:
    try:
        parse_quantity(text)
    except ValueError:
        return False
    return True


def _is_whole(value: Any) -> bool:
    amount = _amount(value)
    return amount.is_integer() and -(2**63) <= amount.exact(0) < 2**63


def _whole(value: Any) -> int:
    if not _is_whole(value):
        raise ValueError("cannot convert value to integer")
    return _amount(value).value()


def _sign(value: Any) -> int:
    return _amount(value).sign


def _precedence(text: str) -> tuple[Any, ...]:
    match = _SEMVER.fullmatch(text)
    assert match is not None
    pre = match[4]
    parts = (
        tuple((0, int(p), "") if p.isdigit() else (1, 0, p) for p in pre.split("."))
        if pre
        else ()
    )
    return (*map(int, match.groups()[:3]), not pre, parts)


def _normalized(text: str) -> str:
    text = text.strip().removeprefix("v")
    core, mark, rest = text, "", ""
    for sign in ("-", "+"):
        if sign in core:
            core, mark, rest = (*core.partition(sign)[:2], text[text.index(sign) + 1 :])
    numbers = [str(int(part)) if part.isdigit() else part for part in core.split(".")]
    return ".".join([*numbers, "0", "0"][: max(3, len(numbers))]) + mark + rest


def _semver(text: str, normalize: bool = False) -> Any:
    text = _normalized(text) if normalize else text
    if not _SEMVER.fullmatch(text):
        raise ValueError(
            "No Major.Minor.Patch elements found"
            if text.count(".") < 2
            else f"Invalid character(s) found in version {text!r}"
        )
    return message("Semver", text=text.partition("+")[0])  # builds are all the same


def _is_semver(text: str, normalize: bool = False) -> bool:
    return bool(_SEMVER.fullmatch(_normalized(text) if normalize else text))


def _compare(one: Any, other: Any) -> int:
    if one.DESCRIPTOR.name == "Quantity":
        left, right = _amount(one), _amount(other)
        return (left > right) - (left < right)
    before, after = _precedence(one.text), _precedence(other.text)
    return (before > after) - (before < after)


def functions() -> list[Any]:
    """Declarations."""
    quantity, semver = types().type("Quantity"), types().type("Semver")
    pairs = ((quantity, quantity), (semver, semver))
    sums = [(quantity, (quantity, quantity))], [(quantity, (quantity, T.INT))]
    return [
        function("quantity", _quantity, (quantity, (T.STRING,)), member=False),
        function("isQuantity", _is_quantity, (T.BOOL, (T.STRING,)), member=False),
        function("isInteger", _is_whole, (T.BOOL, (quantity,))),
        function("asInteger", _whole, (T.INT, (quantity,))),
        function(
            "asApproximateFloat",
            lambda value: float(_amount(value)),
            (T.DOUBLE, (quantity,)),
        ),
        function("sign", _sign, (T.INT, (quantity,)), member=False),
        declared(
            "add",
            [
                (
                    lambda a, b: _in_nanos(_amount(a) + _amount(b)),
                    shape,
                )
                for shape in sums
            ],
        ),
        declared(
            "sub",
            [
                (
                    lambda a, b: _in_nanos(_amount(a) - _amount(b)),
                    shape,
                )
                for shape in sums
            ],
        ),
        function(
            "isLessThan",
            lambda a, b: _compare(a, b) < 0,
            *((T.BOOL, pair) for pair in pairs),
        ),
        function(
            "isGreaterThan",
            lambda a, b: _compare(a, b) > 0,
            *((T.BOOL, pair) for pair in pairs),
        ),
        function("compareTo", _compare, *((T.INT, pair) for pair in pairs)),
        declared(
            "semver",
            [
                (_semver, [(semver, (T.STRING,))]),
                (_semver, [(semver, (T.STRING, T.BOOL))]),
            ],
            member=False,
        ),
        declared(
            "isSemver",
            [
                (_is_semver, [(T.BOOL, (T.STRING,))]),
                (_is_semver, [(T.BOOL, (T.STRING, T.BOOL))]),
            ],
            member=False,
        ),
        *(
            function(
                name, lambda value, i=i: _precedence(value.text)[i], (T.INT, (semver,))
            )
            for i, name in enumerate(("major", "minor", "patch"))
        ),
    ]
