"""What a failed pod means: count it, ignore it, give its index up, or the whole Job.

Rules are tried in order; the first that matches decides. A pod that no rule matches
counts against the limit.

Upstream: `pkg/controller/job/pod_failure_policy.go` (`matchPodFailurePolicy`), v1.36.
"""

from __future__ import annotations

from typing import NamedTuple

from lifecycle.api.http.wire import Object


class Verdict(NamedTuple):
    """Whether the pod counts as a failure, the message if it fails the Job, and whether
    it fails its index.
    """

    counts: bool
    job_failure: str = ""
    fails_index: bool = False


def match_pod_failure_policy(policy: Object | None, pod: Object) -> Verdict:
    """Put a failed pod to the policy."""
    for number, rule in enumerate((policy or {}).get("rules") or ()):
        message = _match_rule(rule, pod)
        if message is None:
            continue
        if rule["action"] == "FailJob":
            return Verdict(True, f"{message} matching FailJob rule at index {number}")
        return Verdict(
            rule["action"] != "Ignore", fails_index=rule["action"] == "FailIndex"
        )
    return Verdict(True)


def _match_rule(rule: Object, pod: Object) -> str | None:
    meta, status = pod["metadata"], pod.get("status") or {}
    if rule.get("onExitCodes"):
        requirement = rule["onExitCodes"]
        for container in (
            *(status.get("containerStatuses") or ()),
            *(status.get("initContainerStatuses") or ()),
        ):
            code = ((container.get("state") or {}).get("terminated") or {}).get(
                "exitCode", 0
            )
            if (
                not code
                or requirement.get("containerName", container["name"])
                != container["name"]
            ):
                continue
            if (code in requirement["values"]) == (requirement["operator"] == "In"):
                return (
                    f"Container {container['name']} for pod"
                    f" {meta['namespace']}/{meta['name']} failed with exit code {code}"
                )
        return None
    for pattern in rule.get("onPodConditions") or ():
        for condition in status.get("conditions") or ():
            if condition["type"] == pattern["type"] and condition[
                "status"
            ] == pattern.get("status", "True"):
                return (
                    f"Pod {meta['namespace']}/{meta['name']} has condition"
                    f" {condition['type']}"
                )
    return None
