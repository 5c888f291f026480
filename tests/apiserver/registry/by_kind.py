"""The rules of whatever kind an object says it is, in the order in which the registry asks for them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from lifecycle.api.field_errors import FieldError
from lifecycle.api.http.wire import Object
from lifecycle.api.resources import Resource
from lifecycle.apiserver.apiextensions.definition_store import definition_strategy
from lifecycle.apiserver.registry.printers import table as printing
from lifecycle.apiserver.registry.rest import create, update
from lifecycle.apiserver.registry.rest.strategy import Strategy
from lifecycle.apiserver.registry.strategies import strategy_for


def strategy_of(obj: Object) -> Strategy:
    strategy = strategy_for(obj.get("apiVersion", ""), obj.get("kind", ""))
    return definition_strategy(strategy) if obj.get("kind") == "CustomResourceDefinition" else strategy


def set_defaults(obj: Object) -> None:
    strategy_of(obj).set_defaults(obj)


def prepare_for_create(obj: Object) -> None:
    create.before_create(strategy_of(obj), obj)


def canonicalize(obj: Object) -> None:
    create.canonicalize(strategy_of(obj), obj)


def validate_create(obj: Object) -> list[FieldError]:
    return strategy_of(obj).validate(obj)


def warnings_for(obj: Object) -> list[str]:
    return strategy_of(obj).warnings_on_create(obj)


def prepare_for_update(new: Object, old: Object, subresource: str = "") -> None:
    update.before_update(strategy_of(new), new, old, subresource)


def validate_update(new: Object, old: Object, subresource: str = "") -> list[FieldError]:
    return update.validate_update(strategy_of(new), new, old, subresource)


def warnings_for_update(new: Object, old: Object) -> list[str]:
    return strategy_of(new).warnings_on_update(new, old)


def table(resource: Resource, objs: Iterable[Object], **more: Any) -> Object:
    printer = strategy_for(resource.api_version, resource.kind).printer
    return printing.table(printer, resource, objs, **more)


def columns(resource: Resource) -> list[Object]:
    return printing.columns(strategy_for(resource.api_version, resource.kind).printer)
