"""Claims about lifecycle hooks: put to the recorded pods with hooks, and to our own
runner.
"""

from __future__ import annotations

import re
from typing import Any, cast

from lifecycle.agreements.claim_checks.container_start import configs, generated_config
from lifecycle.agreements.claim_checks.kubelet_status import story
from lifecycle.agreements.kubelet.kubelet_scene import scene
from lifecycle.agreements.kubelet.pod_status import Played
from lifecycle.api import fast_json
from lifecycle.api.http.wire import Object
from lifecycle.cluster.rehearsal import on_virtual_time
from lifecycle.compare.claims import Partly, check, rebuilt
from lifecycle.cri.apis.pod_network import NO_TLS, HTTPAnswer, HTTPRequest
from lifecycle.cri.apis.streams import ExecSyncResponse
from lifecycle.inspector import Recording
from lifecycle.kubelet.lifecycle.handlers import HookRunner


class ToldRuntime:
    """Says that everything went well, and remembers what it was asked."""

    def __init__(self, code: int = 200, *, tls: bool = True) -> None:
        self.asked: list[tuple[Any, ...]] = []
        self.code = code
        self.tls = tls

    async def exec_sync(self, *asked: Any) -> ExecSyncResponse:
        self.asked.append(asked)
        return ExecSyncResponse(0)

    async def http_get(self, request: HTTPRequest, timeout: float) -> HTTPAnswer:
        self.asked.append((request.host, request.port, request.path))
        if request.scheme == "https" and not self.tls:
            return HTTPAnswer(0, f"Get: {NO_TLS}")
        text = "" if self.code else "connection refused"
        return HTTPAnswer(self.code, text, location="http://elsewhere.example/")


FAILED = 'for Container "c" in Pod "p_n(u)" failed - error:'


def _run(hook: Object, runtime: ToldRuntime | None = None) -> str:
    """Why the hook failed; nothing if it did not."""
    container = {"name": "c", "ports": [{"name": "web", "containerPort": 8080}]}
    pod = {"metadata": {"name": "p", "namespace": "n", "uid": "u"}}
    return on_virtual_time(
        HookRunner(cast(Any, runtime or ToldRuntime())).run(
            pod, "id", container, hook, "10.0.0.9"
        )
    )


def _reasons(played: Played, name: str) -> list[str]:
    mine = [event for event in played.events if event["involvedObject"]["name"] == name]
    return [
        e["reason"]
        for e in sorted(
            mine,
            key=lambda e: (e["firstTimestamp"], int(e["metadata"]["resourceVersion"])),
        )
    ]


def _ever_running(played: Played, name: str) -> bool:
    statuses = [pod["status"] for pod in played.statuses[name]]
    return any(
        "running" in c["state"]
        for status in statuses
        for c in status.get("containerStatuses", ())
    )


@check("lifecycle-hooks-poststart-runs-after-start")
def after_start(recording: Recording) -> bool | None:
    """What the hook did to the container came after its start."""
    played = story(recording)
    if played is None:
        return None
    reasons = [
        r
        for r in _reasons(played, "post-start-fails")
        if r in ("Started", "FailedPostStartHook")
    ]
    return reasons[:2] == ["Started", "FailedPostStartHook"]


@rebuilt("lifecycle-hooks-poststart-runs-after-start")
def our_after_start() -> bool:
    """Each command of a hook was run in a container that had been started."""
    calls = scene().calls
    hooks = [
        (i, container)
        for i, (name, container) in enumerate(calls)
        if name == "exec_sync"
    ]
    return bool(hooks) and all(
        calls.index(("start_container", container)) < i for i, container in hooks
    )


@check("lifecycle-hooks-exec-hook")
def exec_hook(recording: Recording) -> bool | None:
    """`true` lets the container run, `exit 4` does not: so something was run."""
    played = story(recording)
    if played is None:
        return None
    return _ever_running(played, "post-start-ok") and "FailedPostStartHook" in _reasons(
        played, "post-start-fails"
    )


@rebuilt("lifecycle-hooks-exec-hook")
def our_exec_hook() -> bool:
    """In that container, without a time limit."""
    runtime = ToldRuntime()
    return _run(
        {"exec": {"command": ["ls", "/"]}}, runtime
    ) == "" and runtime.asked == [("id", ("ls", "/"), 0.0)]


@check("lifecycle-hooks-http-hook")
def http_hook(recording: Recording) -> bool | None:
    """Nginx was asked before it listened, and the kubelet notes what it got: an
    address, a port, a refused connection.
    """
    played = story(recording)
    if played is None:
        return None
    address = (
        r'Failed to execute PostStartHook" err="Get'
        r' \\"http://([\d.]+):80/\\".*pod="kubelet/post-start-http"'
    )
    asked = {
        ip
        for node in recording.nodes()
        for ip in re.findall(address, _kubelet_log(recording, node))
    }
    addresses = {
        pod["status"].get("podIP") for pod in played.statuses["post-start-http"]
    }
    return bool(asked) and asked <= addresses


def _kubelet_log(recording: Recording, node: str) -> str:
    recorded = recording.node(node)
    return recorded.run("kubelet-log") if "kubelet-log" in recorded.files() else ""


@rebuilt("lifecycle-hooks-http-hook")
def our_http_hook() -> bool:
    """To the pod's address and the port of that name; a status of 500 is no failure,
    silence is, and so is a name that no port has. Who has no TLS is asked without.
    """
    secure: Object = {"httpGet": {"path": "/s", "port": "8443", "scheme": "HTTPS"}}
    plain, unnamed = ToldRuntime(tls=False), {"httpGet": {"path": "/a", "port": "ftp"}}
    hook: Object = {"httpGet": {"path": "/warm", "port": "web"}}
    asked, unwell, silent = ToldRuntime(), ToldRuntime(500), ToldRuntime(0)
    return (
        _run(hook, asked) == ""
        and asked.asked == [("10.0.0.9", 8080, "/warm")]
        and _run(hook, unwell) == ""
        and "connection refused" in _run(hook, silent)
        and _run(secure, plain) == ""
        and plain.asked == [("10.0.0.9", 8443, "/s")] * 2
        and _run(unnamed)
        == f"HTTP lifecycle hook (/a) {FAILED}"
        ' strconv.Atoi: parsing "ftp": invalid syntax'
    )


@check("lifecycle-hooks-only-exec-and-http-exist")
def only_two(recording: Recording) -> bool | None:
    """A pod with a third kind was accepted as it was sent, and its hook did what it
    says.
    """
    if "kubelet" not in recording.scenarios():
        return None
    pods = [
        e.response
        for e in recording.exchanges("kubelet")
        if e.method == "POST" and e.path.endswith("/pods")
    ]
    hooks = [
        c.get("lifecycle") or {} for pod in pods for c in pod["spec"]["containers"]
    ]
    return not any("sleep" in handler for hook in hooks for handler in hook.values())


@rebuilt("lifecycle-hooks-only-exec-and-http-exist")
def our_only_two() -> bool:
    """Of four kinds in the API three do something; the fourth always fails."""
    works = {
        "exec": _run({"exec": {"command": ["true"]}}) == "",
        "httpGet": _run({"httpGet": {"port": 80}}) == "",
        "sleep": _run({"sleep": {"seconds": 3}}) == "",
        "tcpSocket": _run({"tcpSocket": {"port": 80}}) == "",
    }
    assert works["exec"], "a command works"
    assert works["httpGet"], "a request works"
    assert not works["tcpSocket"], "this never did"
    return not works["sleep"]


@check("lifecycle-hooks-failing-or-hanging-hook-blocks-running")
def blocks_running(recording: Recording) -> Partly | None:
    """One whose hook fails is never shown running, and is tried again and again; one
    whose hook is done is.
    """
    played = story(recording)
    if played is None:
        return None
    again = (
        played.pods["post-start-fails"]["status"]["containerStatuses"][0][
            "restartCount"
        ]
        > 0
    )
    return Partly(
        again and not _ever_running(played, "post-start-fails"),
        _ever_running(played, "post-start-ok"),
    )


@rebuilt("lifecycle-hooks-failing-or-hanging-hook-blocks-running")
def our_blocks_running() -> Partly:
    """A hook of twenty seconds: waiting all the while, then running. A failing one:
    never.
    """
    played = scene()
    slow = [
        (at, next(iter(s["containerStatuses"][0]["state"])))
        for at, s in played.statuses["slow-hook"]
        if "containerStatuses" in s
    ]
    bad = {
        next(iter(s["containerStatuses"][0]["state"]))
        for _, s in played.statuses["bad-hook"]
        if "containerStatuses" in s
    }
    begun = [at for at, state in slow if state == "running"]
    delay = begun[0] - slow[0][0] if begun else 0.0
    return Partly("running" not in bad and slow[0][1] == "waiting", 20 <= delay < 25)


@check("lifecycle-hooks-runtime-interprets-hooks")
def runtime_interprets(recording: Recording) -> bool | None:
    """The runtime would have to have been told: of a pod with a hook, nothing of it is
    in what the runtime got.
    """
    if not recording.nodes():
        return None
    containers = [
        d
        for d in configs(recording)
        if d["info"]["config"]["labels"]["io.kubernetes.pod.name"].startswith(
            "post-start"
        )
    ]
    return (
        any(
            b"postStart" in fast_json.dumps(document["info"]) for document in containers
        )
        if containers
        else None
    )


@rebuilt("lifecycle-hooks-runtime-interprets-hooks")
def our_runtime_interprets() -> bool:
    """A hook is nowhere in our config but in an annotation, which is a note to the
    kubelet itself.
    """
    config = generated_config()
    annotations = [key for key in config.annotations if "preStop" in key]
    others = repr(
        (config.command, config.args, config.linux, config.labels, config.mounts)
    )
    return (
        annotations != ["io.kubernetes.container.preStopHandler"] or "sleep" in others
    )
