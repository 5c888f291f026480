"""What the functions that Kubernetes added to CEL cost, by the size of what they are
given.

Upstream: `apiserver/pkg/cel/library/cost.go` (`CostEstimator.EstimateCallCost`), v1.36,
cel-go's `ext/{lists,sets}.go` (`estimateListSlice` …), v0.26. Left out: what is not
here, `format` and `sortBy`.
"""

from __future__ import annotations

import math
from typing import Protocol

from lifecycle.apiserver.cel.estimates import (
    MOST,
    ONE,
    ZERO,
    CallEstimate,
    Estimate,
    fixed,
)
from lifecycle.apiserver.cel.syntax import Constant, Node, Type
from lifecycle.apiserver.cel.types import PACKAGE

STRING_TRAVERSAL = 0.1
"""For each character that is looked at."""

REGEX_STRING_LENGTH = 0.25
"""For each character of a pattern."""

LIST_CREATE, MAP_CREATE, STRUCT_CREATE = 10, 30, 40
AUTHORIZATION_CHECK = 350_000
_ADDRESS = Estimate(4, 16)
"""Bytes of one."""

_NOMINAL = frozenset(
    """
    serviceAccount path group resource subresource namespace name allowed reason error
    errored masked prefixLength family isUnspecified isLoopback isLinkLocalMulticast
    isLinkLocalUnicast isGlobalUnicast sign asInteger isInteger asApproximateFloat
    isGreaterThan isLessThan compareTo add sub major minor patch getScheme getHostname
    getHost getPort getEscapedPath getQuery
    """.split()  # noqa: SIM905 - words, not code
)
_READS_ITS_ARGUMENT = frozenset(
    ("cidr", "isIP", "isCIDR", "ip", "quantity", "isQuantity", "semver", "isSemver")
)
_KEEPS_THE_LENGTH = frozenset(("lowerAscii", "upperAscii", "substring", "trim"))
_OVER_A_LIST = frozenset(("isSorted", "sum", "max", "min", "indexOf", "lastIndexOf"))
_SETS = {"sets.contains": 1, "sets.intersects": 1, "sets.equivalent": 2}
_MAKES_LISTS = frozenset(
    ("lists.range", "slice", "reverse", "flatten", "sort", "distinct")
)
_COMPARED_AT_ONCE = frozenset(
    f"{PACKAGE}.{name}" for name in ("Quantity", "Semver", "net.IP", "net.CIDR")
)


class Sizes(Protocol):
    """What is known of the parts of an expression."""

    def size(self, node: Node) -> Estimate:
        """How large the value may be."""

    def elements(self, node: Node) -> tuple[Type, Estimate] | None:
        """The type and size of what is in a list; None if it is none."""

    def type_of(self, node: Node) -> Type:
        """The type that the compiler found."""


def call_cost(
    function: str, target: Node | None, args: list[Node], sizes: Sizes
) -> CallEstimate | None:
    """The cost of a call without that of its arguments; None for what the language has
    itself.
    """
    if function == "check":
        return CallEstimate(fixed(AUTHORIZATION_CHECK))
    if function in _NOMINAL or (function == "ip" and not args):
        return CallEstimate(ONE)
    if function in ("fieldSelector", "labelSelector") and len(args) == 1:
        return CallEstimate(_selector_cost(sizes.size(args[0])))
    if function in _OVER_A_LIST and target is not None:
        return CallEstimate(_walk_cost(target, sizes))
    if function in ("url", "jsonpatch.escapeKey") and len(args) == 1:
        size = sizes.size(args[0])
        return CallEstimate(size.per_unit(STRING_TRAVERSAL), size)
    if function in _KEEPS_THE_LENGTH and target is not None:
        size = sizes.size(target)
        return CallEstimate(size.per_unit(STRING_TRAVERSAL), size)
    if function == "replace" and target is not None and len(args) >= 2:
        size = sizes.size(target)
        result = _replaced_size(size, sizes.size(args[0]), sizes.size(args[1]))
        return CallEstimate(size.per_unit(2 * STRING_TRAVERSAL), result)
    if function == "split" and target is not None:
        size = sizes.size(target)
        most = size.max
        limit = args[1] if len(args) > 1 else None
        if isinstance(limit, Constant) and isinstance(limit.value, int):
            most = limit.value % 2**64
        cost = size.per_unit(2 * STRING_TRAVERSAL)
        return CallEstimate(cost, Estimate(0, most))
    if function == "join" and target is not None:
        size = _joined_size(target, args, sizes)
        return CallEstimate(size.per_unit(STRING_TRAVERSAL), size)
    if function in ("find", "findAll") and target is not None and args:
        size = sizes.size(target)
        pattern = sizes.size(args[0]).per_unit(REGEX_STRING_LENGTH)
        cost = size.plus(ONE).per_unit(STRING_TRAVERSAL).times(pattern)
        return CallEstimate(cost, Estimate(0, size.max))
    if function in _READS_ITS_ARGUMENT and args:
        return CallEstimate(sizes.size(args[0]).per_unit(STRING_TRAVERSAL))
    if function == "ip.isCanonical" and args:
        return CallEstimate(sizes.size(args[0]).per_unit(2 * STRING_TRAVERSAL))
    if function in ("containsIP", "containsCIDR") and args:
        return CallEstimate(_containment_cost(function, args[0], sizes))
    if function in _SETS and len(args) == 2:
        pairs = sizes.size(args[0]).times(sizes.size(args[1]))
        return CallEstimate(pairs.per_unit(_SETS[function]).plus(ONE))
    if function in _MAKES_LISTS:
        return _list_cost(function, target, args, sizes)
    if function == "_==_" and len(args) == 2:
        left, right = map(sizes.type_of, args)
        if left == right and left.name in _COMPARED_AT_ONCE:
            return CallEstimate(ONE)
    return None


def _list_cost(
    function: str, target: Node | None, args: list[Node], sizes: Sizes
) -> CallEstimate:
    """Of what makes a list of another one."""
    factor, size = 1.0, sizes.size(target) if target is not None else ZERO
    if function == "lists.range":
        size = fixed(_written(args[0], MOST))
    elif function == "slice":
        start, end = _written(args[0], 0), _written(args[1], size.max)
        size = fixed((end - start) % 2**64)
    elif function == "flatten":
        factor = float(_written(args[0], MOST)) if args else 1.0
    elif function in ("sort", "distinct"):  # each is held against each, both ways
        held = sizes.elements(target) if target is not None else None
        is_text = held is not None and held[0].name in ("string", "bytes")
        factor = 2 + STRING_TRAVERSAL * (is_text and function == "sort")
        size = size.times(size)
    cost = size.per_unit(factor).plus(fixed(1 + LIST_CREATE))
    return CallEstimate(cost, size)


def _written(node: Node, otherwise: int) -> int:
    """A number that stands there."""
    if isinstance(node, Constant) and isinstance(node.value, int) and node.value >= 0:
        return node.value
    return otherwise


def _selector_cost(length: Estimate) -> Estimate:
    """A requirement has at least two characters and becomes a struct and a list."""
    requirements = length.per_unit(0.5).per_unit(LIST_CREATE + STRUCT_CREATE)
    parsing = length.per_unit(STRING_TRAVERSAL)
    return parsing.plus(requirements).plus(fixed(LIST_CREATE))


def _walk_cost(target: Node, sizes: Sizes) -> Estimate:
    held = sizes.elements(target)
    if held is None:  # a text has `indexOf`, too
        return sizes.size(target).per_unit(STRING_TRAVERSAL)
    kind, size = held
    each = ONE
    if kind.name in ("string", "bytes"):
        each = ONE.plus(size.per_unit(STRING_TRAVERSAL))
    return sizes.size(target).times(each)


def _replaced_size(size: Estimate, old: Estimate, new: Estimate) -> Estimate:
    """With nothing to replace, the new text stands before, after and between all
    characters.
    """
    most = least = (0, 0)  # how often it is replaced, what stays
    if old.min == 0:
        most = (min(size.max + 1, MOST), size.max)
    elif new.max <= old.min:
        most = (0, size.max)
    else:
        most = (math.ceil(size.max / old.min), 0)
    if old.max == 0:
        least = (min(size.min + 1, MOST), size.min)
    elif old.max <= new.min:
        least = (0, size.min)
    else:
        least = (math.ceil(size.min / old.max), 0)
    counts, kept = Estimate(least[0], most[0]), Estimate(least[1], most[1])
    return counts.times(new).plus(kept)


def _joined_size(target: Node, args: list[Node], sizes: Sizes) -> Estimate:
    count, held = sizes.size(target), sizes.elements(target)
    size = count.times(held[1]) if held is not None else ZERO
    if args:
        between = Estimate(max(0, count.min - 1), max(0, count.max - 1))
        size = size.plus(sizes.size(args[0]).times(between))
    return size


def _containment_cost(function: str, other: Node, sizes: Sizes) -> Estimate:
    cost = _ADDRESS.plus(_ADDRESS).per_unit(STRING_TRAVERSAL)
    if function == "containsCIDR":  # the larger one is masked first
        cost = cost.plus(_ADDRESS.per_unit(STRING_TRAVERSAL)).plus(ONE)
    if sizes.type_of(other).name == "string":  # it has to be parsed
        cost = cost.plus(sizes.size(other).per_unit(STRING_TRAVERSAL))
    return cost
