"""Answers of an API server that are otherwise than recorded."""

from __future__ import annotations

from lifecycle.agreements.apiserver.authorization import REFUSALS
from lifecycle.agreements.scheduler.scheduling import NOBODYS
from lifecycle.historical.apiserver.initial_resources import ANNOTATION
from tests.claims.tampered.tamper import Line, Tamper, lines, noted, pods, text

MISSING_CLASS = noted("Priority missing class")


def _unplaced(line: Line) -> bool:
    return pods(line) and not line["response"]["spec"].get("nodeName")


def _about_secrets(line: Line) -> bool:
    spec = (line.get("body") or {}).get("spec") or {}
    asked = spec.get("resourceAttributes") or {}
    return str(spec.get("user", "")).startswith("system:node:") and asked.get("resource") == "secrets"


TAMPERS = (
    # -- admission ------------------------------------------------------------------------------------------------------
    Tamper(
        "a refused pod is made",
        "http/admission.jsonl",
        lines(MISSING_CLASS, "status", value=201),
        ("admission-one-failure-fails-request",),
    ),
    Tamper(
        "a refusal with two codes",
        "http/admission.jsonl",
        lines(MISSING_CLASS, "response", "code", value=500),
        ("admission-error-becomes-http-response",),
    ),
    Tamper(
        "an authorizer refuses the administrator",
        "http/admission.jsonl",
        lines(MISSING_CLASS, "response", "message", value='User "admin" cannot create resource "pods"'),
        ("admission-runs-between-authz-and-storage",),
    ),
    Tamper(
        "a namespace whose deletion was refused takes no pods",
        "http/admission.jsonl",
        lines(
            lambda line: line["path"].startswith("/api/v1/namespaces/default/pods"),
            "status",
            value=409,
        ),
        ("admission-runs-between-authz-and-storage",),
    ),
    Tamper(
        "a namespace whose deletion was let pass takes pods",
        "http/admission.jsonl",
        lines(lambda line: line["path"].startswith("/api/v1/namespaces/rec-term/pods"), "status", value=201),
        ("admission-runs-between-authz-and-storage",),
    ),
    Tamper(
        "nobody refuses the administrator",
        "http/admission.jsonl",
        text('"as":"admin"', '"as":"jane"'),
        ("admission-can-refuse-authorized-request", "admission-only-validates"),
    ),
    Tamper(
        "a pod with estimated resources",
        "http/admission.jsonl",
        lines(pods, "response", "metadata", "annotations", value={ANNOTATION: "x"}),
        ("admission-initial-resources-plugin",),
    ),
    Tamper(
        "a pod with initializers",
        "http/admission.jsonl",
        lines(pods, "response", "metadata", "initializers", value={"pending": []}),
        ("initializers-name-added-to-pending-list",),
    ),
    Tamper(
        "other defaults",
        "http/admission.jsonl",
        text('"memory":"256Mi"', '"memory":"1Gi"'),
        ("admission-limitranger-sets-defaults",),
    ),
    Tamper(
        "another maximum",
        "http/admission.jsonl",
        text("maximum cpu usage per Container is 2", "maximum cpu usage per Container is 9"),
        ("admission-limitranger-enforces-maximum",),
    ),
    Tamper(
        "another quota",
        "http/admission.jsonl",
        text("exceeded quota: rq", "exceeded quota: other"),
        ("admission-quota-limits-compute-and-storage",),
    ),
    # -- discovery ------------------------------------------------------------------------------------------------------
    Tamper(
        "another group comes first",
        "http/discovery.jsonl",
        lines(
            lambda line: line["path"] == "/apis" and line["response"].get("kind") == "APIGroupList",
            *("response", "groups", 0, "name"),
            value="apps",
        ),
        ("aggregation-layer-is-entered-first",),
    ),
    Tamper(
        "the aggregated list misses a group",
        "http/discovery.jsonl",
        lines(
            lambda line: line["path"] == "/apis" and line["response"].get("kind") == "APIGroupDiscoveryList",
            *("response", "items", 0, "metadata", "name"),
            value="nobody.example",
        ),
        ("discovery-client-lists-api-groups",),
    ),
    Tamper(
        "no Deployments anywhere",
        "http/discovery.jsonl",
        text('"name":"deployments"', '"name":"deploys"'),
        ("discovery-scans-only-api-root",),
    ),
    Tamper(
        "the root is an OpenAPI document",
        "http/discovery.jsonl",
        lines(lambda line: line["path"] == "/api", "response", "openapi", value="3.0.0"),
        ("discovery-api-root-is-openapi",),
    ),
    Tamper(
        "initializers can be configured",
        "http/discovery.jsonl",
        text('"name":"validatingwebhookconfigurations"', '"name":"initializerconfigurations"'),
        ("initializers-configuration-kind", "initializers-enabled-by-default"),
    ),
    Tamper(
        "a resource that nobody may do anything with",
        "http/discovery.jsonl",
        text(r'"verbs":\[[^\]]*\]', '"verbs":[]'),
        ("resource-handling-routes-registered-at-startup",),
    ),
    # -- who is who -----------------------------------------------------------------------------------------------------
    Tamper(
        "a password makes somebody",
        "http/authn.jsonl",
        lines(noted("basic auth"), "response", "message", value='pods is forbidden: User "jane" cannot list'),
        ("authn-password-authenticator", "client-auth-basic-auth-header"),
    ),
    Tamper(
        "the administrator is turned away",
        "http/authn.jsonl",
        lines(noted("impersonation by admin"), "status", value=401),
        ("authn-approval-yields-unauthorized",),
    ),
    Tamper(
        "a bad token is let in",
        "http/authn.jsonl",
        lines(noted("bad token"), "status", value=403),
        ("authn-failure-stops-the-request",),
    ),
    Tamper(
        "nobody says who wanted to be another",
        "http/authn.jsonl",
        lines(noted("SA may not impersonate"), "response", "message", value="no"),
        ("authn-inflight-impersonation-audit-run-later",),
    ),
    Tamper(
        "a service account is nobody",
        "http/authn.jsonl",
        lines(noted("service account lists pods"), "response", value={"message": 'User "somebody"'}),
        ("authn-users-and-service-accounts",),
    ),
    Tamper(
        "one of jane's wishes is granted",
        "http/authz.jsonl",
        lines(noted(REFUSALS), "status", value=200),
        ("authz-evaluated-for-every-request",),
    ),
    Tamper(
        "nothing is allowed by a role",
        "http/authz.jsonl",
        text("RBAC: allowed by", "ABAC: allowed by"),
        ("authz-single-approval-suffices", "authz-rbac-roles-are-api-objects"),
    ),
    Tamper(
        "nodes may read all secrets",
        "http/authz.jsonl",
        lines(_about_secrets, "response", "status", "allowed", value=True),
        ("authz-node-limited-to-own-resources",),
    ),
    Tamper(
        "a role is another group's",
        "http/authz.jsonl",
        text(r'to Group \\"', r'to Group \\"not-'),
        ("authz-rbac-uses-identity-from-authn",),
    ),
    # -- storage --------------------------------------------------------------------------------------------------------
    Tamper(
        "a name can be taken twice",
        "http/storage.jsonl",
        lines(noted("already exists"), "status", value=201),
        ("etcd-create-errors-are-checked",),
    ),
    Tamper(
        "every method is allowed",
        "http/storage.jsonl",
        lines(noted("method not allowed"), "status", value=200),
        ("resource-handling-method-and-path-choose-handler",),
    ),
    Tamper(
        "what cannot be decoded is judged",
        "http/storage.jsonl",
        lines(noted("malformed body"), "status", value=422),
        ("resource-handling-create-handler-decodes-and-validates",),
    ),
    Tamper(
        "a create answers something else than it stored",
        "http/s*.jsonl",
        lines(
            lambda line: line["method"] == "POST" and line["status"] == 201 and isinstance(line["response"], dict),
            *("response", "apiVersion"),
            value="v0",
        ),
        ("resource-handling-response-carries-persisted-object",),
    ),
    Tamper(
        "the API shows another name",
        "http/etcd.jsonl",
        text('"name":"nginx"', '"name":"nginy"'),
        ("etcd-object-is-persisted",),
    ),
    Tamper(
        "nodes lie under their name",
        "etcd/keys.txt",
        text("/registry/minions/", "/registry/nodes/"),
        ("etcd-key-is-namespace-slash-name",),
    ),
    # -- scheduling -----------------------------------------------------------------------------------------------------
    Tamper(
        "pods are posted with a node",
        "http/scheduling.jsonl",
        lines(
            lambda line: line["method"] == "POST" and pods(line),
            "response",
            "spec",
            "nodeName",
            value="lifecycle-worker",
        ),
        ("binding-sets-node-name-on-pod",),
    ),
    Tamper(
        "nobody says that a pod was placed",
        "http/scheduling.jsonl",
        text('"type":"PodScheduled"', '"type":"Scheduled"'),
        ("binding-sets-podscheduled-condition",),
    ),
    Tamper(
        "a pod without a node runs",
        "http/scheduling.jsonl",
        lines(_unplaced, "response", "status", "phase", value="Running"),
        ("scheduler-pods-pending-until-scheduled",),
    ),
    Tamper(
        "a kubelet takes what nobody placed",
        "http/scheduling.jsonl",
        lines(_unplaced, "response", "status", "startTime", value="2026-01-01T00:00:00Z"),
        ("kubelet-sync-handles-unscheduled-pods",),
    ),
    Tamper(
        "there is enough for everybody",
        "http/scheduling.jsonl",
        text("Insufficient", "Enough"),
        ("scheduler-resource-requests-are-checked",),
    ),
    Tamper(
        "a stranger's pod is placed",
        "http/scheduling.jsonl",
        lines(
            lambda line: pods(line) and line["path"].endswith(f"/{NOBODYS}"), "response", "spec", "nodeName", value="w"
        ),
        ("scheduler-scheduler-name-hands-over",),
    ),
    # -- Services -------------------------------------------------------------------------------------------------------
    Tamper(
        "no Service is given an address",
        "http/services.jsonl",
        text('"clusterIP":"[0-9][^"]*"', '"clusterIP":"None"'),
        ("etcd-post-create-hooks-and-decorator",),
    ),
    Tamper(
        "a Service without a type opens a port",
        "http/services.jsonl",
        text('"type":"ClusterIP"', '"type":"NodePort"'),
        ("services-exposed-to-outside-world",),
    ),
    Tamper(
        "the Service is made a year later",
        "http/services.jsonl",
        text(r'"creationTimestamp":"2026', '"creationTimestamp":"2027'),
        ("services-created-after-kubelet-deploys",),
    ),
    Tamper(
        "the DNS server has a zone",
        "http/objects.jsonl",
        text("kubernetes cluster.local", "file cluster.local"),
        ("dns-server-adds-records",),
    ),
    Tamper(
        "Docker runs the pods",
        "http/objects.jsonl",
        text("containerd://", "docker://"),
        ("cri-docker-and-rkt-runtimes",),
    ),
    Tamper(
        "a pod on the control plane",
        "http/journey.jsonl",
        text('"nodeName":"lifecycle-worker"', '"nodeName":"lifecycle-control-plane"'),
        ("wrap-up-each-pod-assigned-to-suitable-node",),
    ),
)
