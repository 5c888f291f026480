"""PodSecurity: which of the three standards a namespace holds its pods to.

Labels on the namespace say so: `pod-security.kubernetes.io/enforce` refuses pods,
`warn` tells the client, `audit` tells the audit log. Without labels everything is
allowed. Only pods are refused; a Deployment that could never have pods is stored, with
a warning.

Upstream: `pod-security-admission/admission/admission.go` (`ValidatePod`,
`ValidatePodController`, `ValidateNamespace`), `api/helpers.go` (`PolicyToEvaluate`),
v1.36. Left out: exemptions, a limit to how many existing pods are looked at.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

from lifecycle.api.field_errors import FieldError, invalid, invalid_object
from lifecycle.api.http.wire import Object
from lifecycle.api.resources import resource
from lifecycle.apiserver.admission.attributes import CREATE, UPDATE, Attributes
from lifecycle.apiserver.admission.chain import Plugin
from lifecycle.apiserver.admission.pod_security.registry import violations
from lifecycle.apiserver.audit.context import annotate
from lifecycle.apiserver.storage.object_reader import ObjectReader

PREFIX = "pod-security.kubernetes.io/"
LEVELS = ("privileged", "baseline", "restricted")
LATEST = 36
_VERSION = re.compile(r"v1\.(0|[1-9][0-9]*)")
TEMPLATES = frozenset(
    {
        ("", "replicationcontrollers"),
        ("", "podtemplates"),
        ("apps", "deployments"),
        ("apps", "replicasets"),
        ("apps", "statefulsets"),
        ("apps", "daemonsets"),
        ("batch", "jobs"),
        ("batch", "cronjobs"),
    }
)
POD_SUBRESOURCES = frozenset({"", "ephemeralcontainers", "resize"})


class LevelVersion(NamedTuple):
    """A standard and the version of it (`latest` or `v1.36`)."""

    level: str = "privileged"
    version: str = "latest"

    def __str__(self) -> str:
        return f"{self.level}:{self.version}"

    @property
    def minor(self) -> int:
        """The version as a number; versions to come are treated as the latest."""
        return (
            LATEST
            if self.version == "latest"
            else min(int(self.version.removeprefix("v1.")), LATEST)
        )


class Policy(NamedTuple):
    """What a namespace asks for."""

    enforce: LevelVersion
    audit: LevelVersion
    warn: LevelVersion


@lru_cache(maxsize=256)
def _policy(
    labels: tuple[tuple[str, str], ...],
) -> tuple[Policy, tuple[FieldError, ...]]:
    by_name = dict(labels)
    errors: list[FieldError] = []

    def mode(name: str, on_error: str) -> LevelVersion:
        level = by_name.get(f"{PREFIX}{name}", "privileged")
        if level not in LEVELS:
            path = f"metadata.labels[{PREFIX}{name}]"
            errors.append(invalid(path, level, f"must be one of {', '.join(LEVELS)}"))
            level = on_error
        version = by_name.get(f"{PREFIX}{name}-version", "latest")
        if version != "latest" and not _VERSION.fullmatch(version):
            path = f"metadata.labels[{PREFIX}{name}-version]"
            errors.append(invalid(path, version, 'must be "latest" or "v1.x"'))
            version = "latest"
        return LevelVersion(level, version)

    enforce = mode(
        "enforce", "restricted"
    )  # an unreadable wish is taken for the strictest, where it counts
    readable = not errors
    policy = Policy(enforce, mode("audit", "privileged"), mode("warn", "privileged"))
    if (
        readable and f"{PREFIX}warn" not in by_name
    ):  # what is enforced on pods is at least told about their templates
        version = (
            policy.warn.version
            if f"{PREFIX}warn-version" in by_name
            else enforce.version
        )
        policy = policy._replace(warn=LevelVersion(enforce.level, version))
    return policy, tuple(errors)


def policy_to_evaluate(labels: Object | None) -> tuple[Policy, tuple[FieldError, ...]]:
    """What a namespace's labels ask for, and what is wrong with them. Upstream:
    `api.PolicyToEvaluate`.
    """
    if not labels:
        return _policy(())
    return _policy(
        tuple(sorted((k, v) for k, v in labels.items() if k.startswith(PREFIX)))
    )


class PodSecurity(Plugin):
    """Looks at pods, at everything with a pod template, and at namespaces."""

    name = "PodSecurity"
    operations = frozenset({CREATE, UPDATE})
    resources = frozenset({("", "pods"), ("", "namespaces")}) | TEMPLATES
    subresources = POD_SUBRESOURCES

    def __init__(self, reader: ObjectReader) -> None:
        self._reader = reader
        self._namespaces = resource("namespaces")
        self._pods = resource("pods")

    def validate(self, attributes: Attributes) -> None:
        """Refuse pods that violate the enforced standard; warn about the rest."""
        if attributes.obj is None:
            return
        if attributes.resource.plural == "namespaces":
            self._validate_namespace(attributes)
            return
        is_pod = attributes.resource.plural == "pods"
        if attributes.subresource and not is_pod:
            return
        namespace = self._reader.get(self._namespaces, "", attributes.namespace)
        policy, _ = policy_to_evaluate(
            ((namespace or {}).get("metadata") or {}).get("labels")
        )
        if all(standard.level == "privileged" for standard in policy):
            if is_pod:
                annotate(f"{PREFIX}enforce-policy", str(policy.enforce))
            return
        if is_pod:
            if attributes.operation == UPDATE and not _significant(
                attributes.obj, attributes.old_obj or {}
            ):
                return
            self._evaluate(
                attributes,
                policy,
                attributes.obj["metadata"],
                attributes.obj["spec"],
                enforce=True,
            )
            return
        template = _template(attributes.obj)
        if template is not None:
            self._evaluate(
                attributes,
                policy,
                template.get("metadata") or {},
                template["spec"],
                enforce=False,
            )

    def _evaluate(
        self,
        attributes: Attributes,
        policy: Policy,
        meta: Object,
        spec: Object,
        *,
        enforce: bool,
    ) -> None:
        if enforce:
            annotate(f"{PREFIX}enforce-policy", str(policy.enforce))
            forbidden_detail = _detail(policy.enforce, meta, spec)
            if forbidden_detail:
                raise attributes.forbidden(
                    f'violates PodSecurity "{policy.enforce}": {forbidden_detail}'
                )
        forbidden_detail = _detail(policy.audit, meta, spec)
        if forbidden_detail:
            annotate(
                f"{PREFIX}audit-violations",
                f'would violate PodSecurity "{policy.audit}": {forbidden_detail}',
            )
        forbidden_detail = _detail(policy.warn, meta, spec)
        if forbidden_detail:
            attributes.warnings.append(
                f'would violate PodSecurity "{policy.warn}": {forbidden_detail}'
            )

    def _validate_namespace(self, attributes: Attributes) -> None:
        """Refuse unreadable labels; when a standard gets stricter, warn about pods that
        are there already.
        """
        assert attributes.obj is not None
        if attributes.subresource:
            return
        name = attributes.obj["metadata"].get("name", "")
        policy, errors = policy_to_evaluate(attributes.obj["metadata"].get("labels"))
        old_policy, old_errors = policy_to_evaluate(
            ((attributes.old_obj or {}).get("metadata") or {}).get("labels")
        )
        if errors and (attributes.operation == CREATE or errors != old_errors):
            raise invalid_object("Namespace", "", name, errors)
        enforce, old = policy.enforce, old_policy.enforce
        if (
            attributes.operation == CREATE
            or enforce == old
            or enforce.level == "privileged"
        ):
            return
        if enforce.version == old.version and LEVELS.index(
            enforce.level
        ) <= LEVELS.index(old.level):
            return
        attributes.warnings += self._existing_pods(name, enforce)

    def _existing_pods(self, namespace: str, enforce: LevelVersion) -> list[str]:
        by_reason: dict[str, list[str]] = {}
        for pod in self._reader.list(self._pods, namespace):
            reasons = [
                reason
                for reason, _ in violations(
                    enforce.level, enforce.minor, pod["metadata"], pod["spec"]
                )
            ]
            if reasons:
                by_reason.setdefault(", ".join(reasons), []).append(
                    pod["metadata"]["name"]
                )
        if not by_reason:
            return []
        lines = []
        for reason, pods in by_reason.items():
            others = len(pods) - 1
            more = (
                f" (and {others} other pod{'' if others == 1 else 's'})"
                if others
                else ""
            )
            lines.append(f"{min(pods)}{more}: {reason}")
        head = (
            f'existing pods in namespace "{namespace}" violate the new PodSecurity'
            f' enforce level "{enforce}"'
        )
        return [head, *sorted(lines)]


def _detail(standard: LevelVersion, meta: Object, spec: Object) -> str:
    """All violations in one line."""
    results = violations(standard.level, standard.minor, meta, spec)
    return ", ".join(
        f"{reason} ({detail})" if detail else reason for reason, detail in results
    )


def _template(obj: Object) -> Object | None:
    """The pod template inside a workload."""
    if "template" in obj:
        template = obj["template"]
    else:
        spec = obj.get("spec") or {}
        template = ((spec.get("jobTemplate") or {}).get("spec") or spec).get("template")
    return template if template and template.get("spec") else None


def _significant(pod: Object, old: Object) -> bool:
    """Whether an update could make a pod more dangerous: other images, or more
    containers.
    """
    for key in ("initContainers", "containers"):
        new_containers, old_containers = (
            pod["spec"].get(key) or [],
            (old.get("spec") or {}).get(key) or [],
        )
        if [c.get("image") for c in new_containers] != [
            c.get("image") for c in old_containers
        ]:
            return True
    ephemeral = {
        c["name"]: c.get("image")
        for c in (old.get("spec") or {}).get("ephemeralContainers") or ()
    }
    return any(
        ephemeral.get(c["name"]) != c.get("image")
        for c in pod["spec"].get("ephemeralContainers") or ()
    )
