"""What a machine must have for real containers: Linux, root, a few programs, and a
kernel that plays along.

Asked before anything is made, so that a refusal is one line and leaves nothing.
"""

from __future__ import annotations

import os
import platform
import shutil
import sys

PROGRAMS = {
    "iptables": ("Services: kube-proxy's rules", "apt-get install iptables"),
    "iptables-restore": ("Services: kube-proxy's rules", "apt-get install iptables"),
    "mount": ("volumes in memory", "apt-get install mount"),
    "busybox": (
        "what is in the images: a static busybox",
        "apt-get install busybox-static",
    ),
}
CONTAINERD_PROGRAMS = {
    "containerd": ("--runtime containerd", "apt-get install containerd"),
    "ctr": ("--runtime containerd", "apt-get install containerd"),
    "runc": ("--runtime containerd", "apt-get install runc"),
}


def missing(runtime: str = "sandbox") -> list[str]:
    """What is missing for `--runtime sandbox` or `containerd`, each with what to do;
    empty if nothing is.
    """
    if sys.platform != "linux":
        return ["real containers need Linux; --runtime hollow runs everywhere"]
    unmet = []
    if os.geteuid() != 0:
        unmet.append("real containers need root: use sudo, or --runtime hollow")
    programs = {
        **PROGRAMS,
        **(CONTAINERD_PROGRAMS if runtime.startswith("containerd") else {}),
    }
    for program, (use, remedy) in programs.items():
        if shutil.which(program) is None:
            unmet.append(f"{program} is missing ({use}): {remedy}")
    if "busybox is missing" not in " ".join(unmet) and _no_static_busybox():
        unmet.append(
            "busybox here needs libraries, images have none: apt-get install"
            " busybox-static"
        )
    if platform.machine() != "x86_64":
        unmet.append(
            "the pause program is made for x86-64; this machine is"
            f" {platform.machine()}: use --runtime hollow"
        )
    if not _cgroups_writable() and os.geteuid() == 0:
        unmet.append(
            "/sys/fs/cgroup is read-only here: run on the machine itself, or in a"
            " privileged container"
        )
    if os.geteuid() == 0:
        from lifecycle.cni.namespaces import can_make_namespaces

        if not can_make_namespaces():
            unmet.append(
                "network namespaces cannot be made: CAP_SYS_ADMIN is missing, run in a"
                " privileged container"
            )
    return unmet


def _no_static_busybox() -> bool:
    from lifecycle.cri.images.small_images import find_busybox

    return find_busybox() is None


def _cgroups_writable() -> bool:
    from lifecycle.cluster.linux.run_state import cgroup_trees

    trees = cgroup_trees()
    return bool(trees) and all(os.access(tree, os.W_OK) for tree in trees[:1])


def check(runtime: str) -> None:
    """Raises ValueError: one line that says what is missing and what to do."""
    unmet = missing(runtime)
    if unmet:
        raise ValueError(f"--runtime {runtime}: {'; '.join(unmet)}")
