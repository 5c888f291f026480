"""What every check of the Pod Security Standards works with.

A check gets the pod's metadata, its spec and the version; it returns the reason and the
detail of a violation, or None. The standards change with Kubernetes versions, so each
check knows what it forbade when (`minor`: 36 for v1.36).

Upstream: `pod-security-admission/policy/checks.go` (`Check`, `CheckResult`),
`visitor.go`, `helpers.go`, v1.36.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from lifecycle.api.http.wire import Object

Violation = tuple[str, str]
Check = Callable[[Object, Object, int], Violation | None]
USER_NAMESPACES_SINCE = 35
WINDOWS_EXEMPT_SINCE = 25


def containers(spec: Object) -> Iterator[Object]:
    """All of a pod's containers, in upstream's order."""
    for key in ("initContainers", "containers", "ephemeralContainers"):
        yield from spec.get(key) or ()


def security_context(holder: Object) -> Object:
    """What a pod or a container sets."""
    return holder.get("securityContext") or {}


def pluralize(words: str, names: Iterable[str]) -> str:
    """`container "a"` or `containers "a", "b"`."""
    listed = list(names)
    return f"{words if len(listed) == 1 else words + 's'} {join_quote(listed)}"


def join_quote(names: Iterable[str]) -> str:
    """`"a", "b"`."""
    return ", ".join(f'"{name}"' for name in names)


def bad_setters(pod_is_bad: bool, bad: list[str]) -> str:
    """Who sets what is not allowed: `pod and containers "a", "b"`."""
    return " and ".join(
        (["pod"] if pod_is_bad else []) + ([pluralize("container", bad)] if bad else [])
    )


def relax_policy_for_user_namespace_pod(spec: Object, minor: int) -> bool:
    """Whether root in the pod is not root on the node."""
    return minor >= USER_NAMESPACES_SINCE and spec.get("hostUsers") is False


def is_windows_pod(spec: Object, minor: int) -> bool:
    """Whether checks that mean Linux only do not mean the pod."""
    return (
        minor >= WINDOWS_EXEMPT_SINCE
        and (spec.get("os") or {}).get("name") == "windows"
    )
