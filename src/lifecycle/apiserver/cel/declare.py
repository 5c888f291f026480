"""Declaring a function to the library: its overloads, and one Python function behind
them.

The compiler tells overloads apart by their exact types (a list of integers, a
quantity), the running program only by kinds (a list, a message). So overloads that look
alike when running share one implementation, which is given to the first of them; and
"any value" has to be spelled out, kind by kind.

Upstream: none; cel-go binds an implementation to each overload by its id.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from lifecycle.apiserver.cel.library import T, cel
from lifecycle.apiserver.cel.types import types

Signature = tuple[Any, tuple[Any, ...]]
"""Result type, parameter types. Of a method the first parameter is the receiver."""


def function(
    name: str,
    implementation: Callable[..., Any],
    *signatures: Signature,
    member: bool = True,
) -> Any:
    """A function with overloads of one shape that share an implementation."""
    return declared(name, [(implementation, signatures)], member=member)


def declared(
    name: str, groups: Sequence[tuple[Any, ...]], *, member: bool = True
) -> Any:
    """A function with overloads of several shapes.

    Each shape: an implementation, its signatures, and whether it is a method (default:
    `member`).
    """
    overloads: list[Any] = []
    for implementation, signatures, *is_method in groups:
        for result, parameters in signatures:
            impl = implementation if (result, parameters) == signatures[0] else None
            suffix = "_".join(str(kind) for kind in parameters)
            overloads.append(
                cel().Overload(
                    f"{name}_{len(overloads)}_{suffix}",
                    return_type=result,
                    parameters=list(parameters),
                    is_member=is_method[0] if is_method else member,
                    impl=impl,
                )
            )
    return cel().FunctionDecl(name, overloads)


def any_value() -> list[Any]:
    """A type for every kind of value that a program can meet."""
    others = [T.NULL, T.Map(T.DYN, T.DYN), T.List(T.DYN), types().type("Quantity")]
    return [*comparable(), *others]


def comparable() -> list[Any]:
    """The types whose values have an order."""
    numbers = [T.INT, T.UINT, T.DOUBLE]
    return [*numbers, T.BOOL, T.STRING, T.BYTES, T.DURATION, T.TIMESTAMP]
