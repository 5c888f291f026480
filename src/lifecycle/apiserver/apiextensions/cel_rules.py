"""`x-kubernetes-validations`: rules that an object must keep, as expressions.

A rule stands anywhere in a schema and speaks of the value there as `self`. A rule that
mentions `oldSelf` is a *transition rule*: it judges changes, so it is only asked when
there is something to compare with. What changed nothing is not held against anybody.

Upstream:
`apiextensions-apiserver/pkg/apiserver/schema/cel/{compilation,validation}.go`,
`apiserver/pkg/cel/common/values.go`, v1.36. What is wrong with a rule itself is said
when the definition is written (`rule_definitions`); here `self` may be anything. Left
out: the cost limits of what runs.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache, lru_cache
from typing import Any

from lifecycle.api import fast_json
from lifecycle.api.field_errors import (
    DUPLICATE,
    FORBIDDEN,
    NOT_SUPPORTED,
    OMIT,
    REQUIRED,
    TOO_LONG,
    TOO_MANY,
    TYPE_INVALID,
    FieldError,
    invalid,
)
from lifecycle.api.http.wire import Object
from lifecycle.apiserver.apiextensions.rule_values import FormatError, cel_value
from lifecycle.apiserver.apiextensions.schema_validation import ABSENT, NO_PATH
from lifecycle.apiserver.cel.environment import (
    DYN,
    CompileError,
    Environment,
    EvaluationError,
    Program,
)

BLOCKING = {NOT_SUPPORTED, REQUIRED, TOO_LONG, TOO_MANY, TYPE_INVALID}
UNCHECKED = (
    "some validation rules were not checked because the object was invalid; correct the"
    " existing errors to complete validation"
)
MAX_MESSAGE = 5 * 1024


@cache
def _environments() -> tuple[Environment, Environment, Environment]:
    both = Environment({"self": DYN, "oldSelf": DYN})
    return (
        Environment({"self": DYN}),
        both,
        Environment({"self": DYN, "old__self": DYN}, bindings=True),
    )


_OPTIONAL_OLD_SELF = (
    "cel.bind(oldSelf, size(old__self) > 0 ? optional.of(old__self[0]) :"
    " optional.none(), %s)"
)
"""With `optionalOldSelf` the old value is an optional one. The library takes none from
outside: it comes as a list of one or of nothing.
"""


_RULE = "cel expression"


class MessageError(CompileError):
    """A message expression that cannot be compiled, or says no string."""


def _program(environment: Environment, text: str, kind: str, wrong: str) -> Program:
    """A program for a result of a type that may not be known before it runs. Upstream:
    `compileRule`.
    """
    environment.compile(text)
    try:
        return environment.compile(text, (kind, "dyn"))
    except CompileError:
        raise CompileError(f"{wrong} must evaluate to a {kind}") from None


def _message_program(environment: Environment, text: str) -> Program:
    try:
        return _program(environment, text, "string", "messageExpression")
    except CompileError as error:
        prefix = (
            ""
            if str(error).startswith("messageExpression must")
            else "messageExpression "
        )
        raise MessageError(f"{prefix}{error}") from None


class Rule:
    """One compiled rule. Raises CompileError."""

    def __init__(self, source: Object) -> None:
        self.source = source
        self.text = source.get("rule", "").strip()
        self.optional = bool(source.get("optionalOldSelf"))
        plain, transition, optional = _environments()
        if self.optional:
            self.uses_old_self = re.search(r"\boldSelf\b", self.text) is not None
            self.program: Program = _program(
                optional, _OPTIONAL_OLD_SELF % self.text, "bool", _RULE
            )
        else:
            self.uses_old_self = False
            try:
                plain.compile(self.text)
            except CompileError:
                transition.compile(self.text)
                self.uses_old_self = True
            self.program = _program(
                transition if self.uses_old_self else plain, self.text, "bool", _RULE
            )
        expression = source.get("messageExpression", "").strip()
        self.message_program = (
            _message_program(transition, expression) if expression else None
        )

    @property
    def quoted(self) -> str:
        """The rule, or the message that stands for it, as errors quote it."""
        return (self.source.get("message") or "").strip() or self.text

    def error(self, path: str, value: Any, values: dict[str, Any]) -> FieldError:
        """What is said when the rule does not hold."""
        detail = (
            self.source.get("message") or ""
        ).strip() or f"failed rule: {self.text}"
        if self.message_program is not None:
            try:
                message = str(self.message_program.evaluate(values)).strip()
                if message and "\n" not in message and len(message) <= MAX_MESSAGE:
                    detail = message
            except EvaluationError:
                pass  # then the message, or the rule itself, has to do
        where = self.source.get("fieldPath", "")
        here = (path + where).lstrip(".") or NO_PATH
        bad_value = OMIT if isinstance(value, dict | list) else value
        reason = self.source.get("reason") or "FieldValueInvalid"
        if reason in (FORBIDDEN, REQUIRED):
            return FieldError(reason, here, "", detail)
        if reason == DUPLICATE:
            return FieldError(DUPLICATE, here, bad_value)
        return invalid(here, bad_value, detail)


@lru_cache(maxsize=1024)
def _compiled(source: bytes) -> Rule | CompileError:
    try:
        return Rule(fast_json.loads(source))
    except CompileError as error:
        return error


def compiled_rules(schema: Object) -> list[Rule | CompileError]:
    """The rules of one node of a schema."""
    return [
        _compiled(fast_json.dumps(each))
        for each in schema.get("x-kubernetes-validations") or ()
    ]


def has_rules(schema: Any) -> bool:
    """Whether a schema has rules anywhere."""
    if isinstance(schema, dict):
        return bool(schema.get("x-kubernetes-validations")) or any(
            has_rules(each) for each in schema.values()
        )
    return isinstance(schema, list) and any(has_rules(each) for each in schema)


def validate_rules(
    value: Any,
    schema: Object,
    old: Any = ABSENT,
    warnings: list[str] | None = None,
    *,
    is_resource: bool = True,
    ratchets: bool = True,
) -> list[FieldError]:
    """Everything that breaks a rule. `old` is the stored value of an update; what an
    unchanged part breaks goes to `warnings` if the check `ratchets`.
    """
    return list(
        _walk(
            value,
            schema,
            old,
            "",
            is_resource,
            False if ratchets else None,
            warnings if warnings is not None else [],
        )
    )


def _walk(
    value: Any,
    schema: Object,
    old: Any,
    path: str,
    is_resource: bool,
    unchanged: bool | None,
    warnings: list[str],
) -> Iterator[FieldError]:
    if value is None and not schema.get("nullable"):
        return
    if unchanged is False:  # None: nobody asks
        unchanged = old is not ABSENT and bool(value == old)
    yield from _here(value, schema, old, path, is_resource, unchanged, warnings)
    for nested in schema.get("allOf") or ():
        if has_rules(nested):
            yield from _walk(value, nested, old, path, is_resource, unchanged, warnings)
    if isinstance(value, dict):
        properties, additional = (
            schema.get("properties") or {},
            schema.get("additionalProperties"),
        )
        before = old if isinstance(old, dict) else {}
        for key, item in value.items():
            child = properties.get(key)
            here = f"{path}.{key}" if path else key
            if child is None and isinstance(additional, dict):
                child, here = additional, f"{path}[{key}]"
            if child is not None:
                embedded = bool(child.get("x-kubernetes-embedded-resource"))
                yield from _walk(
                    item,
                    child,
                    before.get(key, ABSENT),
                    here,
                    embedded,
                    unchanged,
                    warnings,
                )
    elif isinstance(value, list) and schema.get("items"):
        items = schema["items"]
        keys = schema.get("x-kubernetes-list-map-keys") or []
        is_map = schema.get("x-kubernetes-list-type") == "map" and isinstance(old, list)
        known = {_identity(each, keys): each for each in old} if is_map else {}
        for index, item in enumerate(value):
            was = known.get(_identity(item, keys), ABSENT) if is_map else ABSENT
            embedded = bool(items.get("x-kubernetes-embedded-resource"))
            yield from _walk(
                item, items, was, f"{path}[{index}]", embedded, unchanged, warnings
            )


def _identity(item: Any, keys: list[str]) -> bytes:
    return fast_json.dumps(
        [item.get(key) for key in keys] if isinstance(item, dict) else item
    )


def _here(
    value: Any,
    schema: Object,
    old: Any,
    path: str,
    is_resource: bool,
    unchanged: bool | None,
    warnings: list[str],
) -> Iterator[FieldError]:
    rules = compiled_rules(schema)
    if not rules:
        return
    where = path or NO_PATH
    values: dict[str, Any] = {}
    unreadable = ""
    try:
        if old is not ABSENT:
            values["oldSelf"] = cel_value(old, schema, is_resource=is_resource)
        values["self"] = cel_value(value, schema, is_resource=is_resource)
    except FormatError as error:
        unreadable = str(error)
    for rule in rules:
        if isinstance(rule, CompileError):
            yield invalid(where, schema.get("type", ""), f"rule compile error: {rule}")
            continue
        if rule.uses_old_self and old is ABSENT and not rule.optional:
            continue
        if unreadable:
            detail = f"{unreadable} evaluating rule: {rule.quoted}"
            yield invalid(where, schema.get("type", ""), detail)
            continue
        activation = values
        if rule.optional:
            activation = {
                "self": values["self"],
                "old__self": [values["oldSelf"]] if "oldSelf" in values else [],
            }
        try:
            holds = rule.program.evaluate(activation)
        except EvaluationError as error:
            text = str(error)
            kind = schema.get("type", "")
            if text.startswith("no such overload"):
                detail = (
                    f"'{text}': call arguments did not match a supported operator,"
                    f" function or macro signature for rule: {rule.quoted}"
                )
            else:
                detail = f"{text} evaluating rule: {rule.quoted}"
            yield invalid(where, kind, detail)
            continue
        if holds is True:
            continue
        error_here = rule.error(path, value, values)
        if unchanged and not rule.uses_old_self:
            warnings.append(str(error_here))
        else:
            yield error_here
