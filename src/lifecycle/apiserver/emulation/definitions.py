"""CustomResourceDefinitions of `apiextensions.k8s.io/v1beta1`.

They began with one version, and with one schema, one set of subresources and one table
for it, at the top of `spec`. More versions came, and later what is different from one
to the other; what all have in common stayed at the top. Today each version says it
all.

Upstream: `apiextensions-apiserver/pkg/apis/apiextensions/v1beta1/defaults.go`,
`.../apiextensions/v1/conversion.go`, `.../apiextensions/validation/validation.go`
(`validateCustomResourceDefinitionSpec`: what is said at the top and what is said of
each version), v1.20.
"""

from __future__ import annotations

from typing import Any

from lifecycle.api.field_errors import FieldError, forbidden, invalid
from lifecycle.api.http.wire import Object
from lifecycle.apiserver.apiextensions.internal_form import (
    PER_VERSION,
    go_versions,
    internal_form,
)

_COLUMNS = "additionalPrinterColumns"
_SHARED = ("schema", "subresources", _COLUMNS)
"""What v1beta1 may say at the top, by its name in a version."""
_CALLED = {"schema": "schemas", "subresources": "subresources", _COLUMNS: _COLUMNS}
_WEBHOOK = ("webhookClientConfig", "conversionReviewVersions")


# -- defaults and validation -----------------------------------------------------------


def _completed(spec: Object) -> Object:
    """With the defaults of v1beta1. Upstream:
    `SetDefaults_CustomResourceDefinitionSpec`.
    """
    spec = dict(spec)
    if not spec.get("scope"):
        spec["scope"] = "Namespaced"
    if not spec.get("versions") and spec.get("version"):
        only = {"name": spec["version"], "served": True, "storage": True}
        spec["versions"] = [only]
    if not spec.get("version") and spec.get("versions"):
        spec["version"] = spec["versions"][0].get("name", "")
    conversion = dict(spec.get("conversion") or {"strategy": "None"})
    if conversion.get("strategy") == "Webhook":
        versions = conversion.get("conversionReviewVersions") or ["v1beta1"]
        conversion["conversionReviewVersions"] = versions
    spec["conversion"] = conversion
    if spec.get("preserveUnknownFields") is None:
        spec["preserveUnknownFields"] = True
    return spec


def validate_definition_v1beta1(obj: Object) -> list[FieldError]:
    """What only the old form can get wrong: saying a thing in two places, or the same
    of each version.
    """
    spec = _completed(obj.get("spec") or {})
    versions: list[Object] = spec.get("versions") or []
    errors = [
        forbidden(
            f"spec.{PER_VERSION[key]}",
            f"top-level and per-version {_CALLED[key]} are mutually exclusive",
        )
        for key in _SHARED
        if spec.get(PER_VERSION[key]) and any(version.get(key) for version in versions)
    ]
    errors += [
        invalid(
            "spec.versions",
            go_versions(list(map(_columns_to_served, versions))),
            f"per-version {_CALLED[key]} may not all be set to identical values"
            f" (top-level {PER_VERSION[key]} should be used instead)",
        )
        for key in _SHARED
        if versions and _all_the_same(version.get(key) for version in versions)
    ]
    if versions and versions[0].get("name", "") != spec.get("version"):
        why = "must match the first version in spec.versions"
        errors.append(invalid("spec.version", spec.get("version"), why))
    return errors


def _all_the_same(values: Any) -> bool:
    first, *others = values
    return bool(first) and all(other == first for other in others)


# -- the two forms ---------------------------------------------------------------------


def _renamed(holder: Object, old: str, new: str) -> Object:
    """A version, or the top, with columns that call their path otherwise."""
    if not holder.get(_COLUMNS):
        return holder
    columns = [
        {(new if key == old else key): value for key, value in column.items()}
        for column in holder[_COLUMNS]
    ]
    return {**holder, _COLUMNS: columns}


def _columns_to_served(holder: Object) -> Object:
    return _renamed(holder, "JSONPath", "jsonPath")


def definition_to_served(obj: Object) -> Object:
    """What is at the top goes to every version."""
    spec = _columns_to_served(_completed(obj.get("spec") or {}))
    top = {
        key: spec.pop(PER_VERSION[key], None)
        for key in _SHARED
        if PER_VERSION[key] in spec
    }
    shared = {key: value for key, value in top.items() if value is not None}
    spec.pop("version", None)
    if spec.get("versions"):
        spec["versions"] = [
            {**_columns_to_served(version), **shared} for version in spec["versions"]
        ]
    conversion = spec["conversion"]
    kept = {key: value for key, value in conversion.items() if key not in _WEBHOOK}
    webhook = {
        new: conversion[old]
        for old, new in zip(
            _WEBHOOK, ("clientConfig", "conversionReviewVersions"), strict=True
        )
        if conversion.get(old) is not None
    }
    spec["conversion"] = {**kept, "webhook": webhook} if webhook else kept
    return {**obj, "spec": spec}


def definition_to_old(obj: Object) -> Object:
    """What all versions say goes to the top."""
    spec = dict(obj.get("spec") or {})
    spec.setdefault("preserveUnknownFields", False)
    if spec.get("versions"):
        spec["version"] = spec["versions"][0].get("name", "")
        spec = internal_form(spec)
        spec["versions"] = [
            _renamed(version, "jsonPath", "JSONPath") for version in spec["versions"]
        ]
    spec = _renamed(spec, "jsonPath", "JSONPath")
    conversion = dict(spec.get("conversion") or {})
    webhook = conversion.pop("webhook", None) or {}
    if "clientConfig" in webhook:
        conversion["webhookClientConfig"] = webhook["clientConfig"]
    if "conversionReviewVersions" in webhook:
        conversion["conversionReviewVersions"] = webhook["conversionReviewVersions"]
    if conversion:
        spec["conversion"] = conversion
    return {**obj, "spec": spec}
