"""What is wrong with the rules of a schema: that they do not compile, cost too much, or
ask for what was there before where nobody knows which it was.

Upstream: `apiextensions-apiserver/pkg/apis/apiextensions/validation/validation.go`
(`ValidateCustomResourceDefinitionOpenAPISchema`),
`apiextensions-apiserver/pkg/apiserver/schema/cel/compilation.go` (`compileRule`),
v1.36.
"""

from __future__ import annotations

from dataclasses import replace

from lifecycle.api.field_errors import FieldError, internal, invalid
from lifecycle.api.http.wire import Object
from lifecycle.apiserver.apiextensions.internal_form import go_rule
from lifecycle.apiserver.apiextensions.rule_costs import RuleCosts, expression_cost
from lifecycle.apiserver.apiextensions.rule_types import RuleTypes, rule_types
from lifecycle.apiserver.cel.cost_estimator import estimated_cost
from lifecycle.apiserver.cel.decl_type import DeclType, schema_decl_type
from lifecycle.apiserver.cel.environment import CompileError
from lifecycle.apiserver.cel.syntax import CheckedExpression, Comprehension

RULES = "x-kubernetes-validations"


def validate_rule_definitions(
    schema: Object,
    path: str,
    costs: RuleCosts,
    *,
    is_root: bool,
    uncorrelatable: str,
    cardinality: int | None,
) -> list[FieldError]:
    """Of one schema that is fine itself. `uncorrelatable`: the path of the list or map
    in which `oldSelf` has no counterpart; `cardinality`: how often its value may be
    there, None if that is not limited.
    """
    rules = schema.get(RULES) or []
    if not rules:
        return []
    embedded = bool(schema.get("x-kubernetes-embedded-resource"))
    decl_type = schema_decl_type(schema, is_root or embedded)
    if decl_type is None:
        why = (
            "internal error: failed to construct type information for"
            f" {RULES} rules: unable to convert structural schema to CEL declarations"
        )
        return [internal(f"{path}.{RULES}", why)]
    types = rule_types(decl_type)
    errors: list[FieldError] = []
    for index, rule in enumerate(rules):
        here = f"{path}.{RULES}[{index}]"
        optional = bool(rule.get("optionalOldSelf"))
        uses_old_self = False
        try:
            checked = _checked(types, rule["rule"], "bool", optional)
            uses_old_self = checked.mentions("oldSelf")
            cost = estimated_cost(checked, decl_type).max
            cost = expression_cost(cost, cardinality, decl_type)
            errors += costs.observe(f"{here}.rule", "estimated rule cost", cost)
        except CompileError as error:
            errors.append(invalid(f"{here}.rule", go_rule(rule), str(error)))
        else:
            errors += _validate_message(rule, here, types, decl_type, costs)
        if uses_old_self and uncorrelatable:
            why = (
                "oldSelf cannot be used on the uncorrelatable portion of the schema"
                f" within {uncorrelatable}"
            )
            errors.append(invalid(f"{here}.rule", rule["rule"], why))
        elif not uses_old_self and rule.get("optionalOldSelf") is not None:
            why = "may not be set if oldSelf is not used in rule"
            errors.append(invalid(f"{here}.optionalOldSelf", optional, why))
    return errors


def _checked(
    types: RuleTypes, expression: str, kind: str, optional: bool
) -> CheckedExpression:
    """An expression of the wanted type. Raises CompileError."""
    program = types.compile(expression, optional_old_self=optional)
    if program.type_name != kind:
        what = "cel expression" if kind == "bool" else "messageExpression"
        raise CompileError(f"{what} must evaluate to a {kind}")
    checked = program.checked
    if optional and isinstance(checked.root, Comprehension):
        # what the rule says stands within what makes `oldSelf` optional
        return replace(checked, root=checked.root.result)
    return checked


def _validate_message(
    rule: Object,
    here: str,
    types: RuleTypes,
    decl_type: DeclType,
    costs: RuleCosts,
) -> list[FieldError]:
    expression, here = rule.get("messageExpression", ""), f"{here}.messageExpression"
    if not expression:
        return []
    optional = bool(rule.get("optionalOldSelf"))
    try:
        checked = _checked(types, expression, "string", optional)
    except CompileError as error:
        text = str(error)
        if text.startswith("compilation"):
            text = f"messageExpression {text}"
        return [invalid(here, go_rule(rule), text)]
    cost = estimated_cost(checked, decl_type).max
    return costs.observe(here, "estimated messageExpression cost", cost)
