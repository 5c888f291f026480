"""A pod on its node, drawn as ideas: where it comes from, what its worker does, who
says that it is ready, who may use its image. What a run can show is drawn from the run
elsewhere.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise

from lifecycle.figures.boxes import (
    PROGRAM,
    SERVER,
    STORED,
    TROUBLE,
    WORK,
    Arrow,
    Box,
    draw_boxes,
)
from lifecycle.figures.picture import Picture

COLUMN, BOX = 1.72, (1.36, 0.72)
"""For four boxes side by side."""


def draw_sources() -> Picture:
    """From three sources to one worker for each pod."""
    return draw_boxes(
        {
            "API server": Box(0, 0, "a watch", SERVER),
            "a directory": Box(0, 1, "inotify, and a look\nevery 20 s", SERVER),
            "a URL": Box(0, 2, "asked every 20 s", SERVER),
            "pod config": Box(1, 1, "what is new in\nwhat they say?"),
            "sync loop": Box(2, 1, "ADD? then ask\nthe admit handlers"),
            "pod worker": Box(3, 0.5, "one for each pod", WORK),
            "refused": Box(3, 1.5, "Failed, at once", TROUBLE),
        },
        [
            Arrow("API server", "pod config"),
            Arrow("a directory", "pod config"),
            Arrow("a URL", "pod config"),
            Arrow("pod config", "sync loop"),
            Arrow("sync loop", "pod worker"),
            Arrow("sync loop", "refused", dashed=True),
        ],
        row=0.9,
        column=COLUMN,
        box=BOX,
    )


def draw_worker_states() -> Picture:
    """The three states of a worker, and what moves it to the next."""
    return draw_boxes(
        {
            "syncing": Box(0, 0, "SyncPod,\nagain and again", PROGRAM),
            "terminating": Box(1, 0, "SyncTerminatingPod\nuntil nothing runs", TROUBLE),
            "terminated": Box(2, 0, "SyncTerminatedPod\nuntil all is let go", SERVER),
            "another look": Box(
                0, 1.1, "change, container,\nprobe, timer, retry", WORK
            ),
            "the end": Box(
                1, 1.1, "deleted, evicted, past\nits deadline, all done", WORK
            ),
            "less patience": Box(2, 1.1, "a shorter grace\nperiod, never longer", WORK),
        },
        [
            Arrow("syncing", "terminating"),
            Arrow("terminating", "terminated"),
            Arrow("another look", "syncing", dashed=True),
            Arrow("the end", "terminating", dashed=True),
            Arrow("less patience", "terminating", dashed=True),
        ],
    )


def draw_pod_cache() -> Picture:
    """Who fills the kubelet's pod cache, and who waits for it."""
    return draw_boxes(
        {
            "runtime": Box(0, 0.5, "containers,\nsandboxes", SERVER),
            "PLEG": Box(1, 0.5, "1. list all,\ncompare"),
            "pod cache": Box(2, 0, "2. what is there,\nas of now", STORED),
            "sync loop": Box(2, 1, "3. this pod\nhas news"),
            "pod worker": Box(3, 0.5, "4. newer than my\nlast run, please", WORK),
        },
        [
            Arrow("PLEG", "runtime"),
            Arrow("PLEG", "pod cache"),
            Arrow("PLEG", "sync loop"),
            Arrow("sync loop", "pod worker"),
            Arrow("pod worker", "pod cache", dashed=True),
        ],
        column=COLUMN,
        box=BOX,
    )


def draw_probe_to_slice() -> Picture:
    """From a knock at a container to the address list of a Service, station by
    station.
    """
    return draw_boxes(
        {
            "probe": Box(0, 0, "GET /ready,\nevery 10 s", WORK),
            "container": Box(1, 0, "ready: true,\nafter n in a row"),
            "all containers": Box(2, 0, "condition\nContainersReady"),
            "the pod": Box(3, 0, "condition Ready,\nif all gates agree"),
            "its status": Box(3, 1.25, "in the API server", SERVER),
            "controller": Box(2, 1.25, "of slices: who\nhas the label?", PROGRAM),
            "EndpointSlice": Box(1, 1.25, "conditions.ready:\ntrue", STORED),
            "kube-proxy": Box(0, 1.25, "rules for those\nthat are ready", PROGRAM),
        },
        [
            Arrow("probe", "container"),
            Arrow("container", "all containers"),
            Arrow("all containers", "the pod"),
            Arrow("the pod", "its status", "a patch"),
            Arrow("its status", "controller"),
            Arrow("controller", "EndpointSlice"),
            Arrow("EndpointSlice", "kube-proxy"),
        ],
        column=COLUMN,
        box=BOX,
    )


def draw_three_probes() -> Picture:
    """What each probe asks, and what comes of a no."""
    return draw_boxes(
        {
            "startup": Box(
                0, 0.5, "have you begun? then\nthe others are asked", PROGRAM
            ),
            "liveness": Box(1, 0, "are you stuck?", PROGRAM),
            "readiness": Box(1, 1, "may visitors come?", PROGRAM),
            "killed": Box(2, 0, "and started again, as\nrestartPolicy allows", TROUBLE),
            "left out": Box(2, 1, "it runs on, but no\nvisitors are sent", WORK),
        },
        [
            Arrow("startup", "liveness"),
            Arrow("startup", "readiness"),
            Arrow("liveness", "killed", "no"),
            Arrow("readiness", "left out", "no"),
        ],
    )


def draw_status_makers() -> Picture:
    """Of what a status is made, and who carries it to the API server."""
    return draw_boxes(
        {
            "the spec": Box(0, 0, "what was wished for", SERVER),
            "the runtime": Box(0, 0.85, "what runs, what ended", SERVER),
            "the probes": Box(0, 1.7, "who answers", SERVER),
            "failures": Box(0, 2.55, "why it did not start", SERVER),
            "the status": Box(1, 1.27, "states, phase,\nconditions"),
            "status manager": Box(
                2, 0.5, "remembers at once,\nsends when it can", WORK
            ),
            "API server": Box(2, 2.05, "pods/status", STORED),
        },
        [
            Arrow("the spec", "the status"),
            Arrow("the runtime", "the status"),
            Arrow("the probes", "the status"),
            Arrow("failures", "the status"),
            Arrow("the status", "status manager"),
            Arrow("status manager", "API server", "what differs"),
        ],
        row=0.9,
    )


def draw_disk() -> Picture:
    """Who attaches a disk, who mounts it, and the note between the two."""
    return draw_boxes(
        {
            "the disk": Box(0, 0, "in the network", STORED),
            "controller": Box(1, 0, "attach/detach, in\nthe control plane"),
            "Node status": Box(2, 0, "volumesAttached", SERVER),
            "kubelet": Box(2, 1, "is it in the list?"),
            "nginx": Box(1, 1, "reads files", WORK),
        },
        [
            Arrow("controller", "the disk", "1. attach"),
            Arrow("controller", "Node status", "2. note"),
            Arrow("kubelet", "Node status", "3. wait, read"),
            Arrow("kubelet", "nginx", "4. mount"),
        ],
        column=2.45,
    )


def draw_deleted() -> Picture:
    """What a deletion begins, in two places at once."""
    return draw_boxes(
        {
            "deletion": Box(0, 0.5, "deletionTimestamp\nis set", SERVER),
            "kubelet": Box(1, 0, "hook, then a signal"),
            "nginx": Box(2, 0, "ends, perhaps in\na tenth of a second", WORK),
            "controller": Box(1, 1, "of slices: it is\nnot ready any more"),
            "kube-proxies": Box(2, 1, "a second or two until\nall have new rules"),
            "a visitor": Box(3, 0.5, "sent to a pod\nthat is gone", TROUBLE),
        },
        [
            Arrow("deletion", "kubelet"),
            Arrow("kubelet", "nginx"),
            Arrow("deletion", "controller"),
            Arrow("controller", "kube-proxies"),
            Arrow("kube-proxies", "a visitor", dashed=True),
            Arrow("nginx", "a visitor", dashed=True),
        ],
        column=COLUMN,
        box=BOX,
    )


def draw_pull_secret() -> Picture:
    """Where a pull secret goes, and where it does not."""
    return draw_boxes(
        {
            "Secret": Box(0, 0, "names of registries,\nwith passwords", STORED),
            "kubelet": Box(1, 0, "which of them\nfit this image?"),
            "runtime": Box(2, 0, "PullImage, with\none password"),
            "registry": Box(3, 0, "yes or no", SERVER),
            "pull record": Box(1, 1.2, "image, and a hash\nof the password", STORED),
            "container": Box(3, 1.2, "the image, and\nnothing else", WORK),
        },
        [
            Arrow("Secret", "kubelet"),
            Arrow("kubelet", "runtime"),
            Arrow("runtime", "registry"),
            Arrow("registry", "container", "layers"),
            Arrow("kubelet", "pull record", "keeps"),
        ],
        column=COLUMN,
        box=BOX,
    )


def draw_admit_handlers(refusals: Mapping[str, str]) -> Picture:
    """The row of handlers, by name, with a reason that each may give."""
    boxes = {
        name: Box(number % 3, number // 3 * 1.0, reason)
        for number, (name, reason) in enumerate(refusals.items())
    }
    names = list(boxes)
    return draw_boxes(boxes, [Arrow(*pair) for pair in pairwise(names)])
