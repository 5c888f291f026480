"""What watches and the audit log told, otherwise than recorded."""

from __future__ import annotations

from tests.claims.tampered.tamper import Line, Tamper, lines, text

DECISION = "authorization.k8s.io/decision"


def _binding(line: Line) -> bool:
    return (line.get("objectRef") or {}).get("subresource") == "binding" and line.get("verb") == "create"


def _by_kubectl(line: Line) -> bool:
    return line["userAgent"].startswith("kubectl") and line["verb"] == "create"


def _status_by_kubelet(line: Line) -> bool:
    return line["user"]["username"].startswith("system:node:") and line["requestURI"].endswith("/status")


def _of_pods(line: Line) -> bool:
    reference = line.get("objectRef") or {}
    return line["verb"] == "create" and reference.get("resource") == "pods" and "subresource" not in reference


TAMPERS = (
    Tamper(
        "each controller watches pods for itself",
        "audit/requests-by-component.tsv",
        text(r"^1(\tkube-controller-manager/.*\twatch\t\tv1\tpods\t.*sendInitialEvents)", r"9\1"),
        ("informers-share-one-connection-and-cache",),
    ),
    Tamper(
        "objects begin later than they were made",
        "watch/journey.jsonl",
        text(r'("type":"ADDED".*?"resourceVersion":")(\d+)', r"\g<1>9\2"),
        ("initializers-hide-object-until-finished",),
    ),
    Tamper(
        "nobody is warned of Endpoints, and nobody reads anything else",
        "[ah]*/[rs]*",
        lambda before: before.replace("deprecated", "good").replace("\tendpointslices\t", "\tendpoints\t"),
        ("endpoints-endpoint-object-created",),
    ),
    Tamper(
        "the server does not know aggregated discovery",
        "http/discovery.jsonl",
        lambda before: "".join(f"{line}\n" for line in before.splitlines() if "g=apidiscovery" not in line),
        ("discovery-separate-call-per-group-version",),
    ),
    Tamper(
        "a binding of another pod",
        "audit/journey.jsonl",
        lines(lambda line: _binding(line) and "requestObject" in line, "requestObject", "metadata", "uid", value="x"),
        ("binding-carries-pod-name-and-uid",),
    ),
    Tamper(
        "a binding to another node",
        "audit/journey.jsonl",
        lines(
            lambda line: _binding(line) and "requestObject" in line,
            "requestObject",
            "target",
            "name",
            value="elsewhere",
        ),
        ("binding-target-names-the-node",),
    ),
    Tamper(
        "bindings are refused",
        "audit/journey.jsonl",
        lines(lambda line: _binding(line) and "responseStatus" in line, "responseStatus", "code", value=403),
        ("binding-posted-to-api-server",),
    ),
    Tamper(
        "kubelets replace statuses",
        "audit/journey.jsonl",
        lines(_status_by_kubelet, "verb", value="update"),
        ("kubelet-status-manager-updates-asynchronously",),
    ),
    Tamper(
        "kubelets speak before a pod is placed",
        "audit/journey.jsonl",
        lines(_status_by_kubelet, "requestReceivedTimestamp", value="2000-01-01T00:00:00.000000Z"),
        ("wrap-up-only-in-etcd-until-kubelet-acts",),
    ),
    Tamper(
        "what kubectl creates is not authorized",
        "audit/journey.jsonl",
        lines(lambda line: _by_kubectl(line) and "annotations" in line, "annotations", DECISION, value="forbid"),
        ("services-request-repeats-full-pipeline", "wrap-up-objects-in-store"),
    ),
    Tamper(
        "pods are refused",
        "audit/journey.jsonl",
        lines(lambda line: _of_pods(line) and "responseStatus" in line, "responseStatus", "code", value=403),
        ("wrap-up-objects-in-store",),
    ),
    Tamper(
        "a POST is an update",
        "audit/journey.jsonl",
        lines(_by_kubectl, "verb", value="update"),
        ("resource-handling-post-reaches-create-handler",),
    ),
    Tamper(
        "the log has the object as it was sent",
        "audit/journey.jsonl",
        text('"progressDeadlineSeconds":600', '"others":600'),
        ("resource-handling-performance-trace-and-audit",),
    ),
    Tamper(
        "kubelets do not watch",
        "audit/requests-by-component.tsv",
        text(r"^(\d+\tkubelet/\S+\t\S+\t)watch(\t\tv1\tpods)", r"\1get\2"),
        ("kubelet-sync-polls-api-every-20-seconds", "kubelet-sync-selects-pods-by-node-name"),
    ),
    # -- the journey ----------------------------------------------------------------------------------------------------
    Tamper(
        "the sets are a Job's",
        "watch/journey.jsonl",
        text('"apiVersion":"apps/v1","kind":"Deployment","name"', '"apiVersion":"batch/v1","kind":"Job","name"'),
        ("deployment-controller-ownership-hierarchy", "replicaset-controller-replicaset-has-deployment-owner"),
    ),
    Tamper(
        "another image changes nothing",
        "watch/journey.jsonl",
        text('"image":"nginx:[^"]*"', '"image":"nginx"'),
        (
            "deployment-controller-new-replicaset-on-image-change",
            "deployment-controller-new-replicaset-on-scale",
        ),
    ),
    Tamper(
        "a set is called otherwise",
        "watch/journey.jsonl",
        text('"pod-template-hash":"', '"pod-template-hash":"x'),
        ("deployment-controller-creates-first-replicaset",),
    ),
    Tamper(
        "a set has another label more",
        "watch/journey.jsonl",
        text(
            '"matchLabels":{"app":"nginx","pod-template-hash"',
            '"matchLabels":{"app":"nginx","more":"","pod-template-hash"',
        ),
        ("deployment-controller-assigns-label-selector",),
    ),
    Tamper(
        "revisions begin at seven",
        "watch/journey.jsonl",
        text('deployment.kubernetes.io/revision":"1"', 'deployment.kubernetes.io/revision":"7"'),
        ("deployment-controller-first-revision-is-one",),
    ),
    Tamper(
        "a set has another template",
        "watch/journey.jsonl",
        lines(
            lambda line: line["path"].partition("?")[0].endswith("/replicasets") and "spec" in line["event"]["object"],
            *("event", "object", "spec", "template", "spec"),
            value={"containers": [{"name": "other", "image": "x"}]},
        ),
        ("deployment-controller-copies-pod-template-and-metadata",),
    ),
    Tamper(
        "nobody speaks of progress",
        "watch/journey.jsonl",
        text('"type":"Progressing"', '"type":"Regressing"'),
        ("deployment-controller-deployment-updated-for-progress-deadline",),
    ),
    Tamper(
        "a Deployment has a status from the start",
        "watch/journey.jsonl",
        lines(
            lambda line: line["event"].get("type") == "ADDED" and line["event"]["object"].get("kind") == "Deployment",
            *("event", "object", "status"),
            value={"replicas": 3},
        ),
        ("deployment-controller-updates-status",),
    ),
    Tamper(
        "a finished rollout has updated nothing",
        "watch/journey.jsonl",
        text(r'"updatedReplicas":\d+', '"updatedReplicas":0'),
        ("deployment-controller-definition-of-complete",),
    ),
    Tamper(
        "no limit is set",
        "watch/journey.jsonl",
        text('"revisionHistoryLimit":10,', ""),
        ("deployment-controller-history-limit-off-by-default",),
    ),
    Tamper(
        "sets stay empty",
        "watch/journey.jsonl",
        text(r'"status":{"replicas":\d+', '"status":{"replicas":0'),
        ("replicaset-controller-creates-missing-pods",),
    ),
    Tamper(
        "no generation is observed",
        "watch/journey.jsonl",
        text(r'"observedGeneration":\d+', '"observedGeneration":0'),
        ("replicaset-controller-status-and-observed-generation",),
    ),
    Tamper(
        "the sets stay when the Deployment is gone",
        "watch/journey.jsonl",
        lines(
            lambda line: (
                line["path"].partition("?")[0].endswith("/replicasets") and line["event"].get("type") == "DELETED"
            ),
            *("event", "type"),
            value="MODIFIED",
        ),
        ("garbage-collection-cascading-delete",),
    ),
    Tamper(
        "nothing is ever deleted",
        "watch/journey.jsonl",
        text('"type":"DELETED"', '"type":"MODIFIED"'),
        ("informers-deliver-create-update-delete",),
    ),
    Tamper(
        "frames carry no revisions of a store",
        "watch/journey.jsonl",
        text('"resourceVersion":"', '"resourceVersion":"x'),
        ("informers-source-is-storage-events",),
    ),
    # -- kubelets -------------------------------------------------------------------------------------------------------
    Tamper(
        "running pods are in an unknown phase",
        "watch/kubelet.jsonl",
        text('"phase":"Running"', '"phase":"Unknown"'),
        (
            "kubelet-status-generates-podstatus-with-phase",
            "kubelet-status-five-phases",
            "kubelet-status-phase-derived-from-containers",
        ),
    ),
    Tamper(
        "nobody ends a pod for its deadline",
        "*/kubelet.jsonl",
        text('"reason":"DeadlineExceeded"', '"reason":"Evicted"'),
        ("kubelet-status-sync-handler-chain", "kubelet-status-active-deadline-example"),
    ),
    Tamper(
        "a pod that was ended has no containers",
        "watch/kubelet.jsonl",
        lines(
            lambda line: (line["event"]["object"].get("status") or {}).get("reason") == "DeadlineExceeded",
            *("event", "object", "status", "containerStatuses"),
            value=[],
        ),
        ("kubelet-status-handlers-run-before-phase",),
    ),
    Tamper(
        "no pod fails",
        "*/kubelet.jsonl",
        text('"phase":"Failed"', '"phase":"Running"'),
        ("kubelet-status-evicted-pod-becomes-failed",),
    ),
    Tamper(
        "what is being made runs",
        "watch/kubelet.jsonl",
        text('"waiting":{"reason":"ContainerCreating"}', '"running":{}'),
        ("kubelet-status-not-started-means-waiting", "kubelet-status-waiting-container-means-pending"),
    ),
    Tamper(
        "pods are ready from the start",
        "watch/kubelet.jsonl",
        text('"reason":"ContainersNotReady"', '"reason":"Fine"'),
        ("kubelet-status-podready-false-before-containers",),
    ),
    Tamper(
        "containers begin without an address",
        "watch/kubelet.jsonl",
        text('"podIP":"[^"]*"', '"podIP":""'),
        ("container-start-waits-for-ready-sandbox",),
    ),
    Tamper(
        "init containers end a year later",
        "http/kubelet.jsonl",
        text('"finishedAt":"2026', '"finishedAt":"2027'),
        ("container-start-init-containers-first",),
    ),
    Tamper(
        "hooks do not fail",
        "*/kubelet.jsonl",
        text('"reason":"FailedPostStartHook"', '"reason":"Fine"'),
        (
            "container-start-pull-create-start-order",
            "lifecycle-hooks-poststart-runs-after-start",
            "lifecycle-hooks-exec-hook",
        ),
    ),
    Tamper(
        "no hook sleeps",
        "http/kubelet.jsonl",
        text('"sleep":{', '"exec":{'),
        ("lifecycle-hooks-only-exec-and-http-exist",),
    ),
    Tamper(
        "nothing is ever started again",
        "http/kubelet.jsonl",
        text(r'"restartCount":\d+', '"restartCount":0'),
        ("lifecycle-hooks-failing-or-hanging-hook-blocks-running", "kubelet-sync-syncpod-converges-real-to-desired"),
    ),
    Tamper(
        "nobody is killed for memory",
        "http/kubelet.jsonl",
        text('"OOMKilled"', '"Error"'),
        ("cgroups-govern-resource-allocation",),
    ),
    Tamper(
        "a pod of another class",
        "http/kubelet.jsonl",
        text('"qosClass":"Burstable"', '"qosClass":"BestEffort"'),
        ("cgroups-serve-qos-handling",),
    ),
    Tamper(
        "a pod without its volume crashes",
        "http/kubelet.jsonl",
        text('"reason":"ContainerCreating"', '"reason":"CrashLoopBackOff"'),
        ("volumes-start-waits-for-volumes",),
    ),
    Tamper(
        "no init containers",
        "watch/kubelet.jsonl",
        text('"initContainers":', '"others":'),
        ("initializers-pod-status-podinitializing",),
    ),
)
