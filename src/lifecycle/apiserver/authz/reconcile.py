"""Default roles and bindings, put right at every start.

A store may come from an older cluster. Its `system:kube-scheduler` knows nothing of the
resources that today's scheduler watches, and without them the scheduler would wait for
ever. So what an existing default role or binding lacks is added; what somebody added
beyond it stays. Who wants to be left alone says
`rbac.authorization.kubernetes.io/autoupdate: "false"`.

Upstream: `component-helpers/auth/rbac/reconciliation/reconcile_role.go`
(`computeReconciledRole`), `reconcile_rolebindings.go`, called from
`pkg/registry/rbac/rest/storage_rbac.go` (`ensureRBACPolicy`), v1.36. Left out:
recreating a binding whose `roleRef` changed.
"""

from __future__ import annotations

from lifecycle.api.http.wire import Object
from lifecycle.apiserver.authz.rule_coverage import uncovered

AUTO_UPDATE = "rbac.authorization.kubernetes.io/autoupdate"
GROUP = "rbac.authorization.k8s.io/v1"


def reconciled(existing: Object, expected: Object) -> Object | None:
    """The existing role or binding with all that is expected of it; None if nothing is
    missing, or it is no such object.
    """
    if expected["apiVersion"] != GROUP or existing.get("roleRef") != expected.get(
        "roleRef"
    ):
        return None
    metadata = dict(existing["metadata"])
    if (metadata.get("annotations") or {}).get(AUTO_UPDATE) == "false":
        return None
    for key in ("annotations", "labels"):
        merged = {**(expected["metadata"].get(key) or {}), **(metadata.get(key) or {})}
        if merged:
            metadata[key] = dict(sorted(merged.items()))
    new = {**existing, "metadata": metadata}
    if "roleRef" in expected:
        subjects = existing.get("subjects") or []
        missing = [
            subject
            for subject in expected.get("subjects") or ()
            if subject not in subjects
        ]
        if missing:
            new["subjects"] = [*subjects, *missing]
    else:
        _complete_role(new, existing, expected)
    return None if new == existing else new


def _complete_role(new: Object, existing: Object, expected: Object) -> None:
    rules, wanted = existing.get("rules") or [], expected.get("rules") or []
    missing = [] if rules == wanted else list(uncovered(rules, wanted))
    if missing:
        new["rules"] = [*rules, *missing]
    selectors = (existing.get("aggregationRule") or {}).get(
        "clusterRoleSelectors"
    ) or []
    expected_selectors = (expected.get("aggregationRule") or {}).get(
        "clusterRoleSelectors"
    ) or []
    more = [selector for selector in expected_selectors if selector not in selectors]
    if more:
        new["aggregationRule"] = {"clusterRoleSelectors": [*selectors, *more]}
    elif "aggregationRule" in existing and "aggregationRule" not in expected:
        del new["aggregationRule"]
