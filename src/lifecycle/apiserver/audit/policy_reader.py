"""Reading an audit policy: a file, and what is wrong with it.

Unknown fields are not: a policy with a line in the wrong place loads, and logs
something else than was meant. Upstream warns.

Upstream: `apiserver/pkg/audit/policy/reader.go` (`LoadPolicyFromBytes`),
`pkg/apis/audit/validation/validation.go` (`ValidatePolicy`), v1.36.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from lifecycle.api.aggregate import aggregate
from lifecycle.api.field_errors import FieldError, invalid, not_supported, required
from lifecycle.api.go.json.structs import ANYTHING
from lifecycle.api.http.wire import Object
from lifecycle.api.validation.content import name_is_dns_subdomain
from lifecycle.apiserver.audit.policy import LEVELS, AuditPolicy
from lifecycle.apiserver.config_file.decoding import (
    INTERNAL,
    Scheme,
    decode_configuration,
)

API_VERSION = "audit.k8s.io/v1"
_UNSAID = f"audit.k8s.io/{INTERNAL}"
SCHEME = Scheme(
    kinds={(API_VERSION, "Policy"): "Policy", (_UNSAID, "Policy"): ""},
    types={
        "Policy": {
            "kind": "string",
            "apiVersion": "string",
            "metadata": ANYTHING,
            "rules": "[]v1.PolicyRule",
            "omitStages": "[]v1.Stage",
            "omitManagedFields": "bool",
        },
        "PolicyRule": {
            "level": "v1.Level",
            "users": "[]string",
            "userGroups": "[]string",
            "verbs": "[]string",
            "resources": "[]v1.GroupResources",
            "namespaces": "[]string",
            "nonResourceURLs": "[]string",
            "omitStages": "[]v1.Stage",
            "omitManagedFields": "bool",
        },
        "GroupResources": {
            "group": "string",
            "resources": "[]string",
            "resourceNames": "[]string",
        },
    },
    place="pkg/audit/scheme.go:30",
    strict=False,
    default_kind="Policy",
    default_version=_UNSAID,
)
"""Fields that there are not are overlooked, and said in the log."""
STAGES = ("RequestReceived", "ResponseStarted", "ResponseComplete", "Panic")
BEGINNING = "non-resource URL rules must begin with a '/' character"
WILDCARD = "non-resource URL wildcards '*' must be the final character of the rule"


def read_policy(path: Path) -> AuditPolicy:
    """The policy of a file. Raises OSError, or ValueError naming the file."""
    try:
        return AuditPolicy(load_policy(path.read_text()))
    except ValueError as error:
        raise ValueError(
            f"loading audit policy file: {error}: from file {path}"
        ) from None


def load_policy(text: str) -> Object:
    """A policy document. Raises ValueError with upstream's sentence for one that is
    none.
    """
    try:
        document = decode_configuration(text.encode(), SCHEME)
    except ValueError as error:
        raise ValueError(f"failed decoding: {error}") from None
    if not document.get("apiVersion"):
        gvk = f"{_UNSAID}, Kind=Policy"
        raise ValueError(f"unknown group version field {gvk} in policy")
    rules = document.get("rules") or []
    if errors := list(validate_policy(document)):
        raise ValueError(aggregate([str(error) for error in errors]))
    if not rules:
        raise ValueError("loaded illegal policy with 0 rules")
    return document


def validate_policy(policy: Object) -> Iterator[FieldError]:
    """Everything that is wrong with a policy."""
    yield from _validate_omit_stages(policy.get("omitStages") or [], "omitStages")
    for i, rule in enumerate(policy.get("rules") or ()):
        path, level = f"rules[{i}]", rule.get("level") or ""
        urls = rule.get("nonResourceURLs") or []
        if not level:
            yield required(f"{path}.level")
        elif level not in LEVELS:
            yield not_supported(f"{path}.level", level, LEVELS)
        yield from _validate_urls(urls, f"{path}.nonResourceURLs")
        yield from _validate_resources(rule.get("resources") or [], f"{path}.resources")
        yield from _validate_omit_stages(
            rule.get("omitStages") or [], f"{path}.omitStages"
        )
        if urls and (rule.get("resources") or rule.get("namespaces")):
            why = "rules cannot apply to both regular resources and non-resource URLs"
            yield invalid(f"{path}.nonResourceURLs", urls, why)


def _validate_urls(urls: list[str], path: str) -> Iterator[FieldError]:
    for i, url in enumerate(urls):
        if url != "*" and not url.startswith("/"):
            yield invalid(f"{path}[{i}]", url, BEGINNING)
        if "*" in url[:-1]:
            yield invalid(f"{path}[{i}]", url, WILDCARD)


def _validate_resources(resources: list[Object], path: str) -> Iterator[FieldError]:
    """The path names no place in the list: upstream's does not either."""
    for entry in resources:
        group, names = entry.get("group") or "", entry.get("resourceNames") or []
        if group not in ("", "*") and (wrong := name_is_dns_subdomain(group, False)):
            yield invalid(f"{path}.group", group, ",".join(wrong))
        if names and not entry.get("resources"):
            yield invalid(
                f"{path}.resourceNames",
                names,
                "using resourceNames requires at least one resource",
            )


def _validate_omit_stages(stages: list[str], path: str) -> Iterator[FieldError]:
    for i, stage in enumerate(stages):
        if stage not in STAGES:
            yield invalid(
                f"{path}[{i}]", stage, f"allowed stages are {','.join(STAGES)}"
            )
