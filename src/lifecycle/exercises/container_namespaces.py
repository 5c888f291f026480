"""Which namespaces does a container share, and with whom?"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

from lifecycle.api.http.wire import Object
from lifecycle.cri.oci_spec import namespaces_of
from lifecycle.exercises.exercise import Attempt, Case, Exercise
from lifecycle.kubelet.kuberuntime.security_context import namespace_options

CONTRACT = """\
namespaces(spec, sandbox_pid, target_pid) -> {type: path}

spec:        the pod's spec: hostNetwork, hostPID, hostIPC, shareProcessNamespace.
sandbox_pid: the process id of pause.
target_pid:  the process id of another container of the pod, whose processes this one
             is to see (an ephemeral container, `kubectl debug --target`); 0: of none.

Which namespaces the container gets: "network", "ipc", "uts", "mount" and "pid".
"/proc/PID/ns/KIND" is one that it joins ("net" is the kernel's word for network, "mnt"
for mount), "" one of its own. What is not there it shares with the machine.

A container has its own mounts. It joins the network, the ipc and the uts of pause,
whatever that has: if the pod is to be in the machine's network, pause is there already.
Processes it sees its own, unless the pod shares them (then pause's) or is in the
machine's; but a target goes before all that."""

STARTER = '''\
def namespaces(spec, sandbox_pid, target_pid):
    """The namespaces of a container: a path, or "" for one of its own."""
    return {
        kind: f"/proc/{sandbox_pid}/ns/{kind}"
        for kind in ("network", "ipc", "uts", "mount", "pid")
    }
'''

FLAGS = ("hostNetwork", "hostPID", "hostIPC", "shareProcessNamespace")


def cases() -> Iterator[Case]:
    """All that a pod may say about namespaces, for containers with and without a
    target.
    """
    for values in product((None, False, True), repeat=len(FLAGS)):
        spec = {
            flag: value
            for flag, value in zip(FLAGS, values, strict=True)
            if value is not None
        }
        if spec.get("hostPID") and spec.get("shareProcessNamespace"):
            continue  # the API server refuses it
        said = ", ".join(f"{flag} {value}" for flag, value in spec.items()) or "nothing"
        for target in (0, 4711):
            group = "with a target" if target else "a container of its own"
            yield Case(
                group,
                said,
                namespaces(spec, 321, target),
                lambda a, s=spec, t=target: a(s, 321, t),  # type: ignore[misc]
                spec,
                [spec, 321, target],
            )


def namespaces(spec: Object, sandbox_pid: int, target_pid: int) -> dict[str, str]:
    """As the book's kubelet says it, and its runtime does it."""
    options = namespace_options(spec)
    if target_pid:
        options["pid"] = "TARGET"
    security = {"namespace_options": options}
    return {
        each["type"]: each.get("path", "")
        for each in namespaces_of(security, sandbox_pid, target_pid)
    }


def ours() -> Attempt:
    """The book's."""
    return namespaces


EXERCISE = Exercise(
    "container-namespaces",
    "Who shares what in a pod",
    CONTRACT,
    STARTER,
    "the book's own kubelet and runtime",
    cases,
    ours,
    ("cri-and-pause", "namespaces"),
)
