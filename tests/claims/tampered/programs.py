"""What real programs answered, otherwise than recorded."""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lifecycle.compare.program_answers import ProgramAnswers


@dataclass(slots=True, frozen=True)
class OtherAnswer:
    """`question` was answered otherwise: what `path` leads to is `value`. `reddens`: claims that have a check of programs."""

    question: str
    path: tuple[str | int, ...]
    value: Any
    reddens: tuple[str, ...]

    @property
    def what(self) -> str:
        """A name for it."""
        return f"{self.question} {' > '.join(map(str, self.path))} = {self.value!r}"

    def of(self, folder: Path) -> ProgramAnswers:
        """All answers, this one changed. Raises ValueError if that changes nothing."""
        answers = ProgramAnswers(folder)
        known = answers.answers[self.question]
        if not self.path:
            changed = self.value
        else:
            changed = deepcopy(known.answer)
            inner = changed
            for part in self.path[:-1]:
                inner = inner[part]
            inner[self.path[-1]] = self.value
        if changed == known.answer:
            raise ValueError(f"nothing to change: {self.what}")
        answers.answers[self.question] = type(known)(known.question, known.program, known.asked, changed)
        return answers


def other(question: str, *path: str | int, to: Any) -> Callable[..., OtherAnswer]:
    """`other("authn/who", "nothing", to="joe")("claim-id", …)`."""
    return lambda *reddens: OtherAnswer(question, path, to, reddens)


OTHER_ANSWERS: tuple[OtherAnswer, ...] = (
    # -- kubectl
    other("kubectl/misspelt-field", to={"exit": 1, "posted": 0, "schema asked for": False})(
        "client-validation-uses-cached-api-model"
    ),
    other("kubectl/create-and-apply", "apply", "requests", to=["create"])(
        "client-validation-apply-equivalent-to-create"
    ),
    other("kubectl/kinds", "without a kind", to={"exit": 0, "writes": 1})(
        "generators-kind-inferred-from-args-or-manifest"
    ),
    other("kubectl/record", "annotation", to="")("generators-record-command"),
    other("kubectl/dry-run", "client", to=["dryRun=All"])("generators-dry-run-skips-send"),
    other("kubectl/dry-run", "server", to=[])("generators-dry-run-skips-send"),
    other("kubectl/compiled-in", "create deployment", "asked", to=True)("generators-maps-object-to-group-version"),
    other("kubectl/compiled-in", "run", "encoding", to="application/cbor")("generators-generators-build-request-body"),
    other("kubectl/home", "a schema folder", to=True)("discovery-saved-in-kube-schema"),
    other("kubectl/home", "of apps/v1", to=[])("discovery-versions-saved-under-home"),
    other("kubectl/cache-age", "cached", to=True)("discovery-cache-mirrors-current-server"),
    other("kubectl/home", "folders of discovery", to=["SERVER"])("discovery-cache-folder-per-server"),
    other("kubectl/home", "names there", to=["openapi.json"])("discovery-openapi-cached-in-discovery-folder"),
    other("kubeconfig/which-file", "flag, variable, home", to="https://a variable default")(
        "kubeconfig-flag-has-first-priority"
    ),
    other("kubeconfig/which-file", "a flag that leads nowhere", to="https://a variable default")(
        "kubeconfig-flag-has-first-priority"
    ),
    other("kubeconfig/which-file", "variable, home", to="https://a .kube/config default")(
        "kubeconfig-env-var-has-second-priority"
    ),
    other("kubeconfig/which-file", "home", to="refused")("kubeconfig-home-directory-fallback"),
    other("kubeconfig/which-file", "two halves in the variable", to="refused")("kubeconfig-first-file-found-in-home"),
    other("kubeconfig/contexts", "one", to="https://a token-a shop")("kubeconfig-context-selects-cluster-and-user"),
    other("credentials/arrive", "token, and a password by flag", to={"exit": 0, "authorization": "Basic dTpw"})(
        "kubeconfig-flags-override-file-values"
    ),
    other("credentials/without-tls", "with a credential", to=1)("client-auth-credentials-inside-http-request"),
    other("credentials/arrive", "certificate", "certificate of", to="")(
        "client-auth-x509-through-tls-config", "client-auth-credentials-inside-http-request"
    ),
    other("credentials/arrive", "token", "authorization", to="Token t")(
        "client-auth-bearer-token-in-authorization-header"
    ),
    other("credentials/openid", "an ended one is sent", to=True)("client-auth-openid-login-is-manual"),
    other("credentials/openid", "a good token, as bearer", to=False)("client-auth-openid-token-sent-as-bearer"),
    other("credentials/arrive", "token", "CA in it", to=True)("client-auth-root-ca-sent-to-server"),
    # -- the API server
    other("aggregation/extension", "of these reached it", to=1)("aggregation-layer-authenticates-and-authorizes"),
    other("aggregation/extension", "administrator", to=404)("aggregation-adds-further-apis"),
    other("aggregation/what-arrives", "authorization header", to=True)("authn-authorization-header-removed"),
    other("aggregation/what-arrives", "user", to="system:anonymous")("authn-user-stored-in-request-context"),
    other("admission/no-flag", to={"status": 201, "reason": ""})("admission-enabled-by-server-flag"),
    other("admission/chain", "plugins", to=["LimitRanger"])("admission-named-plugins-form-a-chain"),
    other("admission/rejected-is-not-stored", "two", to=200)("admission-rejected-object-not-persisted"),
    other("admission/one-registry", "nginx", to=201)("admission-registry-allow-list-possible"),
    other("admission/quota", "a load balancer", to=201)("admission-quota-counts-objects"),
    other("admission/quota", "too much storage", to=201)("admission-quota-limits-compute-and-storage"),
    other("flags/kube-controller-manager", to={"enable-admission-plugins": ""})(
        "authn-admission-loaded-by-controller-manager"
    ),
    other("storage/after-create", "grown", to={"create": 1, "get": 1})("etcd-get-after-create"),
    other("storage/etcd-prefix", to=["/registry/configmaps/default/key"])("etcd-key-layout-configurable"),
    other("initializers/pending", "visible at once", to=False)("initializers-hide-object-until-finished"),
    other(
        "initializers/configurations", "resources", to=["initializerconfigurations", "mutatingwebhookconfigurations"]
    )("initializers-none-configured-means-visible"),
    other("initializers/pending", "unknown field", to=False)("initializers-are-controllers-with-custom-logic"),
    other("initializers/pending", "kept", to=True)("initializers-run-in-sequence-and-remove-themselves"),
    other("initializers/configurations", "kept", to=True)("initializers-block-scheduling-until-finished"),
    other("initializers/pending", "the parameter makes a difference", to=True)(
        "initializers-include-uninitialized-parameter"
    ),
    # -- who, and whether they may
    other("authn/no-client-ca", "a certificate", to="joe")("authn-client-ca-adds-x509"),
    other("authn/who", "a certificate and jane's token", to="jane")("authn-union-first-success-wins"),
    other("authn/all-fail", "errors in the log", to=1)("authn-all-fail-aggregate-error"),
    other("authn/all-fail", "message", to="[x509: unknown authority, invalid bearer token]")(
        "authn-all-fail-aggregate-error"
    ),
    other("authn/who", "a certificate of another CA", to="joe")("authn-x509-verifies-against-client-ca"),
    other("authn/who", "a bad token", to="jane")("authn-static-token-file"),
    other("authn/what-comes-before", "OPTIONS", to=401)("authn-cors-and-timeout-run-later"),
    other("authz/configuration", "after", to=403)("authz-chain-built-from-config"),
    other("authz/webhook", "joe, whom it denies and RBAC would allow, gets /metrics", to=200)(
        "authz-all-deny-gives-forbidden"
    ),
    other("authz/unknown-mode", to=True)("authz-allow-all-and-deny-all-modes"),
    other("authz/webhook-asked", to=[])("authz-webhook-asks-external-service"),
    other("authz/modes", "ABAC", "jane makes a ConfigMap", to=201)("authz-abac-static-file"),
    other("authz/roles", "reads", to=50)("authz-rbac-reads-roles-through-informers"),
    other("authz/node", "before", to=200)("authz-node-authorizer-needs-cluster-state"),
    # -- controllers
    other("informers/reads", "lists", to=12)("informers-reads-hit-a-local-cache"),
    other("deployments/callbacks", "Deleting", to=False)("deployment-controller-informer-callbacks"),
    other("deployments/syncs", "one after the other", to=False)(
        "deployment-controller-uses-work-queue-and-sync", "deployment-controller-waits-in-a-loop-for-completion"
    ),
    other("deployments/reconciled", to=1)("deployment-controller-reconciles-towards-spec"),
    other("deployments/requests", to=["create replicasets", "list replicasets"])(
        "deployment-controller-finds-children-by-label-selector"
    ),
    other("deployments/history", to=["nginx", "nginx:2", "nginx:3", "nginx:4"])(
        "deployment-controller-cleans-up-old-replicasets"
    ),
    other("owners/replacement", "owners", to=["one"])("replicaset-controller-reacts-to-replicaset-and-pod-events"),
    other("replicas/burst", to=[500, 500])("replicaset-controller-burst-count-always-matched"),
    other("replicas/batches", "before the 1st answer", to=7)("replicaset-controller-slow-start-batches"),
    other("replicas/quota", "attempts below twenty", to=False)(
        "replicaset-controller-slow-start-limits-failing-creates"
    ),
    other("owners/beside", to=["one", "one"])(
        "garbage-collection-owner-reference-prevents-fights",
        "garbage-collection-controllers-ignore-what-they-do-not-own",
    ),
    other("owners/restart", "the same", to=False)("garbage-collection-topology-survives-controller-restart"),
    other("owners/adoption", to=[["lost", ""], ["one-x", "one"]])("garbage-collection-orphans-are-adopted"),
    other("owners/second-controller", to={"status": 200, "reason": ""})(
        "garbage-collection-adoption-race-has-one-winner"
    ),
    other("owners/deletion", "of the second", to=1)("garbage-collection-cascading-delete"),
    other("owners/deletion", "orphan left", to=False)("garbage-collection-orphan-policy-keeps-children"),
    # -- the scheduler
    other("scheduling/which-pods", to=["after", "placed"])("scheduler-picks-pods-without-node-name"),
    other("scheduling/nodes-looked-at", "300", to=True)("scheduler-filters-run-on-all-schedulable-nodes"),
    other("scheduling/allocatable", "3", to="half")("scheduler-capacity-is-total-minus-requests"),
    other("scheduling/what-counts", "beside it", to="half")("scheduler-counts-running-containers-only"),
    other("scheduling/least-requested", 3, to="busy")("scheduler-favours-least-requested-nodes"),
    other("flags/policy-config-file", to={"exit": 0, "unknown flag": False})("scheduler-policy-config-file-flag"),
    other("scheduling/another", "before", to="n1")("scheduler-custom-scheduler-as-deployment"),
    other("scheduling/registration", to=["create leases", "create pods/binding"])(
        "scheduler-schedulers-register-their-name"
    ),
    other("scheduling/binding-metadata", "labels", to={})("binding-merges-annotations-into-pod"),
    # -- the bridge
    other("cni/point-to-point", "inside", to=[])(
        "cni-allows-different-network-providers", "cni-host-end-joins-linux-bridge"
    ),
    other("cni/bridge", "the bridge before", to=True)("cni-bridge-created-on-first-use"),
    other("cni/bridge", "the bridge", to=[])("cni-bridge-gets-gateway-address"),
    other("cni/point-to-point", "the host's end", to=[])("cni-ip-only-on-container-end"),
    other("cni/layer-2", "inside", to=["10.200.77.2/24"])("cni-bridge-pure-l2-mode"),
    other("cni/bridge", "results", 1, "ips", to=["10.200.77.2/24"])("cni-sample-config-works"),
    other("cni/ipam-is-a-program", "refused for want of it", to=False)("ipam-delegated-to-separate-executable"),
    other("cni/bridge-removed", to=["10.200.77.2"])("ipam-host-local-state-on-disk"),
    other("cni/bridge", "routes inside", to=[])("ipam-kubelet-assigns-the-ip"),
)
