"""Whether a container that ended is started again: by the pod's policy, or by its own.

Since 1.35 any container may have a `restartPolicy` of its own, and rules in front of it
that look at the exit code.

The API server asks, too: where a container is not started again, its status may not say
that it runs.

Upstream: `pkg/api/v1/pod/util.go` (`ContainerShouldRestart`,
`FindMatchingContainerRestartRule`, `AllContainersCouldRestart`), feature gates
ContainerRestartRules (on by default since 1.35) and
RestartAllContainersOnContainerExits (since 1.36), v1.36.
"""

from __future__ import annotations

from lifecycle.api.http.wire import Object

RESTART, RESTART_ALL_CONTAINERS = "Restart", "RestartAllContainers"
"""The actions of rules."""


def restart_policy(spec: Object, container: Object) -> str:
    """The container's own policy, else that of the pod."""
    own: str = container.get("restartPolicy") or spec.get("restartPolicy") or "Always"
    return own


def should_restart(policy: str, exit_code: int) -> bool:
    """What a policy says about a container that ended."""
    return policy == "Always" or (policy == "OnFailure" and exit_code != 0)


def matching_rule(container: Object, exit_code: int) -> Object | None:
    """The first of the container's rules that speaks of this exit code."""
    for rule in container.get("restartPolicyRules") or ():
        codes = rule.get("exitCodes") or {}
        inside = exit_code in (codes.get("values") or ())
        if codes.get("operator") == ("In" if inside else "NotIn"):
            match: Object = rule
            return match
    return None


def container_should_restart(spec: Object, container: Object, exit_code: int) -> bool:
    """What is said about this container. `spec`: the pod's."""
    rule = matching_rule(container, exit_code)
    if rule is not None and rule.get("action") in (RESTART, RESTART_ALL_CONTAINERS):
        return True
    return should_restart(restart_policy(spec, container), exit_code)


def all_containers_could_restart(spec: Object) -> bool:
    """Whether any container's end may start all of them again."""
    containers = [*(spec.get("initContainers") or ()), *(spec.get("containers") or ())]
    rules = (
        rule
        for container in containers
        for rule in container.get("restartPolicyRules") or ()
    )
    return any(rule.get("action") == RESTART_ALL_CONTAINERS for rule in rules)
