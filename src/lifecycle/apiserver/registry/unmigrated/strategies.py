"""The strategy of a kind without a home, gathered from the tables by topic."""

from __future__ import annotations

from collections.abc import Callable

from lifecycle.api.resources import resource_for_kind
from lifecycle.api.wire import Object
from lifecycle.apiserver.registry.printers.default import DEFAULT
from lifecycle.apiserver.registry.printers.printer import Printer
from lifecycle.apiserver.registry.rest.field_labels import METADATA_ONLY
from lifecycle.apiserver.registry.rest.strategy import (
    Strategy,
    UpdateStrategy,
    do_nothing,
    no_errors,
    no_warnings,
    validate_metadata,
)
from lifecycle.apiserver.registry.rest.update import prepare_for_status_update
from lifecycle.apiserver.registry.unmigrated.defaults.registry import DEFAULTERS
from lifecycle.apiserver.registry.unmigrated.strategy import rest
from lifecycle.apiserver.registry.unmigrated.strategy.field_labels import FIELD_LABELS
from lifecycle.apiserver.registry.unmigrated.strategy.on_create import ON_CREATE
from lifecycle.apiserver.registry.unmigrated.table.registry import PRINTERS
from lifecycle.apiserver.registry.unmigrated.validation import registry, warnings

Key = tuple[str, str]


def unmigrated_strategy(api_version: str, kind: str) -> Strategy:
    """The strategy of a kind, gathered from the tables."""
    key = (api_version, kind)
    facts = rest.FACTS.get(kind, rest.PLAIN)
    validate, validate_update = registry.RULES.get(key, (None, None))
    return Strategy(
        set_defaults=DEFAULTERS.get(key, do_nothing),
        generation=facts.generation,
        prepare_for_create=_prepare_for_create(kind),
        validate=validate or registry.CREATE_ONLY.get(key, validate_metadata),
        warnings_on_create=warnings.RULES.get(key, no_warnings),
        canonicalize=rest.CANONICALIZE.get(kind, do_nothing),
        allow_create_on_update=facts.create_on_update,
        allow_unconditional_update=facts.unconditional_update,
        prepare_for_update=rest.ON_UPDATE.get(kind, do_nothing),
        validate_update=validate_update or no_errors,
        warnings_on_update=_warnings_on_update(key),
        subresources=_subresources(key),
        marks_own_deletion=kind == "CustomResourceDefinition",
        field_labels=FIELD_LABELS.get(kind, METADATA_ONLY),
        printer=_printer(key),
    )


def _prepare_for_create(kind: str) -> Callable[[Object], None]:
    special = ON_CREATE.get(kind, do_nothing)
    if kind not in rest.WITH_PODS:
        return special

    def prepare(obj: Object) -> None:
        rest.drop_disabled_on_create(obj)
        special(obj)

    return prepare


def _warnings_on_update(key: Key) -> Callable[[Object, Object], list[str]]:
    rule = warnings.UPDATE_RULES.get(key)
    if rule is None:
        return no_warnings
    counted = key in warnings.COUNTED

    def warn(new: Object, old: Object) -> list[str]:
        before, after = old["metadata"], new["metadata"]
        if counted and after.get("generation") == before.get("generation"):
            return []
        return rule(new)

    return warn


def _subresources(key: Key) -> dict[str, UpdateStrategy]:
    row, kind = resource_for_kind(*key), key[1]
    strategies = dict(rest.MORE_SUBRESOURCES.get(kind, {}))
    if row is not None and row.subresource("status") is not None:
        prepare = rest.STATUS.get(kind, prepare_for_status_update)
        strategies["status"] = UpdateStrategy(prepare)
    return {
        name: UpdateStrategy(
            strategy.prepare_for_update,
            registry.SUBRESOURCES.get((*key, name), no_errors),
            strategy.generation,
        )
        for name, strategy in strategies.items()
    }


def _printer(key: Key) -> Printer:
    row = resource_for_kind(*key)
    if row is None:
        return DEFAULT
    name = f"{row.plural}.{row.group}" if row.group else row.plural
    return PRINTERS.get(name, DEFAULT)
