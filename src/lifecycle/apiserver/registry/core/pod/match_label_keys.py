"""`matchLabelKeys`: a pod's own label values, written into its selectors once, at
creation.

Upstream: `pkg/registry/core/pod/strategy.go` (`mutatePodAffinity`,
`mutateTopologySpreadConstraints`), v1.36.
"""

from __future__ import annotations

from lifecycle.api.http.wire import Object


def _with_keys(term: Object, labels: dict[str, str]) -> Object:
    selector = term.get("labelSelector")
    if selector is None:
        return term
    requirements = [
        {"key": key, "operator": operator, "values": [labels[key]]}
        for keys, operator in (("matchLabelKeys", "In"), ("mismatchLabelKeys", "NotIn"))
        for key in term.get(keys) or ()
        if key in labels
    ]
    if not requirements:
        return term
    return {
        **term,
        "labelSelector": {
            **selector,
            "matchExpressions": [
                *(selector.get("matchExpressions") or ()),
                *requirements,
            ],
        },
    }


def merge_match_label_keys(pod: Object) -> None:
    """Extend the selectors of pod (anti-)affinity and topology spread constraints by
    the pod's values for the named keys.
    """
    labels = pod["metadata"].get("labels") or {}
    spec = pod["spec"]
    if spec.get("topologySpreadConstraints"):
        spec["topologySpreadConstraints"] = [
            _with_keys(constraint, labels)
            for constraint in spec["topologySpreadConstraints"]
        ]
    for name in ("podAffinity", "podAntiAffinity"):
        affinity = (spec.get("affinity") or {}).get(name)
        if not affinity:
            continue
        merged = dict(affinity)
        required = affinity.get("requiredDuringSchedulingIgnoredDuringExecution")
        if required:
            merged["requiredDuringSchedulingIgnoredDuringExecution"] = [
                _with_keys(term, labels) for term in required
            ]
        preferred = affinity.get("preferredDuringSchedulingIgnoredDuringExecution")
        if preferred:
            merged["preferredDuringSchedulingIgnoredDuringExecution"] = [
                {
                    **weighted,
                    "podAffinityTerm": _with_keys(weighted["podAffinityTerm"], labels),
                }
                for weighted in preferred
            ]
        spec["affinity"] = {**spec["affinity"], name: merged}
