"""What was typed and printed, otherwise than recorded."""

from __future__ import annotations

from tests.claims.tampered.tamper import Tamper, text

DEPLOYMENT = r'[exit 0]\n{"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "nginx"}, "spec": {"replicas": 3}}\n'

TAMPERS = (
    Tamper(
        "an impossible image is sent",
        "kubectl/dry-run/run-bad-image.txt",
        text(r"\[exit 1\]", "[exit 0]"),
        ("client-validation-fail-fast-without-request", "client-validation-malformed-image-name-rejected"),
    ),
    Tamper(
        "run makes three copies",
        "kubectl/dry-run/run-seed.txt",
        text(r"\[exit 1\]\n", DEPLOYMENT),
        (
            "client-validation-run-name-is-optional",
            "client-validation-run-replicas-flag",
            "wrap-up-one-command-three-pods",
        ),
    ),
    Tamper(
        "a fused command is understood",
        "kubectl/dry-run/create-deployment-no-image.txt",
        text(r"\[exit 1\]", "[exit 0]"),
        ("client-validation-printed-create-command-parses",),
    ),
    Tamper(
        "a generator is known",
        "kubectl/dry-run/run-generator.txt",
        text(r"\[exit 1\]\n", DEPLOYMENT),
        ("generators-generator-flag-selects-kind", "generators-deployment-apps-v1-generator"),
    ),
    Tamper(
        "run makes Deployments",
        "kubectl/dry-run/run-pod.txt",
        text('"kind": "Pod"', '"kind": "Deployment"'),
        (
            "generators-run-creates-several-kinds",
            "generators-kind-inferred-when-unspecified",
            "generators-restart-policy-always-is-deployment",
            "generators-restart-policy-never-is-pod",
        ),
    ),
    Tamper(
        "the Service selects nobody",
        "kubectl/dry-run/run-expose.txt",
        text('"run": "nginx"', '"run": "x"', 1),
        ("generators-expose-adds-service-object",),
    ),
    Tamper(
        "create makes a Pod",
        "kubectl/dry-run/create-deployment.txt",
        text('"kind": "Deployment"', '"kind": "Pod"'),
        ("client-validation-create-deployment-replicas-flag", "request-transport-message-follows-output-format"),
    ),
    Tamper(
        "create asks what there is",
        "kubectl/01-create.txt",
        text(r"-XPOST(.*)'(https://[^/]*)/apis/[^']*'", r"-XGET\1'\2/apis'"),
        ("request-transport-create-is-a-post", "discovery-precedes-create-deployment"),
    ),
    Tamper(
        "success is told of a refusal",
        "kubectl/01-create.txt",
        text("201 Created", "403 Forbidden"),
        ("request-transport-success-printed-after-response",),
    ),
    Tamper(
        "a name has another address",
        "dns/svc.txt",
        text(r"^(web\.svc\.svc\.cluster\.local\..*\tA\t).*$", r"\g<1>10.96.0.99"),
        ("dns-a-record-for-service",),
    ),
    Tamper(
        "a named port has no record",
        "dns/svc.txt",
        text(r"^_http\._tcp\.web\..* SRV\t.*\n", ""),
        ("dns-srv-record-for-service",),
    ),
)
