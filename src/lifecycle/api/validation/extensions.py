"""Webhook configurations, admission policies, custom resource definitions.

Upstream: `pkg/apis/admissionregistration/validation/validation.go`,
`apiextensions-apiserver/pkg/apis/apiextensions/validation/validation.go`, v1.36. Left out: whatever needs a CEL compiler, and most of the
rules for structural schemas.
"""

from __future__ import annotations

from lifecycle.api.field_errors import FieldError, duplicate, invalid, not_supported, required
from lifecycle.api.validation import content
from lifecycle.api.validation.label_selectors import validate_label_selector
from lifecycle.api.validation.object_meta import validate_object_meta, validate_object_meta_update
from lifecycle.api.wire import Object

_OPERATIONS = ("*", "CONNECT", "CREATE", "DELETE", "UPDATE")
_SCOPES = ("*", "Cluster", "Namespaced")
_SIDE_EFFECTS = ("None", "NoneOnDryRun")


def validate_webhook_configuration(configuration: Object) -> list[FieldError]:
    """Every webhook complete, names unique."""
    errors = validate_object_meta(configuration.get("metadata") or {}, False, content.name_is_dns_subdomain)
    names: set[str] = set()
    mutating = configuration.get("kind") == "MutatingWebhookConfiguration"
    for index, hook in enumerate(configuration.get("webhooks") or ()):
        here, name = f"webhooks[{index}]", hook.get("name", "")
        errors += _validate_webhook(hook, mutating, here)
        errors += _validate_review_versions(
            hook.get("admissionReviewVersions") or [], f"{here}.admissionReviewVersions"
        )
        if name and name in names:
            errors.append(duplicate(f"{here}.name", name))
        names.add(name)
    return errors


def validate_webhook_configuration_update(new: Object, old: Object) -> list[FieldError]:
    """A changed configuration is judged like a new one."""
    return validate_webhook_configuration(new)


def _validate_review_versions(versions: list[str], path: str) -> list[FieldError]:
    if not versions:
        return [required(path, "must specify one of v1, v1beta1")]
    errors: list[FieldError] = []
    for index, version in enumerate(versions):
        if version in versions[:index]:
            errors.append(invalid(f"{path}[{index}]", version, "duplicate version"))
        errors += [invalid(f"{path}[{index}]", version, why) for why in content.dns1035_label(version)]
    if not set(versions) & {"v1", "v1beta1"}:
        errors.append(invalid(path, versions, "must include at least one of v1, v1beta1"))
    return errors


def _validate_webhook(hook: Object, mutating: bool, path: str) -> list[FieldError]:
    errors = _validate_qualified_domain(hook.get("name", ""), f"{path}.name")
    for index, rule in enumerate(hook.get("rules") or ()):
        errors += _validate_rule_with_operations(rule, f"{path}.rules[{index}]")
    for field, known in (("failurePolicy", ("Fail", "Ignore")), ("matchPolicy", ("Equivalent", "Exact"))):
        if hook.get(field) is not None and hook[field] not in known:
            errors.append(not_supported(f"{path}.{field}", hook[field], known))
    effects = hook.get("sideEffects")
    if effects is None:
        errors.append(required(f"{path}.sideEffects", "must specify one of None, NoneOnDryRun"))
    elif effects not in _SIDE_EFFECTS:
        errors.append(not_supported(f"{path}.sideEffects", effects, _SIDE_EFFECTS))
    seconds = hook.get("timeoutSeconds")
    if seconds is not None and not 1 <= seconds <= 30:
        errors.append(invalid(f"{path}.timeoutSeconds", seconds, "the timeout value must be between 1 and 30 seconds"))
    for field in ("namespaceSelector", "objectSelector"):
        errors += validate_label_selector(hook.get(field), f"{path}.{field}")
    reinvocation = hook.get("reinvocationPolicy")
    if mutating and reinvocation is not None and reinvocation not in ("IfNeeded", "Never"):
        errors.append(not_supported(f"{path}.reinvocationPolicy", reinvocation, ("IfNeeded", "Never")))
    client = hook.get("clientConfig") or {}
    if (client.get("url") is None) == (client.get("service") is None):
        errors.append(required(f"{path}.clientConfig", "exactly one of url or service is required"))
    elif client.get("url") is not None:
        errors += _validate_url(client["url"], f"{path}.clientConfig.url")
    else:
        errors += _validate_service(client["service"], f"{path}.clientConfig.service")
    return errors


def _validate_qualified_domain(name: str, path: str) -> list[FieldError]:
    if not name:
        return [required(path)]
    messages = content.dns1123_subdomain(name)
    if messages:
        return [invalid(path, name, ",".join(messages))]
    if name.count(".") < 2:
        return [invalid(path, name, "should be a domain with at least three segments separated by dots")]
    return []


def _validate_url(url: str, path: str) -> list[FieldError]:
    from urllib.parse import urlsplit

    form = "; desired format: https://host[/path]"
    parts = urlsplit(url)
    errors: list[FieldError] = []
    if parts.scheme != "https":
        errors.append(invalid(path, parts.scheme, f"'https' is the only allowed URL scheme{form}"))
    if not parts.netloc:
        errors.append(invalid(path, parts.netloc, f"host must be specified{form}"))
    if parts.username is not None:
        errors.append(invalid(path, parts.username, "user information is not permitted in the URL"))
    if parts.fragment:
        errors.append(invalid(path, parts.fragment, "fragments are not permitted in the URL"))
    if parts.query:
        errors.append(invalid(path, parts.query, "query parameters are not permitted in the URL"))
    return errors


def _validate_service(service: Object, path: str) -> list[FieldError]:
    errors = [
        required(f"{path}.{field}", f"service {field} is required")
        for field in ("name", "namespace")
        if not service.get(field)
    ]
    port = service.get("port", 443)
    errors += [invalid(f"{path}.port", port, f"port is not valid: {why}") for why in content.port_number(port)]
    return errors


def _validate_rule_with_operations(rule: Object, path: str) -> list[FieldError]:
    errors: list[FieldError] = []
    operations = rule.get("operations") or []
    if not operations:
        errors.append(required(f"{path}.operations"))
    if len(operations) > 1 and "*" in operations:
        errors.append(invalid(f"{path}.operations", operations, "if '*' is present, must not specify other operations"))
    for index, operation in enumerate(operations):
        if operation not in _OPERATIONS:
            errors.append(not_supported(f"{path}.operations[{index}]", operation, _OPERATIONS))
    for field, what in (("apiGroups", "API groups"), ("apiVersions", "API versions")):
        values = rule.get(field) or []
        if not values:
            errors.append(required(f"{path}.{field}"))
        if len(values) > 1 and "*" in values:
            errors.append(invalid(f"{path}.{field}", values, f"if '*' is present, must not specify other {what}"))
        if field == "apiVersions":
            errors += [required(f"{path}.{field}[{index}]") for index, value in enumerate(values) if not value]
    resources = rule.get("resources") or []
    if not resources:
        errors.append(required(f"{path}.resources"))
    errors += [required(f"{path}.resources[{index}]") for index, resource in enumerate(resources) if not resource]
    if "*/*" in resources and len(resources) > 1:
        errors.append(invalid(f"{path}.resources", resources, "if '*/*' is present, must not specify other resources"))
    if "*" in resources and any("/" not in resource and resource != "*" for resource in resources):
        why = "if '*' is present, must not specify other resources without subresources"
        errors.append(invalid(f"{path}.resources", resources, why))
    scope = rule.get("scope")
    if scope is not None and scope not in _SCOPES:
        errors.append(not_supported(f"{path}.scope", scope, _SCOPES))
    return errors


def validate_admission_policy(policy: Object) -> list[FieldError]:
    """Something to match and something to say about it."""
    errors = validate_object_meta(policy.get("metadata") or {}, False, content.name_is_dns_subdomain)
    spec = policy.get("spec") or {}
    mutating = policy.get("kind") == "MutatingAdmissionPolicy"
    failure = spec.get("failurePolicy")
    if failure is not None and failure not in ("Fail", "Ignore"):
        errors.append(not_supported("spec.failurePolicy", failure, ("Fail", "Ignore")))
    match = spec.get("matchConstraints")
    if match is None:
        errors.append(required("spec.matchConstraints"))
    else:
        if not match.get("resourceRules"):
            errors.append(required("spec.matchConstraints.resourceRules"))
        errors += _validate_match_resources(match, "spec.matchConstraints")
    if mutating:
        if not spec.get("mutations"):
            errors.append(required("spec.mutations"))
        return errors
    if not spec.get("validations") and not spec.get("auditAnnotations"):
        why = "validations or auditAnnotations must contain at least one item"
        errors += [required("spec.validations", why), required("spec.auditAnnotations", why)]
    for index, validation in enumerate(spec.get("validations") or ()):
        here = f"spec.validations[{index}]"
        if not validation.get("expression", "").strip():
            errors.append(required(f"{here}.expression", "expression is not specified"))
        reason = validation.get("reason")
        known = ("Forbidden", "Invalid", "RequestEntityTooLarge", "Unauthorized")
        if reason is not None and reason not in known:
            errors.append(not_supported(f"{here}.reason", reason, known))
    return errors


def _validate_match_resources(match: Object, path: str) -> list[FieldError]:
    errors: list[FieldError] = []
    policy = match.get("matchPolicy")
    if policy is not None and policy not in ("Equivalent", "Exact"):
        errors.append(not_supported(f"{path}.matchPolicy", policy, ("Equivalent", "Exact")))
    for field in ("namespaceSelector", "objectSelector"):
        errors += validate_label_selector(match.get(field), f"{path}.{field}")
    for field in ("resourceRules", "excludeResourceRules"):
        for index, rule in enumerate(match.get(field) or ()):
            errors += _validate_rule_with_operations(rule, f"{path}.{field}[{index}]")
    return errors


def validate_admission_policy_update(new: Object, old: Object) -> list[FieldError]:
    """A changed policy is judged like a new one."""
    return validate_admission_policy(new)


def validate_admission_policy_binding(binding: Object) -> list[FieldError]:
    """A policy, and what to do when it says no."""
    errors = validate_object_meta(binding.get("metadata") or {}, False, content.name_is_dns_subdomain)
    spec = binding.get("spec") or {}
    if not spec.get("policyName"):
        errors.append(required("spec.policyName"))
    else:
        name = spec["policyName"]
        errors += [invalid("spec.policyName", name, why) for why in content.dns1123_subdomain(name)]
    if binding.get("kind") == "ValidatingAdmissionPolicyBinding":
        actions = spec.get("validationActions") or []
        if not actions:
            errors.append(required("spec.validationActions"))
        known = ("Audit", "Deny", "Warn")
        errors += [
            not_supported(f"spec.validationActions[{i}]", a, known) for i, a in enumerate(actions) if a not in known
        ]
        if "Deny" in actions and "Warn" in actions:
            why = (
                "must not contain both Deny and Warn (repeating the same validation failure information in the API "
                "response and headers serves no purpose)"
            )
            errors.append(invalid("spec.validationActions", actions, why))
    if spec.get("matchResources") is not None:
        errors += _validate_match_resources(spec["matchResources"], "spec.matchResources")
    return errors


def validate_admission_policy_binding_update(new: Object, old: Object) -> list[FieldError]:
    """A changed binding is judged like a new one."""
    return validate_admission_policy_binding(new)


# --- custom resources --------------------------------------------------------------------------------------------------------------


def validate_custom_resource_definition(definition: Object) -> list[FieldError]:
    """The name says plural and group; names, versions and schemas are complete."""
    spec = definition.get("spec") or {}
    names, group = spec.get("names") or {}, spec.get("group", "")
    wanted = f"{names.get('plural', '')}.{group}"

    def name_rule(name: str, prefix: bool) -> tuple[str, ...]:
        messages = content.name_is_dns_subdomain(name, prefix)
        return messages or (() if name == wanted else ('must be spec.names.plural+"."+spec.group',))

    errors = validate_object_meta(definition.get("metadata") or {}, False, name_rule)
    if not group:
        errors.append(required("spec.group"))
    else:
        errors += [
            invalid("spec.group", group, ",".join(messages))
            for messages in [content.dns1123_subdomain(group)]
            if messages
        ]
        if "." not in group:
            errors.append(invalid("spec.group", group, "should be a domain with at least one dot"))
    scope = spec.get("scope", "")
    if scope not in ("Cluster", "Namespaced"):
        errors.append(
            not_supported("spec.scope", scope, ("Cluster", "Namespaced")) if scope else required("spec.scope")
        )
    errors += _validate_versions(spec)
    return errors + _validate_names(names)


def _validate_versions(spec: Object) -> list[FieldError]:
    errors: list[FieldError] = []
    versions = spec.get("versions") or []
    seen: set[str] = set()
    for index, version in enumerate(versions):
        here, name = f"spec.versions[{index}]", version.get("name", "")
        if name in seen:
            errors.append(invalid("spec.versions", None, "must contain unique version names"))
        seen.add(name)
        errors += [
            invalid(f"{here}.name", name, ",".join(messages)) for messages in [content.dns1035_label(name)] if messages
        ]
        schema = (version.get("schema") or {}).get("openAPIV3Schema")
        if schema is None:
            errors.append(required(f"{here}.schema.openAPIV3Schema", "schemas are required"))
        elif not schema.get("type"):
            errors.append(required(f"{here}.schema.openAPIV3Schema.type", "must not be empty at the root"))
        elif schema["type"] != "object":
            errors.append(invalid(f"{here}.schema.openAPIV3Schema.type", schema["type"], "must be object at the root"))
    if sum(bool(version.get("storage")) for version in versions) != 1:
        errors.append(
            invalid("spec.versions", versions or None, "must have exactly one version marked as storage version")
        )
    return errors


def _validate_names(names: Object) -> list[FieldError]:
    errors: list[FieldError] = []
    for field in ("plural", "singular", "kind", "listKind"):
        value = names.get(field, "")
        here = f"spec.names.{field}"
        if not value:
            errors.append(required(here))
            continue
        messages = content.dns1035_label(value.lower() if field in ("kind", "listKind") else value)
        if messages:
            shown = ",".join(messages)
            errors.append(
                invalid(
                    here,
                    value,
                    f"may have mixed case, but should otherwise match: {shown}" if "ind" in field else shown,
                )
            )
    for index, name in enumerate(names.get("shortNames") or ()):
        messages = content.dns1035_label(name)
        if messages:
            errors.append(invalid(f"spec.names.shortNames[{index}]", name, ",".join(messages)))
    if names.get("kind") and names.get("kind") == names.get("listKind"):
        errors.append(invalid("spec.names.listKind", names["listKind"], "kind and listKind may not be the same"))
    return errors


def validate_custom_resource_definition_update(new: Object, old: Object) -> list[FieldError]:
    """Group, scope and names stay once established."""
    errors = validate_object_meta_update(new["metadata"], old["metadata"])
    return errors + validate_custom_resource_definition(new)
