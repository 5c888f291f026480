"""The Pod Security Standards: which checks make up a level.

Three levels. *Privileged* forbids nothing. *Baseline* forbids what breaks out of the
container: host namespaces, host paths, added capabilities. *Restricted* moreover
demands what a careful author would write: not root, no escalation, all capabilities
dropped, a seccomp profile.

Upstream: `pod-security-admission/policy/registry.go` (`populate`: order and
overriding), v1.36.
"""

from __future__ import annotations

from lifecycle.api.http.wire import Object
from lifecycle.apiserver.admission.pod_security.check import (
    USER_NAMESPACES_SINCE,
    Check,
    Violation,
)
from lifecycle.apiserver.admission.pod_security.host_checks import (
    check_host_namespaces,
    check_host_path_volumes,
    check_host_ports,
    check_host_probes,
    check_windows_host_process,
)
from lifecycle.apiserver.admission.pod_security.kernel_checks import (
    check_proc_mount,
    check_proc_mount_baseline,
    check_restricted_volumes,
    check_sysctls,
)
from lifecycle.apiserver.admission.pod_security.privilege_checks import (
    check_allow_privilege_escalation,
    check_capabilities_baseline,
    check_capabilities_restricted,
    check_privileged,
    check_run_as_non_root,
    check_run_as_user,
)
from lifecycle.apiserver.admission.pod_security.profile_checks import (
    SECCOMP_FIELDS_SINCE,
    check_app_armor_profile,
    check_se_linux_options,
    check_seccomp_baseline,
    check_seccomp_restricted,
)

BASELINE_CHECKS: tuple[Check, ...] = (
    check_app_armor_profile,
    check_capabilities_baseline,
    check_host_namespaces,
    check_host_path_volumes,
    check_host_ports,
    check_host_probes,
    check_privileged,
    check_proc_mount_baseline,
    check_se_linux_options,
    check_seccomp_baseline,
    check_sysctls,
    check_windows_host_process,
)
"""In the order their violations are listed: by upstream's check ids."""
RESTRICTED_CHECKS: tuple[tuple[Check, int, Check | None], ...] = (
    (check_allow_privilege_escalation, 8, None),
    (check_capabilities_restricted, 22, check_capabilities_baseline),
    (check_proc_mount, USER_NAMESPACES_SINCE, check_proc_mount_baseline),
    (check_restricted_volumes, 0, check_host_path_volumes),
    (check_run_as_non_root, 0, None),
    (check_run_as_user, 23, None),
    (check_seccomp_restricted, SECCOMP_FIELDS_SINCE, check_seccomp_baseline),
)
"""A check, the minor version it came with, and the baseline check it stands in for from
then on.
"""


def _checks(level: str, minor: int) -> list[Check]:
    if level == "baseline":
        return list(BASELINE_CHECKS)
    if level != "restricted":
        return []
    stricter = [
        (check, stands_in_for)
        for check, since, stands_in_for in RESTRICTED_CHECKS
        if minor >= since
    ]
    overridden = [check for _, check in stricter]
    return [check for check in BASELINE_CHECKS if check not in overridden] + [
        check for check, _ in stricter
    ]


def violations(
    level: str, minor: int, pod_meta: Object, pod_spec: Object
) -> list[Violation]:
    """All that a pod does against a level, as (reason, detail)."""
    return [
        result
        for check in _checks(level, minor)
        if (result := check(pod_meta, pod_spec, minor)) is not None
    ]
