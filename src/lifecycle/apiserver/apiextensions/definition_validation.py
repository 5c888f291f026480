"""What is wrong with a CustomResourceDefinition.

Upstream: `apiextensions-apiserver/pkg/apis/apiextensions/validation/validation.go`
(`ValidateCustomResourceDefinition`, `ValidateCustomResourceDefinitionUpdate`),
`pkg/apihelpers/helpers.go` (`GetAPIApprovalState`), v1.36. Left out: letting through in
an update what an older version once accepted (such definitions cannot be here).
"""

from __future__ import annotations

import re
from typing import Any
from urllib.parse import urlsplit

from lifecycle.api.field_errors import (
    FieldError,
    duplicate,
    forbidden,
    invalid,
    not_supported,
    required,
    too_many,
)
from lifecycle.api.validation import content
from lifecycle.api.wire import Object
from lifecycle.apiserver.apiextensions.definitions import condition_is_true
from lifecycle.apiserver.apiextensions.field_paths import PathError, field_at
from lifecycle.apiserver.apiextensions.internal_form import (
    internal_form,
    shown_schema,
    shown_versions,
)
from lifecycle.apiserver.apiextensions.schema_rules import (
    validate_defaults,
    validate_schema,
)
from lifecycle.apiserver.apiextensions.structural import (
    cannot_be_structural,
    validate_structural,
)
from lifecycle.apiserver.registry.rest.object_meta import (
    validate_object_meta,
    validate_object_meta_update,
)
from lifecycle.apiserver.registry.rest.webhook_clients import validate_webhook_client

COLUMN_TYPES = ("boolean", "date", "integer", "number", "string")
COLUMN_FORMATS = (
    "byte",
    "date",
    "date-time",
    "double",
    "float",
    "int32",
    "int64",
    "password",
)
ROOT_FIELDS_WITH_STATUS = (
    "Description", "Type", "Format", "Title", "Maximum", "ExclusiveMaximum", "Minimum",
    "ExclusiveMinimum", "MaxLength", "MinLength",
    "Pattern", "MaxItems", "MinItems", "UniqueItems", "MultipleOf", "Required", "Enum",
    "Items", "Properties", "ExternalDocs", "Example",
    "XPreserveUnknownFields", "XValidations",
)  # fmt: skip
APPROVED = "api-approved.kubernetes.io"
_WHY = "https://github.com/kubernetes/enhancements/pull/1111"
MAX_SELECTABLE = 8
IMMUTABLE = "field is immutable"


def validate_definition(definition: Object) -> list[FieldError]:
    """Everything wrong with a new definition."""
    spec = definition.get("spec") or {}
    wanted = f"{(spec.get('names') or {}).get('plural', '')}.{spec.get('group', '')}"

    def name_rule(name: str, prefix: bool) -> tuple[str, ...]:
        messages = tuple(content.name_is_dns_subdomain(name, prefix))
        return (
            messages
            if name == wanted
            else (*messages, 'must be spec.names.plural+"."+spec.group')
        )

    errors = validate_object_meta(definition.get("metadata") or {}, False, name_rule)
    errors += _validate_spec(spec)
    errors += _validate_status(definition)
    errors += _approval(definition, None)
    return errors + _preserve(spec, None)


def validate_definition_update(new: Object, old: Object) -> list[FieldError]:
    """Everything wrong with a changed definition: group and plural stay, scope and kind
    as soon as it is established.
    """
    errors = validate_object_meta_update(new["metadata"], old["metadata"])
    spec, before = new.get("spec") or {}, old.get("spec") or {}
    errors += _validate_spec(spec)
    names, old_names = spec.get("names") or {}, before.get("names") or {}
    fixed: list[tuple[str, Any, Any]] = []
    if condition_is_true(old, "Established"):
        fixed += [("spec.scope", spec.get("scope"), before.get("scope"))]
        fixed += [("spec.names.kind", names.get("kind"), old_names.get("kind"))]
    fixed += [("spec.group", spec.get("group"), before.get("group"))]
    fixed += [("spec.names.plural", names.get("plural"), old_names.get("plural"))]
    errors += [
        invalid(field, value, IMMUTABLE) for field, value, was in fixed if value != was
    ]
    errors += _validate_status(new)
    errors += _approval(new, old)
    return errors + _preserve(spec, before)


def validate_definition_status_update(new: Object, old: Object) -> list[FieldError]:
    """The status is the server's own: only the metadata is looked at, and what is
    stored of names.
    """
    return validate_object_meta_update(new["metadata"], old["metadata"])


def _validate_spec(spec: Object) -> list[FieldError]:
    errors: list[FieldError] = []
    group, scope, names = (
        spec.get("group", ""),
        spec.get("scope", ""),
        spec.get("names") or {},
    )
    if not group:
        errors.append(required("spec.group"))
    elif messages := content.dns1123_subdomain(group):
        errors.append(invalid("spec.group", group, ",".join(messages)))
    elif "." not in group:
        errors.append(
            invalid("spec.group", group, "should be a domain with at least one dot")
        )
    if not scope:
        errors.append(required("spec.scope"))
    elif scope not in ("Cluster", "Namespaced"):
        errors.append(not_supported("spec.scope", scope, ("Cluster", "Namespaced")))
    inner = internal_form(spec)
    errors += _versions(inner, kept=bool(spec.get("preserveUnknownFields")))
    errors += [
        required(f"spec.names.{key}")
        for key in ("plural", "singular", "kind", "listKind")
        if not names.get(key)
    ]
    errors += _names(names)
    errors += _shared(inner, "spec", _any_status(inner))
    conversion = spec.get("conversion")
    if (
        conversion is not None
        and conversion.get("strategy") != "None"
        and spec.get("preserveUnknownFields")
    ):
        why = "must be None if spec.preserveUnknownFields is true"
        errors.append(
            invalid("spec.conversion.strategy", conversion.get("strategy", ""), why)
        )
    return errors + _conversion(conversion)


def _versions(spec: Object, *, kept: bool) -> list[FieldError]:
    errors: list[FieldError] = []
    versions = spec.get("versions") or []
    if (spec.get("validation") or {}).get("openAPIV3Schema") is None:
        for index, version in enumerate(versions):
            if (version.get("schema") or {}).get("openAPIV3Schema") is None:
                errors.append(
                    required(f"spec.versions[{index}].schema.openAPIV3Schema")
                )
    if kept and any(
        _has_default(holder)
        for holder in (spec.get("validation"), *(v.get("schema") for v in versions))
    ):
        why = "must be false in order to use defaults in the schema"
        errors.append(invalid("spec.preserveUnknownFields", True, why))
    for index, version in enumerate(versions):
        here, name = f"spec.versions[{index}]", version.get("name", "")
        if messages := content.dns1035_label(name):
            errors.append(invalid(f"{here}.name", name, ",".join(messages)))
        errors += _deprecation(version, here)
        errors += _shared(
            {**version, "validation": version.get("schema")},
            here,
            _any_status({**spec, "versions": [version]}),
        )
    names = [version.get("name", "") for version in versions]
    if len(set(names)) != len(names):
        errors.append(
            invalid(
                "spec.versions",
                shown_versions(versions),
                "must contain unique version names",
            )
        )
    if sum(bool(version.get("storage")) for version in versions) != 1:
        why = "must have exactly one version marked as storage version"
        shown = None if spec.get("versions") is None else shown_versions(versions)
        errors.append(invalid("spec.versions", shown, why))
    if (
        versions
        and (name := versions[0].get("name", ""))
        and (messages := content.dns1035_label(name))
    ):
        errors.append(
            invalid("spec.version", name, ",".join(messages))
        )  # the first, once more
    return errors


def _has_default(holder: Any) -> bool:
    """Whether a schema fills in anything, wherever."""
    if isinstance(holder, list):
        return any(map(_has_default, holder))
    if not isinstance(holder, dict):
        return False
    children = [
        v
        for k, v in holder.items()
        if k not in ("default", "enum", "example", "properties", "definitions")
    ]
    children += [
        *(holder.get("properties") or {}).values(),
        *(holder.get("definitions") or {}).values(),
    ]
    return holder.get("default") is not None or _has_default(children)


def _any_status(spec: Object) -> bool:
    holders = [spec, *(spec.get("versions") or ())]
    return any(
        (holder.get("subresources") or {}).get("status") is not None
        for holder in holders
    )


def _deprecation(version: Object, here: str) -> list[FieldError]:
    warning = version.get("deprecationWarning")
    if warning is None:
        return []
    if not version.get("deprecated"):
        reasons = ["can only be set for deprecated versions"]
    else:
        reasons = (
            ["must be <= 256 characters long"] if len(warning.encode()) > 256 else []
        )
        reasons += [] if warning else ["must not be an empty string"]
        strange = next(
            (i for i, char in enumerate(warning) if not char.isprintable()), None
        )
        if strange is not None:
            index = len(warning[:strange].encode())
            reasons.append(
                "must only contain printable UTF-8 characters; non-printable character"
                f" found at index {index}"
            )
    return [invalid(f"{here}.deprecationWarning", warning, why) for why in reasons]


def _shared(holder: Object, here: str, status_enabled: bool) -> list[FieldError]:
    """What is said of a version, or of all of them at the top: schema, subresources,
    columns, selectable fields.
    """
    errors: list[FieldError] = []
    schema, scale = (
        (holder.get("validation") or {}).get("openAPIV3Schema"),
        (holder.get("subresources") or {}).get("scale"),
    )
    if schema is not None:
        where = "validation" if here == "spec" else "schema"
        errors += _schema(schema, f"{here}.{where}.openAPIV3Schema", status_enabled)
    if scale is not None:
        errors += _scale(scale, f"{here}.subresources.scale")
    for index, column in enumerate(holder.get("additionalPrinterColumns") or ()):
        errors += _column(column, f"{here}.additionalPrinterColumns[{index}]")
    where = f"{here}.selectableFields"
    if holder.get("selectableFields") and schema is None:
        wrong = (
            "validations.schema is included"
            if here == "spec"
            else "`version.schema.openAPIV3Schema` is not included"
        )
        return [
            *errors,
            invalid(where, "", f"may only be set when {wrong}"),
        ]  # upstream's words
    return errors + _selectable(holder, schema or {}, where)


def _schema(schema: Object, path: str, has_status: bool) -> list[FieldError]:
    errors: list[FieldError] = []
    if has_status:
        for key, value in schema.items():
            name = _go_name(key)
            if not value:
                continue
            if name == "Type":
                if value != "object":
                    why = (
                        'only "object" is allowed as the type at the root of the schema'
                        " if the status subresource is enabled"
                    )
                    errors.append(invalid(f"{path}.type", value, why))
                    break
            elif name not in ROOT_FIELDS_WITH_STATUS:
                why = (
                    f"only [{' '.join(ROOT_FIELDS_WITH_STATUS)}] fields are allowed at"
                    " the root of the schema if the status subresource is enabled"
                )
                errors.append(invalid(path, shown_schema(schema), why))
                break
    if schema.get("nullable"):
        errors.append(
            forbidden(f"{path}.nullable", "nullable cannot be true at the root")
        )
    schema_errors, rule_errors = validate_schema(schema, path)
    if not cannot_be_structural(schema):
        structural = validate_structural(schema, path)
        errors += structural or (
            [] if schema_errors else validate_defaults(schema, path)
        )
        rule_errors = [] if structural else rule_errors
    return errors + schema_errors + rule_errors


def _go_name(key: str) -> str:
    if key.startswith("x-kubernetes-"):
        return "X" + "".join(
            part.capitalize() for part in key.removeprefix("x-kubernetes-").split("-")
        )
    return key[:1].upper() + key[1:]


def _simple_path(
    path: str, here: str, prefixes: tuple[str, ...], where: str
) -> list[FieldError]:
    if not path:
        return [invalid(here, path, "must not be empty")]
    if path[0] != ".":
        return [invalid(here, path, "must be a simple json path starting with .")]
    if path == ".":
        return (
            [invalid(here, path, "must be a json path in the dot notation")]
            if not prefixes
            else []
        )
    if prefixes and not path.startswith(prefixes):
        return [invalid(here, path, f"should be a json path under {where}")]
    return []


def _scale(scale: Object, here: str) -> list[FieldError]:
    errors: list[FieldError] = []
    for key, prefix in (
        ("specReplicasPath", ".spec."),
        ("statusReplicasPath", ".status."),
    ):
        path = scale.get(key, "")
        if not path:
            errors.append(required(f"{here}.{key}"))
        else:
            errors += _simple_path(path, f"{here}.{key}", (prefix,), prefix[:-1])
    selector = scale.get("labelSelectorPath")
    if selector:
        errors += _simple_path(
            selector,
            f"{here}.labelSelectorPath",
            (".spec.", ".status."),
            "either .spec or .status",
        )
    return errors


def _column(column: Object, here: str) -> list[FieldError]:
    errors: list[FieldError] = []
    if not column.get("name"):
        errors.append(required(f"{here}.name"))
    types = f"must be one of {','.join(COLUMN_TYPES)}"
    if not column.get("type"):
        errors.append(required(f"{here}.type", types))
    elif column["type"] not in COLUMN_TYPES:
        errors.append(invalid(f"{here}.type", column["type"], types))
    if column.get("format") and column["format"] not in COLUMN_FORMATS:
        errors.append(
            invalid(
                f"{here}.format",
                column["format"],
                f"must be one of {','.join(COLUMN_FORMATS)}",
            )
        )
    if not column.get("jsonPath"):
        errors.append(required(f"{here}.JSONPath"))
    else:
        errors += _simple_path(column["jsonPath"], f"{here}.JSONPath", (), "")
    return errors


def _selectable(version: Object, schema: Object, here: str) -> list[FieldError]:
    errors: list[FieldError] = []
    seen: set[tuple[str, ...]] = set()
    for index, field in enumerate(version.get("selectableFields") or ()):
        path, place = field.get("jsonPath", ""), f"{here}[{index}].jsonPath"
        if not path:
            errors.append(required(place))
            continue
        try:
            steps, node = field_at(path, schema, brackets=False)
        except PathError as error:
            errors.append(invalid(place, path, f"is an invalid path: {error}"))
            continue
        if steps[:1] == ("metadata",):
            errors.append(invalid(place, path, "must not point to fields in metadata"))
        if (node or {}).get("type") not in ("string", "boolean", "integer"):
            why = (
                "must point to a field of type string, boolean or integer. Enum string"
                " fields and strings with formats are allowed."
            )
            errors.append(invalid(place, path, why))
        if steps in seen:
            errors.append(duplicate(place, path))
        seen.add(steps)
    if len(seen) > MAX_SELECTABLE:
        errors.append(too_many(here, len(seen), MAX_SELECTABLE))
    return errors


def _names(names: Object) -> list[FieldError]:
    errors: list[FieldError] = []
    for key in ("plural", "singular", "kind", "listKind"):
        value = names.get(key, "")
        mixed = key in ("kind", "listKind")
        messages = (
            content.dns1035_label(value.lower() if mixed else value) if value else []
        )
        if messages:
            why = ",".join(messages)
            why = (
                f"may have mixed case, but should otherwise match: {why}"
                if mixed
                else why
            )
            errors.append(invalid(f"spec.names.{key}", value, why))
    for key in ("shortNames", "categories"):
        for index, value in enumerate(names.get(key) or ()):
            if (messages := content.dns1035_label(value)) and (
                key == "shortNames" or messages
            ):
                errors.append(
                    invalid(f"spec.names.{key}[{index}]", value, ",".join(messages))
                )
        if (
            key == "shortNames"
            and names.get("kind")
            and names.get("kind") == names.get("listKind")
        ):
            errors.append(
                invalid(
                    "spec.names.listKind",
                    names["listKind"],
                    "kind and listKind may not be the same",
                )
            )
    return errors


def _conversion(conversion: Object | None) -> list[FieldError]:
    if conversion is None:
        return []
    strategy, webhook = conversion.get("strategy", ""), conversion.get("webhook")
    here = "spec.conversion"
    errors: list[FieldError] = []
    if not strategy:
        errors.append(required(f"{here}.strategy"))
    elif strategy not in ("None", "Webhook"):
        errors.append(not_supported(f"{here}.strategy", strategy, ("None", "Webhook")))
    config = (webhook or {}).get("clientConfig")
    versions = (webhook or {}).get("conversionReviewVersions") or []
    if strategy != "Webhook":
        if config is not None:
            why = "should not be set when strategy is not set to Webhook"
            errors.append(forbidden(f"{here}.webhookClientConfig", why))
        if versions:
            why = "should not be set when strategy is not set to Webhook"
            errors.append(forbidden(f"{here}.conversionReviewVersions", why))
        return errors
    if config is None:
        errors.append(
            required(
                f"{here}.webhookClientConfig",
                "required when strategy is set to Webhook",
            )
        )
    else:
        service = config.get("service")
        if (
            service is not None
        ):  # upstream hands name and namespace over in the wrong order
            config = {
                **config,
                "service": {
                    **service,
                    "name": service.get("namespace"),
                    "namespace": service.get("name"),
                },
            }
        errors += validate_webhook_client(config, f"{here}.webhookClientConfig")
    if not versions:
        errors.append(required(f"{here}.conversionReviewVersions"))
        return errors
    for index, version in enumerate(versions):
        place = f"{here}.conversionReviewVersions[{index}]"
        if version in versions[:index]:
            errors.append(invalid(place, version, "duplicate version"))
        else:
            errors += [
                invalid(place, version, why) for why in content.dns1035_label(version)
            ]
    if not set(versions) & {"v1", "v1beta1"}:
        why = "must include at least one of v1, v1beta1"
        errors.append(invalid(f"{here}.conversionReviewVersions", versions, why))
    return errors


def _validate_status(definition: Object) -> list[FieldError]:
    stored = (definition.get("status") or {}).get("storedVersions") or []
    here = "status.storedVersions"
    if not stored:
        return [invalid(here, stored or None, "must have at least one stored version")]
    versions = (definition.get("spec") or {}).get("versions") or []
    errors: list[FieldError] = []
    unseen = set(stored)
    for version in versions:
        if (
            version.get("storage") and version.get("name", "") not in unseen
        ):  # as well if the name comes a second time
            errors.append(
                invalid(
                    here,
                    stored,
                    f"must have the storage version {version.get('name', '')}",
                )
            )
        unseen.discard(version.get("name", ""))
    names = {version.get("name", "") for version in versions}
    for index, name in enumerate(stored):
        if name not in names:
            why = (
                f"missing from spec.versions; {name} was previously a storage version,"
                " and must remain in spec.versions until a storage migration ensures"
                f" no data remains persisted in {name} and removes {name} from"
                " status.storedVersions"
            )
            errors.append(invalid(f"{here}[{index}]", name, why))
    return errors


def _approval(new: Object, old: Object | None) -> list[FieldError]:
    group = (new.get("spec") or {}).get("group", "")
    if not (
        group.endswith((".k8s.io", ".kubernetes.io"))
        or group in ("k8s.io", "kubernetes.io")
    ):
        return []
    state, why = approval(new)
    if state in ("approved", "bypassed") or (
        old is not None and approval(old)[0] == state
    ):
        return []
    here = f"metadata.annotations[{APPROVED}]"
    given = (new["metadata"].get("annotations") or {}).get(APPROVED)
    return [required(here, why) if given is None else invalid(here, given, why)]


def approval(definition: Object) -> tuple[str, str]:
    """Whether a definition in a group of the Kubernetes community says who approved it,
    and why not.
    """
    given = (definition["metadata"].get("annotations") or {}).get(APPROVED)
    if not given:
        return (
            "missing",
            f'protected groups must have approval annotation "{APPROVED}", see {_WHY}',
        )
    if given.startswith("unapproved"):
        return "bypassed", f'not approved: "{given}"'
    parts = urlsplit(given)
    if parts.scheme and parts.netloc and re.match(r"^https?$", parts.scheme):
        return "approved", f"approved in {given}"
    return (
        "invalid",
        (
            f'protected groups must have approval annotation "{APPROVED}" with either a'
            f' URL or a reason starting with "unapproved", see {_WHY}'
        ),
    )


def _preserve(spec: Object, old: Object | None) -> list[FieldError]:
    if not spec.get("preserveUnknownFields") or (old or {}).get(
        "preserveUnknownFields"
    ):
        return []
    why = (
        "cannot set to true, set x-kubernetes-preserve-unknown-fields to true in"
        " spec.versions[*].schema instead"
    )
    return [invalid("spec.preserveUnknownFields", True, why)]
