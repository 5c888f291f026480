"""What an expression may cost at most, before it has seen a value.

A rule is written once and asked with every object, so its author is told at once if it
may take too long: a loop over a list without a limit within another one. Each step of a
program costs one; a loop costs what it does with an element times the elements there
can be, and those the schema limits (`decl_type`). To find the schema of `x` in
`self.spec.ports.all(x, x > 0)`, each part of the expression has a path:
`self spec ports @items`.

Upstream: cel-go's `checker/cost.go` (`Cost`, `coster`), v0.26,
`apiextensions-apiserver/pkg/apiserver/schema/cel/compilation.go` (`sizeEstimator`),
v1.36. Left out: comprehensions over two variables.
"""

from __future__ import annotations

from typing import NamedTuple

from lifecycle.apiserver.cel.call_costs import (
    LIST_CREATE,
    MAP_CREATE,
    REGEX_STRING_LENGTH,
    STRING_TRAVERSAL,
    STRUCT_CREATE,
    call_cost,
)
from lifecycle.apiserver.cel.decl_type import DeclType
from lifecycle.apiserver.cel.estimates import (
    MOST,
    ONE,
    UNKNOWN,
    ZERO,
    CallEstimate,
    Estimate,
    fixed,
)
from lifecycle.apiserver.cel.syntax import (
    DYN,
    Call,
    CheckedExpression,
    Comprehension,
    Constant,
    CreateList,
    CreateMap,
    CreateStruct,
    Identifier,
    Node,
    Select,
    Type,
)

_ACCUMULATORS = ("@result", "__result__")
_SCALARS = frozenset(("bool", "double", "duration", "int", "timestamp", "uint"))
_ORDERED = frozenset(
    f"{order}_{kind}"
    for order in ("less", "greater", "less_equals", "greater_equals")
    for kind in ("string", "bytes")
)
_CONSTANTS = (bool, float, int, type(None))
_Path = tuple[str, ...]


class _Entries(NamedTuple):
    """What is known of the keys and values of a list or map."""

    kind: str
    keys: Estimate
    values: Estimate

    def union(self, other: _Entries) -> _Entries:
        return _Entries(
            self.kind, self.keys.union(other.keys), self.values.union(other.values)
        )


class _LocalVariable(NamedTuple):
    path: _Path
    size: Estimate | None
    entries: _Entries | None = None


def estimated_cost(
    checked: CheckedExpression, root: DeclType, variable: str = ""
) -> Estimate:
    """Of an expression whose variables (`self` and `oldSelf`, a `device`) are of one
    type. What is not reached from a `variable` has an unknown size, if one is named;
    else, as upstream, that of the variables.
    """
    return _Coster(checked, root, variable).cost(checked.root)


class _Coster:
    """Walks over an expression once; the order is that in which it runs."""

    def __init__(
        self, checked: CheckedExpression, root: DeclType, variable: str
    ) -> None:
        self._checked, self._root, self._variable_name = checked, root, variable
        self._paths: dict[int, _Path] = {}
        self._sizes: dict[int, Estimate] = {}
        self._entries: dict[int, _Entries] = {}
        self._variables: dict[str, list[_LocalVariable]] = {}

    def cost(self, node: Node) -> Estimate:
        if isinstance(node, Identifier):
            if self._variable(node) is None:
                self._paths[node.id] = (node.name,)
            return ONE
        if isinstance(node, Select):
            return self._select_cost(node)
        if isinstance(node, Call):
            return self._call_cost(node)
        if isinstance(node, CreateList):
            return self._list_cost(node)
        if isinstance(node, CreateMap):
            return self._map_cost(node)
        if isinstance(node, CreateStruct):
            return self._sum(node.values).plus(fixed(STRUCT_CREATE))
        if isinstance(node, Comprehension):
            return self._bind_cost(node) if _is_bind(node) else self._loop_cost(node)
        return ZERO  # a constant

    def _sum(self, nodes: list[Node]) -> Estimate:
        total = ZERO
        for node in nodes:
            total = total.plus(self.cost(node))
        return total

    def _select_cost(self, node: Select) -> Estimate:
        cost = self.cost(node.operand)
        if node.test_only:  # free, since it was before cel-go charged for it
            return cost
        self._paths[node.id] = (*self._path(node.operand), node.field)
        kind = self._type(node.operand)
        looked_up = kind.is_message or kind.name in ("map", "type_param", "object")
        return cost.plus(ONE) if looked_up else cost

    def _list_cost(self, node: CreateList) -> Estimate:
        cost, values = fixed(LIST_CREATE), Estimate(MOST if node.elements else 0, 0)
        for element in node.elements:
            cost = cost.plus(self.cost(element))
            values = values.union(self.size(element))
        self._entries[node.id] = _Entries("list", ONE, values)
        return cost

    def _map_cost(self, node: CreateMap) -> Estimate:
        cost = fixed(MAP_CREATE)
        keys = values = Estimate(MOST if node.entries else 0, 0)
        for key, value in node.entries:
            cost = cost.plus(self.cost(key)).plus(self.cost(value))
            keys, values = keys.union(self.size(key)), values.union(self.size(value))
        self._entries[node.id] = _Entries("map", keys, values)
        return cost

    def _loop_cost(self, node: Comprehension) -> Estimate:
        cost = self.cost(node.iter_range).plus(self.cost(node.accu_init))
        self._bind(node.accu_var, node.accu_init)
        self._bind_element(node.iter_var, node.iter_range)
        each = self.cost(node.loop_condition).plus(self.cost(node.loop_step))
        self._variables[node.iter_var].pop()
        cost = cost.plus(self.cost(node.result))
        self._variables[node.accu_var].pop()
        rounds = self.size(node.iter_range)
        if isinstance(node.accu_init, Constant):
            self._keep_size(node, self._known_size(node.accu_init))
        elif isinstance(node.accu_init, CreateList | CreateMap):
            self._keep_size(node, rounds)
            self._keep_entries(node, self._known_entries(node.loop_step))
        return cost.plus(rounds.times(each))

    def _bind_cost(self, node: Comprehension) -> Estimate:
        cost = self.cost(node.iter_range).plus(self.cost(node.accu_init))
        self._bind(node.accu_var, node.accu_init)
        cost = cost.plus(self.cost(node.result))
        self._variables[node.accu_var].pop()
        self._keep_size(node, self._known_size(node.result))
        self._keep_entries(node, self._known_entries(node.result))
        return cost

    def _bind(self, name: str, node: Node) -> None:
        variable = _LocalVariable(
            self._path(node), self._known_size(node), self._known_entries(node)
        )
        self._variables.setdefault(name, []).append(variable)

    def _bind_element(self, name: str, loop_range: Node) -> None:
        entries = self._known_entries(loop_range)
        kind = entries.kind if entries else self._type(loop_range).name
        size = None
        if entries:
            size = entries.values if kind == "list" else entries.keys
        path = (*self._path(loop_range), "@items" if kind == "list" else "@keys")
        self._variables.setdefault(name, []).append(_LocalVariable(path, size))

    def _call_cost(self, node: Call) -> Estimate:
        if node.function == "dyn":
            cost = self.cost(node.args[0]).plus(ONE)
            self._keep_size(node, self._known_size(node.args[0]))
            self._keep_entries(node, self._known_entries(node.args[0]))
            return cost
        costs = [self.cost(each) for each in node.args]
        overloads = self._checked.overloads.get(node.id, ())
        if not overloads:
            return ZERO
        total = self.cost(node.target) if node.target is not None else ZERO
        covered, result_size = Estimate(MOST, 0), None
        for overload in overloads:
            cost, size = self._function_cost(node, overload, costs)
            covered = covered.union(cost)
            if size is not None:
                result_size = size.union(result_size) if result_size else size
            if overload in ("index_list", "index_map") and node.args:
                entries = self._known_entries(node.args[0])
                result_size = entries.values if entries else None
                step = "@items" if overload == "index_list" else "@values"
                self._paths[node.id] = (*self._path(node.args[0]), step)
            if result_size is None:
                result_size = self._known_size(node)
        self._keep_size(node, result_size)
        return total.plus(covered)

    def _function_cost(
        self, node: Call, overload: str, costs: list[Estimate]
    ) -> CallEstimate:
        arguments = ZERO
        for each in costs:
            arguments = arguments.plus(each)
        estimate = call_cost(node.function, node.target, node.args, self)
        if estimate is None and overload in ("logical_or", "logical_and"):
            # the second one may not be asked
            return CallEstimate(Estimate(costs[0].min, costs[0].plus(costs[1]).max))
        if estimate is None and overload == "conditional":
            return self._conditional_cost(node, costs)
        estimate = estimate or self._standard_cost(node, overload)
        return CallEstimate(estimate.cost.plus(arguments), estimate.result_size)

    def _conditional_cost(self, node: Call, costs: list[Estimate]) -> CallEstimate:
        _, true, false = node.args
        entries = self._known_entries(true), self._known_entries(false)
        if entries[0] and entries[1]:
            self._entries[node.id] = entries[0].union(entries[1])
        cost = costs[0].plus(costs[1].union(costs[2]))
        return CallEstimate(cost, self.size(true).union(self.size(false)))

    def _standard_cost(self, node: Call, overload: str) -> CallEstimate:
        """Of a function of the language, for one of the types that it takes."""
        args, target = node.args, node.target
        sizes = [self.size(each) for each in args]
        if overload == "string_to_bytes":
            size = Estimate(sizes[0].min, min(sizes[0].max * 4, MOST))
            return CallEstimate(sizes[0].per_unit(STRING_TRAVERSAL), size)
        if overload == "bytes_to_string":
            size = Estimate(sizes[0].min // 4, sizes[0].max)
            return CallEstimate(sizes[0].per_unit(STRING_TRAVERSAL), size)
        if node.function == "strings.quote":
            size = sizes[0].times(Estimate(1, 2)).plus(fixed(2))
            return CallEstimate(sizes[0].per_unit(STRING_TRAVERSAL), size)
        if node.function == "format" and target is not None:
            return CallEstimate(self.size(target).per_unit(STRING_TRAVERSAL))
        if overload in ("starts_with_string", "ends_with_string"):
            return CallEstimate(sizes[0].per_unit(STRING_TRAVERSAL))
        if overload == "in_list":
            return CallEstimate(sizes[1])
        if overload == "matches_string" and target is not None:
            text = self.size(target).plus(ONE).per_unit(STRING_TRAVERSAL)
            return CallEstimate(text.times(sizes[0].per_unit(REGEX_STRING_LENGTH)))
        if overload == "contains_string" and target is not None:
            text = self.size(target).per_unit(STRING_TRAVERSAL)
            return CallEstimate(text.times(sizes[0].per_unit(STRING_TRAVERSAL)))
        if overload in ("add_string", "add_bytes", "add_list"):
            return self._addition_cost(node, overload, sizes)
        if overload in _ORDERED or overload in ("equals", "not_equals"):
            most = min(sizes[0].max, sizes[1].max)
            compared = Estimate(min(most, 1), most)
            return CallEstimate(compared.per_unit(STRING_TRAVERSAL))
        return CallEstimate(ONE)

    def _addition_cost(
        self, node: Call, overload: str, sizes: list[Estimate]
    ) -> CallEstimate:
        size = sizes[0].plus(sizes[1])
        entries = [self._known_entries(each) for each in node.args]
        if entries[0] and entries[1]:
            self._entries[node.id] = entries[0].union(entries[1])
        if overload == "add_list":
            return CallEstimate(ONE, size)
        return CallEstimate(size.per_unit(STRING_TRAVERSAL), size)

    def size(self, node: Node) -> Estimate:
        known = self._known_size(node)
        return UNKNOWN if known is None else known

    def elements(self, node: Node) -> tuple[Type, Estimate] | None:
        kind = self._type(node)
        if not kind.parameters:
            return None
        path = self._path(node)
        found = self._declared((*path, "@items")) if path else None
        size = UNKNOWN if found is None else Estimate(0, found.max_elements)
        return kind.parameters[0], size

    def type_of(self, node: Node) -> Type:
        return self._checked.types.get(node.id, DYN)

    def _type(self, node: Node) -> Type:
        """What the schema says, where the compiler was told less (`rule_types`)."""
        found, kind = self._declared(self._path(node)), self.type_of(node)
        if found is None or kind.parameters or found.kind == kind.name:
            return kind
        inner = found.elem_type
        parameters = (Type(inner.kind),) if inner is not None else ()
        return Type(found.kind, parameters)

    def _known_size(self, node: Node) -> Estimate | None:
        if node.id in self._sizes:
            return self._sizes[node.id]
        written = _written_size(node)
        if written is not None:
            return written
        found = self._declared(self._path(node))
        if found is not None:
            return Estimate(0, found.max_elements)
        kind = self.type_of(node)
        if kind.name == "optional_type" and kind.parameters:
            kind = kind.parameters[0]
        if kind.name in _SCALARS:
            return ONE
        variable = self._variable(node)
        return variable.size if variable else None

    def _declared(self, path: _Path) -> DeclType | None:
        if not path or path[0] in _ACCUMULATORS:
            return None
        if self._variable_name not in ("", path[0]):
            return None
        found: DeclType | None = self._root
        for step in path[1:]:
            if found is None:
                return None
            if step in ("@items", "@values"):
                found = found.elem_type
            elif step == "@keys":
                found = found.key_type
            else:
                found = found.fields.get(step, found.any_field)
        return found

    def _known_entries(self, node: Node) -> _Entries | None:
        if node.id in self._entries:
            return self._entries[node.id]
        variable = self._variable(node)
        return variable.entries if variable else None

    def _variable(self, node: Node) -> _LocalVariable | None:
        if not isinstance(node, Identifier):
            return None
        return next(reversed(self._variables.get(node.name, [])), None)

    def _path(self, node: Node) -> _Path:
        variable = self._variable(node)
        return variable.path if variable else self._paths.get(node.id, ())

    def _keep_size(self, node: Node, size: Estimate | None) -> None:
        if size is not None:
            self._sizes[node.id] = size

    def _keep_entries(self, node: Node, entries: _Entries | None) -> None:
        if entries is not None:
            self._entries[node.id] = entries


def _is_bind(node: Comprehension) -> bool:
    empty = isinstance(node.iter_range, CreateList) and not node.iter_range.elements
    never = isinstance(node.loop_condition, Constant)
    return empty and never and node.accu_var not in _ACCUMULATORS


def _written_size(node: Node) -> Estimate | None:
    """Of what stands there: a text, a list."""
    if isinstance(node, Constant):
        if isinstance(node.value, str | bytes):
            return fixed(len(node.value))
        return ONE if isinstance(node.value, _CONSTANTS) else None
    if isinstance(node, CreateList):
        return fixed(len(node.elements))
    return fixed(len(node.entries)) if isinstance(node, CreateMap) else None
