"""Every claim of a stage that has a chapter is told there, under an anchor of the claim's own name."""

from __future__ import annotations

import pytest

from lifecycle.api.go.yaml_reader import read_yaml
from tests.conftest import ROOT

CHAPTERS = {
    "kubeconfig": "book/kubectl/kubeconfig-and-client-auth.md",
    "client-auth": "book/kubectl/kubeconfig-and-client-auth.md",
    "discovery": "book/kubectl/groups-versions-and-discovery.md",
    "request-transport": "book/kubectl/the-request-on-the-wire.md",
    "client-validation": "book/kubectl/validation-and-generators.md",
    "generators": "book/kubectl/validation-and-generators.md",
    "aggregation": "book/apiserver/aggregation.md",
    "authn": "book/apiserver/authentication.md",
    "authz": "book/apiserver/authorization.md",
    "admission": "book/apiserver/admission.md",
    "resource-handling": "book/apiserver/resource-handling.md",
    "etcd": "book/etcd/keys-values-revisions-watch.md",
    "initializers": "book/etcd/initializers-then-and-now.md",
    "informers": "book/control-loops/informers.md",
    "deployment-controller": "book/control-loops/deployments.md",
    "replicaset-controller": "book/control-loops/replica-sets-and-ownership.md",
    "garbage-collection": "book/control-loops/replica-sets-and-ownership.md",
    "scheduler": "book/control-loops/scheduler.md",
    "binding": "book/control-loops/binding.md",
    "kubelet-status": "book/kubelet/status.md",
    "container-start": "book/kubelet/container-startup.md",
    "lifecycle-hooks": "book/kubelet/hooks-and-the-end-of-a-container.md",
    "cpu-manager": "book/kubelet/cpu-manager.md",
    "cri": "book/kubelet/cri-and-pause.md",
    "pause-sandbox": "book/kubelet/cri-and-pause.md",
    "services": "book/services/services-and-endpoints.md",
    "endpoints": "book/services/services-and-endpoints.md",
    "kube-proxy": "book/services/kube-proxy.md",
    "dns": "book/services/dns.md",
    "wrap-up": "book/wrap-up/what-still-holds.md",
    "cni": "book/kubelet/cni-and-pod-networking.md",
    "ipam": "book/kubelet/cni-and-pod-networking.md",
    "inter-host-network": "book/kubelet/inter-host-networking.md",
    "kubelet-sync": "book/kubelet/pod-sync.md",
    "kubelet-admit": "book/kubelet/admission-and-cgroups.md",
    "cgroups": "book/kubelet/admission-and-cgroups.md",
    "volumes": "book/kubelet/volumes.md",
    "image-pull-secrets": "book/kubelet/image-pull-secrets.md",
}
CLAIMS = read_yaml((ROOT / "book" / "claims.yaml").read_bytes())[0]


@pytest.mark.parametrize("stage", CHAPTERS)
def test_each_claim_has_its_paragraph(stage: str) -> None:
    text = (ROOT / CHAPTERS[stage]).read_text()
    claims = [claim["id"] for claim in CLAIMS if claim["stage"] == stage]
    assert claims
    assert [claim for claim in claims if text.count(f"]{{#{claim}}}") != 1] == []
