"""Scenes for kubelets: pods that a node is given, and what has become of them when all is done.

Each is played in a namespace of its own, so all run at once. A scene ends when a watch has shown that its last effect is there.
What ends by itself runs long enough for both kubelets to see it run: both look about once a second.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from lifecycle.api.http.wire import Object
from tests.live.kubelet_sides import NODE
from tests.live.kubelet_stage import (
    FOREVER,
    WHILE,
    NodeStage,
    both,
    container,
    ended,
    entry,
    phase,
    probe,
    restarted,
    true,
    waits,
)

SCENES: dict[str, Callable[[NodeStage], Awaitable[None]]] = {}


def scene(play: Callable[[NodeStage], Awaitable[None]]) -> Callable[[NodeStage], Awaitable[None]]:
    """A scene goes by its function's name."""
    SCENES[play.__name__.replace("_", "-")] = play
    return play


@scene
async def plain(stage: NodeStage) -> None:
    await stage.run("web", container(), labels={"app": "web"})
    await stage.becomes("web", true("Ready"))


@scene
async def deleted_gracefully(stage: NodeStage) -> None:
    await stage.run("polite", container())
    await stage.run("held", container(), labels={"held": "yes"})
    await stage.becomes("polite", true("Ready"))
    await stage.becomes("held", true("Ready"))
    await stage.patch("pods", "held", {"metadata": {"finalizers": ["example.com/held"]}})
    await stage.delete("pods", "polite")
    await stage.delete("pods", "held")
    await stage.until("pods", lambda items: "polite" not in items)
    await stage.becomes("held", ended("Succeeded"))


@scene
async def deaf_to_the_end(stage: NodeStage) -> None:
    await stage.run("deaf", container(script="trap '' TERM; sleep 1000"))
    await stage.becomes("deaf", true("Ready"))
    await stage.patch("pods", "deaf", {"metadata": {"finalizers": ["example.com/held"]}})
    await stage.delete("pods", "deaf")
    await stage.becomes("deaf", ended("Failed"))


@scene
async def init_and_sidecar(stage: NodeStage) -> None:
    mount = {"volumeMounts": [{"name": "work", "mountPath": "/work"}]}
    first = container("first", f"{WHILE}; echo one > /work/first", **mount)
    sidecar = container("sidecar", restartPolicy="Always", startupProbe=probe("test", "-e", "/work/first"), **mount)
    second = container("second", f"{WHILE}; test -e /work/first", **mount)
    main = container("c", "sleep 3", **mount)
    volumes = [{"name": "work", "emptyDir": {}}]
    await stage.run("many", main, initContainers=[first, sidecar, second], volumes=volumes, restartPolicy="Never")
    await stage.becomes("many", ended("Succeeded"))


@scene
async def init_that_fails(stage: NodeStage) -> None:
    await stage.run("never", container(), initContainers=[container("init", f"{WHILE}; exit 5")], restartPolicy="Never")
    await stage.becomes("never", ended("Failed"))


@scene
async def init_in_a_crash_loop(stage: NodeStage) -> None:
    await stage.run("again", container(), initContainers=[container("init", f"{WHILE}; exit 6")])
    await stage.becomes("again", waits("CrashLoopBackOff", "init"))
    await stage.becomes("again", both(restarted(2, "init"), lambda pod: "terminated" in entry(pod, "init")["state"]))


@scene
async def ready_when_probed(stage: NodeStage) -> None:
    script = "sleep 2; touch /tmp/there; sleep 1000"
    await stage.run("late", container(script=f"{script}", readinessProbe=probe("test", "-e", "/tmp/there")))
    await stage.run("never", container(readinessProbe=probe("sh", "-c", "echo not yet; exit 1")))
    await stage.becomes("late", true("Ready"))
    await stage.told("never", "Unhealthy")
    await stage.becomes("never", true("Ready", "False"))


@scene
async def not_ready_any_more(stage: NodeStage) -> None:
    script = "touch /tmp/there; sleep 4; rm /tmp/there; sleep 1000"
    await stage.run(
        "gone", container(script=script, readinessProbe=probe("test", "-e", "/tmp/there", failureThreshold=1))
    )
    await stage.becomes("gone", true("Ready"))
    await stage.becomes("gone", true("Ready", "False"))


@scene
async def killed_by_a_probe(stage: NodeStage) -> None:
    """Sick when it runs for the first time, and well after that."""
    script = f"if [ -e /work/before ]; then touch /tmp/well; fi; touch /work/before; {FOREVER[-1]}"
    shared = {"script": script, "volumeMounts": [{"name": "work", "mountPath": "/work"}]}
    check = probe(
        "sh", "-c", "test -e /tmp/well || { echo I am sick; exit 1; }", initialDelaySeconds=2, failureThreshold=1
    )
    for name, kind in (("sick", "livenessProbe"), ("unstarted", "startupProbe")):
        await stage.run(name, container(**shared, **{kind: check}), volumes=[{"name": "work", "emptyDir": {}}])
    for name in ("sick", "unstarted"):
        await stage.becomes(name, both(restarted(1), true("Ready")))


@scene
async def started_when_probed(stage: NodeStage) -> None:
    slow = container(script="sleep 2; touch /tmp/up; sleep 1000")
    slow |= {"startupProbe": probe("test", "-e", "/tmp/up", failureThreshold=30), "livenessProbe": probe("true")}
    await stage.run("slow", slow)
    await stage.becomes("slow", true("Ready"))


@scene
async def readiness_gates(stage: NodeStage) -> None:
    gates = [{"conditionType": "example.com/door"}]
    await stage.run("closed", container(), readinessGates=gates)
    await stage.run("opened", container(), readinessGates=gates)
    await stage.becomes("closed", true("ContainersReady"))
    await stage.becomes("opened", true("ContainersReady"))
    conditions = (await stage.becomes("opened", true("Ready", "False")))["status"]["conditions"]
    door = {"type": "example.com/door", "status": "True", "lastTransitionTime": "2026-01-01T00:00:00Z"}
    await stage.patch("pods", "opened", {"status": {"conditions": [*conditions, door]}}, "status")
    await stage.becomes("opened", true("Ready"))


SHARED = [{"name": "shared", "emptyDir": {}}]


def together(*containers: Object) -> tuple[Object, ...]:
    """Each begins when the last one has been started: then all of them are seen to run."""
    for each in containers:
        last = each is containers[-1]
        wait = "touch /shared/go" if last else "until [ -e /shared/go ]; do sleep 0.1; done"
        each["command"][-1] = f"{wait}; {each['command'][-1]}"
        each["volumeMounts"] = [{"name": "shared", "mountPath": "/shared"}]
    return containers


@scene
async def exit_codes(stage: NodeStage) -> None:
    wanted = {
        "done": ended("Succeeded"),
        "failed": ended("Failed"),
        "on-failure": ended("Succeeded"),
        "mixed": ended("Failed"),
    }
    await stage.run("done", container(script=f"{WHILE}; exit 0"), restartPolicy="Never")
    await stage.run("failed", container(script=f"{WHILE}; exit 3"), restartPolicy="Never")
    await stage.run("on-failure", container(script=f"{WHILE}; exit 0"), restartPolicy="OnFailure")
    pair = together(container("a", f"{WHILE}; exit 0"), container("b", f"{WHILE}; {WHILE}; exit 4"))
    await stage.run("mixed", *pair, restartPolicy="Never", volumes=SHARED)
    for name, condition in wanted.items():
        await stage.becomes(name, condition)


async def crash(stage: NodeStage, code: int, policy: str) -> None:
    """Twice: at once, and after ten seconds. For the twenty seconds after that nothing changes."""
    await stage.run("crashes", container(script=f"{WHILE}; exit {code}"), restartPolicy=policy)
    await stage.becomes("crashes", waits("CrashLoopBackOff"))
    await stage.becomes("crashes", both(restarted(2), lambda pod: "terminated" in entry(pod)["state"]))


@scene
async def crash_loop(stage: NodeStage) -> None:
    await crash(stage, 1, "Always")


@scene
async def crash_loop_without_a_failure(stage: NodeStage) -> None:
    await crash(stage, 0, "Always")


@scene
async def crash_loop_of_failures(stage: NodeStage) -> None:
    await crash(stage, 2, "OnFailure")


@scene
async def restart_rules(stage: NodeStage) -> None:
    rules = [{"action": "Restart", "exitCodes": {"operator": "In", "values": [7]}}]
    script = f"{WHILE}; if [ -e /work/once ]; then exit 8; fi; touch /work/once; exit 7"
    ruled = container(script=script, restartPolicy="Never", restartPolicyRules=rules)
    ruled["volumeMounts"] = [{"name": "work", "mountPath": "/work"}]
    await stage.run("ruled", ruled, volumes=[{"name": "work", "emptyDir": {}}], restartPolicy="Never")
    await stage.becomes("ruled", ended("Failed"))


@scene
async def hooks(stage: NodeStage) -> None:
    def hook(command: str) -> Object:
        return {"exec": {"command": ["sh", "-c", command]}}

    good = container(lifecycle={"postStart": hook("touch /tmp/started"), "preStop": hook("sleep 0.2")})
    bad = container(lifecycle={"postStart": hook("echo no; exit 9")})
    worse = container(lifecycle={"preStop": hook("echo no; exit 8")})
    await stage.run("good", good)
    await stage.run("bad", bad, restartPolicy="Never")
    await stage.run("worse", worse)
    await stage.becomes("good", true("Ready"))
    await stage.becomes("worse", true("Ready"))
    for name in ("good", "worse"):
        await stage.delete("pods", name)
    await stage.until("pods", lambda items: not {"good", "worse"} & set(items))
    await stage.becomes("bad", ended("Succeeded"))


@scene
async def last_words(stage: NodeStage) -> None:
    said = container("said", f"{WHILE}; echo from the file > /dev/termination-log; exit 1")
    logged = container(
        "logged", f"{WHILE}; echo from the log; exit 1", terminationMessagePolicy="FallbackToLogsOnError"
    )
    silent = container("silent", f"{WHILE}; echo nothing; exit 0", terminationMessagePolicy="FallbackToLogsOnError")
    elsewhere = container("elsewhere", f"{WHILE}; echo elsewhere > /tmp/last", terminationMessagePath="/tmp/last")
    await stage.run("words", *together(said, logged, silent, elsewhere), restartPolicy="Never", volumes=SHARED)
    await stage.becomes("words", ended("Failed"))


@scene
async def environment(stage: NodeStage) -> None:
    await stage.create(
        {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "cfg"}, "data": {"a": "1", "b-c": "2"}}
    )
    await stage.create(
        {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "sec"}, "stringData": {"key": "s3cret"}}
    )
    fields = (
        "metadata.name",
        "metadata.namespace",
        "metadata.labels['app']",
        "spec.nodeName",
        "spec.serviceAccountName",
        "status.hostIP",
    )
    env: list[Object] = [
        {"name": f"F{n}", "valueFrom": {"fieldRef": {"fieldPath": path}}} for n, path in enumerate(fields)
    ]
    resources = ("limits.cpu", "requests.memory", "limits.memory", "requests.ephemeral-storage")
    env += [{"name": f"R{n}", "valueFrom": {"resourceFieldRef": {"resource": r}}} for n, r in enumerate(resources)]
    env += [{"name": "BOTH", "value": "$(F0)-$(SEC_key)-$(NOBODY)-$$(F0)"}]
    said = container(
        script=f"{WHILE}; ("
        "env | grep -v -e KUBERNETES_ -e SHLVL | sort; hostname; cat /etc/resolv.conf /info/*"
        ") > /dev/termination-log"
    )
    said |= {
        "env": env,
        "envFrom": [{"secretRef": {"name": "sec"}, "prefix": "SEC_"}, {"configMapRef": {"name": "cfg"}}],
    }
    said["resources"] = {"requests": {"memory": "20Mi"}, "limits": {"cpu": "500m", "memory": "64Mi"}}
    said["volumeMounts"] = [{"name": "info", "mountPath": "/info"}]
    items = [
        {"path": "labels", "fieldRef": {"fieldPath": "metadata.labels"}},
        {"path": "cpu", "resourceFieldRef": {"containerName": "c", "resource": "limits.cpu", "divisor": "1m"}},
    ]
    volumes = [{"name": "info", "downwardAPI": {"items": items}}]
    await stage.run(
        "told", said, labels={"app": "web", "tier": "front"}, volumes=volumes, restartPolicy="Never", hostname="books"
    )
    await stage.becomes("told", ended("Succeeded"))


@scene
async def volumes(stage: NodeStage) -> None:
    await stage.create(
        {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "cfg"}, "data": {"a": "1", "b": "2"}}
    )
    await stage.create(
        {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "sec"}, "stringData": {"key": "s3cret"}}
    )
    sources = [
        {"configMap": {"name": "cfg", "items": [{"key": "a", "path": "deep/a"}]}},
        {"secret": {"name": "sec"}},
        {"serviceAccountToken": {"path": "token", "expirationSeconds": 3600}},
    ]
    given = [
        {"name": "config", "configMap": {"name": "cfg"}},
        {"name": "secret", "secret": {"secretName": "sec", "defaultMode": 0o400}},
        {"name": "memory", "emptyDir": {"medium": "Memory", "sizeLimit": "1Mi"}},
        {"name": "disk", "emptyDir": {}},
        {"name": "all", "projected": {"sources": sources}},
        {"name": "host", "hostPath": {"path": "/etc", "type": "Directory"}},
    ]
    mounts = [{"name": v["name"], "mountPath": f"/{v['name']}"} for v in given]
    mounts += [{"name": "config", "mountPath": "/one", "subPath": "b", "readOnly": True}]
    mounts[-2]["recursiveReadOnly"] = "IfPossible"
    mounts[-2]["readOnly"] = True
    script = (
        f"{WHILE}; (ls -l /config/ /secret/ /all/deep | awk '{{print $1, $3, $4, $NF}}'; cat /one /secret/key /all/deep/a; "
        "grep -e ' /memory ' -e ' /secret ' /proc/mounts | cut -d' ' -f2-4) > /dev/termination-log"
    )
    await stage.run(
        "full",
        container(script=script, volumeMounts=mounts),
        volumes=given,
        restartPolicy="Never",
        securityContext={"fsGroup": 2000},
    )
    await stage.becomes("full", ended("Succeeded"))


@scene
async def volumes_that_are_not_there(stage: NodeStage) -> None:
    missing = [{"name": "v", "configMap": {"name": "absent"}}]
    mounts = [{"name": "v", "mountPath": "/v"}]
    await stage.run("no-map", container(volumeMounts=mounts), volumes=missing)
    optional = [{"name": "v", "configMap": {"name": "absent", "optional": True}}]
    await stage.run("optional", container(volumeMounts=mounts), volumes=optional)
    host = [{"name": "v", "hostPath": {"path": "/no/such/directory", "type": "Directory"}}]
    await stage.run("no-directory", container(volumeMounts=mounts), volumes=host)
    await stage.becomes("optional", true("Ready"))
    await stage.told("no-map", "FailedMount")
    await stage.told("no-directory", "FailedMount")


@scene
async def resource_classes(stage: NodeStage) -> None:
    small = {"cpu": "10m", "memory": "16Mi"}
    await stage.run("guaranteed", container(resources={"requests": small, "limits": small}))
    await stage.run("burstable", container(resources={"requests": {"cpu": "5m"}, "limits": {"memory": "32Mi"}}))
    await stage.run(
        "whole", container(), resources={"requests": {"cpu": "20m"}, "limits": {"cpu": "100m", "memory": "64Mi"}}
    )
    for name in ("guaranteed", "burstable", "whole"):
        await stage.becomes(name, true("Ready"))


@scene
async def refused(stage: NodeStage) -> None:
    await stage.run("elsewhere", container(), nodeSelector={"no": "such"})
    await stage.run("greedy", container(resources={"requests": {"cpu": "1000", "memory": "1Pi"}}))
    terms = [{"matchExpressions": [{"key": "kubernetes.io/hostname", "operator": "NotIn", "values": [NODE]}]}]
    affinity = {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}}}
    await stage.run("affine", container(), affinity=affinity)
    await stage.run("sysctl", container(), securityContext={"sysctls": [{"name": "kernel.msgmax", "value": "8192"}]})
    port = {"ports": [{"containerPort": 80, "hostPort": 8099}]}
    await stage.run("first", container(**port))
    await stage.becomes("first", true("Ready"))
    await stage.run("second", container(**port))
    for name in ("elsewhere", "greedy", "affine", "sysctl", "second"):
        await stage.becomes(name, phase("Failed"))


@scene
async def out_of_time(stage: NodeStage) -> None:
    await stage.run("late", container(), activeDeadlineSeconds=6)
    await stage.becomes("late", ended("Failed"))


@scene
async def no_such_image(stage: NodeStage) -> None:
    await stage.run("absent", container(image=stage.image.rpartition(":")[0] + ":no-such"))
    await stage.run("never", container(image="example.test/never:1", imagePullPolicy="Never"))
    await stage.run("bad", container(image="Not An Image"))
    await stage.becomes("absent", waits("ImagePullBackOff"))
    await stage.becomes("never", waits("ErrImageNeverPull"))
    await stage.becomes("bad", waits("InvalidImageName"))


@scene
async def cannot_start(stage: NodeStage) -> None:
    await stage.run("root", container(securityContext={"runAsNonRoot": True}))
    wants = [{"name": "X", "valueFrom": {"configMapKeyRef": {"name": "absent", "key": "k"}}}]
    await stage.run("missing", container(env=wants))
    await stage.run("nothing", {"name": "c", "command": ["/no/such/program"]}, restartPolicy="Never")
    await stage.becomes("root", waits("CreateContainerConfigError"))
    await stage.becomes("missing", waits("CreateContainerConfigError"))
    await stage.becomes("nothing", ended("Failed"))


@scene
async def on_the_nodes_network(stage: NodeStage) -> None:
    await stage.run("host", container(), hostNetwork=True)
    await stage.becomes("host", true("Ready"))


@scene
async def static_pod(stage: NodeStage) -> None:
    stage.write(stage.pod("static", container()))
    before = await stage.becomes(f"static-{NODE}", true("Ready"))
    await stage.delete("pods", f"static-{NODE}")
    await stage.becomes(
        f"static-{NODE}",
        both(true("Ready"), lambda pod: pod["metadata"]["uid"] != before["metadata"]["uid"]),
    )


@scene
async def static_pod_taken_away(stage: NodeStage) -> None:
    path = stage.write(stage.pod("fleeting", container()))
    await stage.becomes(f"fleeting-{NODE}", true("Ready"))
    path.unlink()
    await stage.until("pods", lambda items: not items)
