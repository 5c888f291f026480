"""With which rights a container runs: who says so first, and in which words the runtime hears of it."""

from __future__ import annotations

from typing import Any

import pytest

from lifecycle.kubelet.kuberuntime.security_context import (
    MASKED_PATHS,
    READONLY_PATHS,
    namespace_options,
    run_as,
    sandbox_security_context,
    security_context,
    security_profile,
    supplemental_groups,
    verify_run_as_non_root,
)

MASKED = [
    *(f"/proc/{name}" for name in ("asound", "acpi", "interrupts", "kcore", "keys", "latency_stats", "timer_list")),
    *(f"/proc/{name}" for name in ("timer_stats", "sched_debug", "scsi")),
    "/sys/firmware",
    "/sys/devices/virtual/powercap",
]
READONLY = ["/proc/bus", "/proc/fs", "/proc/irq", "/proc/sys", "/proc/sysrq-trigger"]
PLAIN = {
    "namespace_options": {"network": "POD", "ipc": "POD", "pid": "CONTAINER"},
    "masked_paths": MASKED,
    "readonly_paths": READONLY,
    "run_as_user": {},
    "seccomp": {"profile_type": "Unconfined"},
}


def pod(context: Any = None, **spec: Any) -> dict[str, Any]:
    metadata = {"name": "web", "namespace": "shop", "uid": "u1"}
    return {"metadata": metadata, "spec": {"securityContext": context, "containers": [], **spec}}


def container(**context: Any) -> dict[str, Any]:
    return {"name": "c", "securityContext": context}


@pytest.mark.parametrize(
    ("spec", "options"),
    [
        ({}, {"network": "POD", "ipc": "POD", "pid": "CONTAINER"}),
        ({"hostNetwork": True}, {"network": "NODE", "ipc": "POD", "pid": "CONTAINER"}),
        ({"hostIPC": True}, {"network": "POD", "ipc": "NODE", "pid": "CONTAINER"}),
        ({"hostPID": True, "shareProcessNamespace": True}, {"network": "POD", "ipc": "POD", "pid": "NODE"}),
        ({"shareProcessNamespace": True}, {"network": "POD", "ipc": "POD", "pid": "POD"}),
    ],
)
def test_namespaces_are_shared_with_the_node_with_the_pod_or_not_at_all(spec: Any, options: Any) -> None:
    assert namespace_options(spec) == options
    assert namespace_options(spec, {"mode": "POD"}) == {**options, "userns_options": {"mode": "POD"}}


@pytest.mark.parametrize(
    ("context", "groups"),
    [
        (None, []),
        ({"fsGroup": 5}, [5]),
        ({"fsGroup": 0, "supplementalGroups": [7, 6]}, [0, 7, 6]),
        ({"supplementalGroups": [7]}, [7]),
    ],
)
def test_the_group_of_the_volumes_comes_first(context: Any, groups: list[int]) -> None:
    assert supplemental_groups(pod(context)) == groups


@pytest.mark.parametrize(
    ("of_pod", "own", "value"),
    [
        (None, {}, None),
        ({"runAsUser": 5}, {}, 5),
        ({"runAsUser": 5}, {"runAsUser": 0}, 0),
        ({"runAsUser": 5}, {"runAsUser": None}, 5),
        ({}, {"runAsUser": 6}, 6),
    ],
)
def test_the_containers_word_counts_more_than_the_pods(of_pod: Any, own: Any, value: Any) -> None:
    assert run_as(pod(of_pod), container(**own), "runAsUser") == value
    assert run_as({"spec": {}}, {}, "runAsUser") is None


WHICH = '(pod: "web_shop(u1)", container: c)'


@pytest.mark.parametrize(
    ("own", "uid", "name", "words"),
    [
        ({}, 0, "", ""),
        ({"runAsNonRoot": False}, 0, "", ""),
        ({"runAsNonRoot": True, "runAsUser": 0}, 5, "", f"container's runAsUser breaks non-root policy {WHICH}"),
        ({"runAsNonRoot": True, "runAsUser": 1}, 0, "", ""),
        ({"runAsNonRoot": True}, 5, "", ""),
        ({"runAsNonRoot": True}, 5, "nginx", ""),
        ({"runAsNonRoot": True}, 0, "", f"container has runAsNonRoot and image will run as root {WHICH}"),
        ({"runAsNonRoot": True}, 0, "nginx", f"container has runAsNonRoot and image will run as root {WHICH}"),
        ({"runAsNonRoot": True}, None, "", f"container has runAsNonRoot and image will run as root {WHICH}"),
        (
            {"runAsNonRoot": True}, None, "nginx",
            f"container has runAsNonRoot and image has non-numeric user (nginx), cannot verify user is non-root {WHICH}",
        ),
    ],
)  # fmt: skip
def test_who_must_not_be_root_is_looked_at_last(own: Any, uid: int | None, name: str, words: str) -> None:
    assert verify_run_as_non_root(pod(), container(**own), uid, name) == words


def test_who_wishes_for_nothing_gets_what_is_usual() -> None:
    assert (list(MASKED_PATHS), list(READONLY_PATHS)) == (MASKED, READONLY)
    assert security_context(pod(), {"name": "c"}) == PLAIN


@pytest.mark.parametrize(
    ("own", "more"),
    [
        ({"procMount": "Default"}, {}),
        ({"capabilities": {"add": ["NET_ADMIN"], "drop": ["ALL"]}},
         {"capabilities": {"add_capabilities": ["NET_ADMIN"], "drop_capabilities": ["ALL"]}}),
        ({"capabilities": {"drop": ["ALL"]}}, {"capabilities": {"drop_capabilities": ["ALL"]}}),
        ({"capabilities": {"add": []}}, {}),
        ({"privileged": True}, {"privileged": True}),
        ({"privileged": False}, {}),
        ({"runAsUser": 7, "runAsGroup": 8}, {"run_as_user": {"value": 7}, "run_as_group": {"value": 8}}),
        ({"runAsUser": 0, "runAsGroup": 0}, {"run_as_group": {"value": 0}}),
        ({"readOnlyRootFilesystem": True}, {"readonly_rootfs": True}),
        ({"allowPrivilegeEscalation": False}, {"no_new_privs": True}),
        ({"allowPrivilegeEscalation": True}, {}),
        ({"seccompProfile": {"type": "RuntimeDefault"}}, {"seccomp": {"profile_type": "RuntimeDefault"}}),
        ({"seccompProfile": {"type": "Localhost", "localhostProfile": "a.json"}},
         {"seccomp": {"profile_type": "Localhost", "localhost_ref": "/var/lib/kubelet/seccomp/a.json"}}),
        ({"appArmorProfile": {"type": "RuntimeDefault"}},
         {"apparmor": {"profile_type": "RuntimeDefault"}, "apparmor_profile": "runtime/default"}),
        ({"appArmorProfile": {"type": "Unconfined"}},
         {"apparmor": {"profile_type": "Unconfined"}, "apparmor_profile": "unconfined"}),
        ({"appArmorProfile": {"type": "Localhost", "localhostProfile": "mine"}},
         {"apparmor": {"profile_type": "Localhost", "localhost_ref": "mine"}, "apparmor_profile": "localhost/mine"}),
    ],
)  # fmt: skip
def test_a_containers_wish_in_the_words_of_cri(own: Any, more: Any) -> None:
    assert security_context(pod(), container(**own)) == PLAIN | more


def test_who_wants_to_see_all_of_proc_sees_it() -> None:
    hidden = {"masked_paths", "readonly_paths"}
    seen = security_context(pod(), container(procMount="Unmasked"))
    assert seen == {key: value for key, value in PLAIN.items() if key not in hidden}


@pytest.mark.parametrize(
    ("of_pod", "more"),
    [
        ({"fsGroup": 5, "supplementalGroups": [6]}, {"supplemental_groups": [5, 6]}),
        ({"supplementalGroupsPolicy": "Strict"}, {"supplemental_groups_policy": "Strict"}),
        ({"supplementalGroupsPolicy": "Merge"}, {}),
        ({"runAsUser": 7}, {"run_as_user": {"value": 7}}),
        ({"seccompProfile": {"type": "RuntimeDefault"}}, {"seccomp": {"profile_type": "RuntimeDefault"}}),
    ],
)
def test_a_pods_wish_holds_for_its_containers(of_pod: Any, more: Any) -> None:
    assert security_context(pod(of_pod), {"name": "c"}) == PLAIN | more


@pytest.mark.parametrize(
    ("own", "uid", "name", "user"),
    [
        ({}, 33, "", {"run_as_user": {"value": 33}}),
        ({}, 33, "www", {"run_as_user": {"value": 33}}),
        ({}, None, "www", {"run_as_username": "www"}),
        ({}, 0, "", {"run_as_user": {}}),
        ({"runAsUser": 7}, 33, "", {"run_as_user": {"value": 7}}),
        ({"runAsUser": 7}, None, "www", {"run_as_user": {"value": 7}}),
        ({"runAsUser": 0}, 33, "", {"run_as_user": {}}),
    ],
)
def test_the_image_is_asked_if_nobody_says_who_runs(own: Any, uid: int | None, name: str, user: Any) -> None:
    seen = security_context(pod(), container(**own), uid, name, {"mode": "NODE"})
    assert {key: value for key, value in seen.items() if key.startswith("run_as_user")} == user
    assert seen["namespace_options"]["userns_options"] == {"mode": "NODE"}


def test_of_a_profile_of_the_nodes_own_the_place_is_named() -> None:
    local = {"type": "Localhost", "localhostProfile": "p"}
    assert security_profile(local, "x", "/root/") == {"profile_type": "Localhost", "localhost_ref": "/root/p"}
    assert security_profile({"type": "Localhost"}, "x") == {"profile_type": "Localhost", "localhost_ref": ""}
    assert security_profile(None, "Unconfined") == {"profile_type": "Unconfined"}
    assert security_profile({}, "RuntimeDefault", "/root/") == {"profile_type": "RuntimeDefault"}


SANDBOX = {
    "namespace_options": {"network": "POD", "ipc": "POD", "pid": "CONTAINER"},
    "seccomp": {"profile_type": "RuntimeDefault"},
}


@pytest.mark.parametrize(
    ("context", "spec", "more"),
    [
        (None, {}, {}),
        ({"runAsUser": 5, "runAsGroup": 6}, {}, {"run_as_user": {"value": 5}, "run_as_group": {"value": 6}}),
        ({"runAsUser": 0, "runAsGroup": 0}, {}, {"run_as_user": {}, "run_as_group": {}}),
        ({"fsGroup": 5}, {}, {"supplemental_groups": [5]}),
        (None, {"containers": [{}, container(privileged=True)]}, {"privileged": True}),
        (None, {"containers": [{}], "initContainers": [container(privileged=True)]}, {"privileged": True}),
        (None, {"containers": [container(privileged=False)]}, {}),
    ],
)
def test_the_pause_process_has_what_the_pod_says(context: Any, spec: Any, more: Any) -> None:
    assert sandbox_security_context(pod(context, **spec)) == SANDBOX | more


def test_the_pause_process_is_in_the_pods_user_namespace() -> None:
    seen = sandbox_security_context(pod(hostNetwork=True), {"mode": "POD"})
    assert seen["namespace_options"] == {
        "network": "NODE",
        "ipc": "POD",
        "pid": "CONTAINER",
        "userns_options": {"mode": "POD"},
    }


def test_selinux_options_are_the_containers_or_else_the_pods() -> None:
    ours, own = {"level": "s0"}, {"level": "s1", "role": "r"}
    of_pod = pod({"seLinuxOptions": ours})
    assert sandbox_security_context(of_pod)["selinux_options"] == ours
    assert security_context(of_pod, {"name": "c"})["selinux_options"] == ours
    assert security_context(of_pod, {"name": "c", "securityContext": {"seLinuxOptions": own}})["selinux_options"] == own
