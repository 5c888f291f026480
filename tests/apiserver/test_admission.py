"""Admission: the recorded scenario through the whole server, and what the recording does not show, plugin by plugin."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from typing import Any

import pytest

from lifecycle.api import fast_json
from lifecycle.api.http.wire import Object, Request, RequestInfo, UserInfo
from lifecycle.api.loop.clock import run_virtual
from lifecycle.api.loop.worker import LARGE
from lifecycle.api.names import NameSource
from lifecycle.api.resources import resource
from lifecycle.api.status import StatusError
from lifecycle.apiserver.admission.attributes import CREATE, DELETE, UPDATE, Attributes
from lifecycle.apiserver.admission.chain import ALL_ORDERED_PLUGINS, AdmissionChain, Plugin
from lifecycle.apiserver.admission.default_plugins import default_plugins
from lifecycle.apiserver.admission.default_storage_class import DefaultStorageClass
from lifecycle.apiserver.admission.namespace_lifecycle import NamespaceLifecycle
from lifecycle.apiserver.admission.node_restriction import NodeRestriction
from lifecycle.apiserver.admission.pod_security import PodSecurity, policy_to_evaluate
from lifecycle.apiserver.admission.pod_security.registry import violations
from lifecycle.apiserver.admission.pod_topology_labels import PodTopologyLabels
from lifecycle.apiserver.admission.priority import Priority
from lifecycle.apiserver.admission.resource_quota import ResourceQuota
from lifecycle.apiserver.admission.runtime_class import RuntimeClass
from lifecycle.apiserver.admission.service_account import MOUNT_PATH, ServiceAccount
from lifecycle.apiserver.authz.authorizer import Decision, Verdict
from lifecycle.apiserver.registry.strategies import set_defaults
from lifecycle.apiserver.storage.object_reader import StaticReader
from lifecycle.inspector import open_recording
from lifecycle.inspector.unrecorded import unrecorded_deletions
from tests.apiserver.recorded_exchanges import ROOT, Replay, exchanges

# -- the recorded scenario --------------------------------------------------------------------------------------------


def service_account(namespace: str) -> Object:
    return {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "default", "namespace": namespace}}


STANDARD_CLASS: Object = {
    "apiVersion": "storage.k8s.io/v1",
    "kind": "StorageClass",
    "metadata": {"name": "standard", "annotations": {"storageclass.kubernetes.io/is-default-class": "true"}},
    "provisioner": "rancher.io/local-path",
}


@pytest.mark.parametrize("recording", ["kind-1.36.2", "kind-1.36.2-again"])
def test_the_recorded_scenario_gets_the_recorded_answers(recording: str) -> None:
    """Between the requests we do what the recorded cluster's controllers did: accounts for new namespaces, the quota's first count."""

    async def main() -> dict[int, list[str]]:
        replay = Replay()
        await replay.start()
        await replay.write(service_account("default"))
        await replay.write(STANDARD_CLASS)
        found = {}
        recorded = exchanges("admission", recording)
        deletions = unrecorded_deletions(open_recording(recording).exchanges("admission"))
        for exchange in recorded:
            if exchange["n"] in deletions:
                await replay.server.handler(Request("DELETE", deletions[exchange["n"]], accepts_object=True, user=ROOT))
            differences = await replay.differences(exchange)
            if differences:
                found[exchange["n"]] = differences
            if exchange["path"] == "/api/v1/namespaces":
                await replay.write(service_account(exchange["body"]["metadata"]["name"]))
            if exchange["path"].endswith("/resourcequotas"):
                counted = next(e for e in recorded if e["method"] == "GET" and "/resourcequotas/" in e["path"])
                patch = fast_json.dumps({"status": counted["response"]["status"]})
                headers = {"content-type": "application/merge-patch+json", "user-agent": "kube-controller-manager"}
                path = counted["path"] + "/status"
                response = await replay.server.handler(
                    Request("PATCH", path, body=patch, headers=headers, user=ROOT, accepts_object=True)
                )
                assert response.status == 200
        return found

    assert run_virtual(main()) == {}


# -- the chain --------------------------------------------------------------------------------------------------------

PODS, CONFIG_MAPS = resource("pods"), resource("configmaps")


class Recorder(Plugin):
    def __init__(self, name: str, log: list[str], *, waits: bool = False) -> None:
        self.name, self._log, self._waits = name, log, waits

    def admit(self, attributes: Attributes) -> Awaitable[None] | None:
        self._log.append(f"admit {self.name}")
        return asyncio.sleep(1) if self._waits else None

    def validate(self, attributes: Attributes) -> None:
        self._log.append(f"validate {self.name}")


def attributes(obj: Object | None, row: str = "pods", operation: str = CREATE, **more: Any) -> Attributes:
    meta = (obj or {}).get("metadata", {})
    subresource = more.pop("subresource", "")
    name = more.pop("name", meta.get("name", ""))
    return Attributes(operation, resource(row), subresource, more.pop("namespace", "n"), name, obj, **more)


def test_all_mutate_before_any_validates_in_upstreams_order() -> None:
    async def main() -> None:
        log: list[str] = []
        chain = AdmissionChain(
            [Recorder("ResourceQuota", log), Recorder("Priority", log, waits=True), Recorder("LimitRanger", log)]
        )
        started = asyncio.get_running_loop().time()
        await chain.admit(attributes({}))
        assert asyncio.get_running_loop().time() - started == pytest.approx(1)
        await chain.validate(attributes({}))
        names = ["LimitRanger", "Priority", "ResourceQuota"]
        assert log == [f"admit {n}" for n in names] + [f"validate {n}" for n in names]

    run_virtual(main())


def test_creating_a_config_map_touches_almost_no_plugin() -> None:
    chain = AdmissionChain(
        [*default_plugins(StaticReader(), NameSource(1), defaulter=set_defaults), ResourceQuota(StaticReader())]
    )
    assert {plugin.name for plugin in chain.plugins} <= set(ALL_ORDERED_PLUGINS)

    def names(row: str, operation: str, subresource: str = "") -> list[str]:
        mutating, validating = chain.plan_for(resource(row), subresource, operation)
        return [step.__self__.name for step in (*mutating, *validating)]  # type: ignore[attr-defined]

    mutating = ["MutatingAdmissionPolicy", "MutatingAdmissionWebhook"]
    validating = ["ValidatingAdmissionPolicy", "ValidatingAdmissionWebhook"]
    assert names("configmaps", CREATE) == ["NamespaceLifecycle", *mutating, *validating, "ResourceQuota"]
    assert names("configmaps", UPDATE) == ["NamespaceLifecycle", *mutating, *validating]
    assert names("configmaps", DELETE) == [*mutating, *validating]
    assert set(names("pods", CREATE, "binding")) - {*mutating, *validating} == {
        "NamespaceLifecycle", "NodeRestriction", "PodTopologyLabels",
    }  # fmt: skip
    assert names("validatingadmissionpolicies.admissionregistration.k8s.io", CREATE) == []


# -- plugin by plugin -------------------------------------------------------------------------------------------------


def pod(**spec: Any) -> Object:
    containers = spec.pop("containers", [{"name": "c", "image": "i"}])
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "p", "namespace": "n"},
        "spec": {"containers": containers, **spec},
    }


def namespace(phase: str = "Active", **labels: str) -> Object:
    meta = {"name": "n", "labels": labels}
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": meta, "status": {"phase": phase}}


def refused(plugin: Any, phase: str, given: Attributes) -> str:
    """The message with which a plugin refuses."""

    async def main() -> None:
        waiting = getattr(plugin, phase)(given)
        if waiting is not None:
            await waiting

    with pytest.raises(StatusError) as error:
        run_virtual(main())
    return error.value.message


def test_a_namespace_created_a_moment_ago_is_waited_for() -> None:
    async def main() -> None:
        reader = StaticReader()
        waiting = NamespaceLifecycle(reader).admit(attributes(pod()))
        assert waiting is not None
        task = asyncio.ensure_future(waiting)
        await asyncio.sleep(0.01)
        reader.put(namespace())
        await task

    run_virtual(main())
    terminating = NamespaceLifecycle(StaticReader([namespace("Terminating")]))
    assert "because it is being terminated" in refused(terminating, "admit", attributes(pod()))
    assert terminating.admit(attributes(pod(), operation=UPDATE)) is None
    assert (
        refused(NamespaceLifecycle(StaticReader()), "admit", attributes(pod(), operation=UPDATE))
        == 'namespaces "n" not found'
    )


def test_the_token_is_mounted_once_and_where_nothing_is_mounted_yet() -> None:
    reader = StaticReader([{**service_account("n"), "imagePullSecrets": [{"name": "s"}]}])
    plugin = ServiceAccount(reader, NameSource(1))
    containers = [{"name": "a"}, {"name": "b", "volumeMounts": [{"name": "own", "mountPath": MOUNT_PATH}]}]
    given = attributes(pod(containers=containers, initContainers=[{"name": "i"}]))
    plugin.admit(given)
    assert given.obj is not None
    spec = given.obj["spec"]
    (volume,) = spec["volumes"]
    assert spec["containers"][0]["volumeMounts"] == [
        {"name": volume["name"], "readOnly": True, "mountPath": MOUNT_PATH}
    ]
    assert spec["initContainers"][0]["volumeMounts"] == spec["containers"][0]["volumeMounts"]
    assert spec["containers"][1]["volumeMounts"] == [{"name": "own", "mountPath": MOUNT_PATH}]
    assert spec["imagePullSecrets"] == [{"name": "s"}]
    plugin.admit(given)  # reinvocation adds nothing
    assert len(spec["volumes"]) == 1


@pytest.mark.parametrize(("count", "large"), [(1, False), (1_000, True)])
def test_a_pod_is_as_large_as_what_its_account_gives_it(count: int, large: bool) -> None:
    """What is checked of it afterwards is no work for the loop."""
    secrets = [{"name": f"s{number}"} for number in range(count)]
    given = attributes(pod())
    ServiceAccount(StaticReader([{**service_account("n"), "imagePullSecrets": secrets}]), NameSource(1)).admit(given)
    assert (given.grown > LARGE) is large


def test_the_default_account_of_a_new_namespace_is_waited_for() -> None:
    async def main() -> None:
        reader = StaticReader()
        given = attributes(pod())
        waiting = ServiceAccount(reader, NameSource(1)).admit(given)
        assert waiting is not None
        task = asyncio.ensure_future(waiting)
        await asyncio.sleep(0.3)
        reader.put(service_account("n"))
        await task
        assert given.obj is not None
        assert given.obj["spec"]["serviceAccountName"] == "default"

    run_virtual(main())
    message = refused(ServiceAccount(StaticReader(), NameSource(1)), "admit", attributes(pod()))
    assert message.endswith('error looking up service account n/default: serviceaccount "default" not found')


def test_an_account_may_limit_its_pods_to_its_own_secrets() -> None:
    strict = service_account("n")
    strict["metadata"]["annotations"] = {"kubernetes.io/enforce-mountable-secrets": "true"}
    strict["secrets"] = [{"name": "mine"}]
    plugin = ServiceAccount(StaticReader([strict]), NameSource(1))
    env = [{"name": "E", "valueFrom": {"secretKeyRef": {"name": "other", "key": "k"}}}]
    given = attributes(pod(serviceAccountName="default", containers=[{"name": "c", "env": env}]))
    assert 'container c with envVar E referencing secret.secretName="other" is not allowed' in refused(
        plugin, "validate", given
    )
    volumes = [{"name": "v", "secret": {"secretName": "mine"}}]
    plugin.validate(attributes(pod(serviceAccountName="default", volumes=volumes)))


def test_priority_comes_from_the_class_or_the_clusters_default() -> None:
    def priority_class(name: str, value: int, **more: Any) -> Object:
        return {
            "apiVersion": "scheduling.k8s.io/v1",
            "kind": "PriorityClass",
            "metadata": {"name": name},
            "value": value,
            **more,
        }

    reader = StaticReader([priority_class("high", 1000, preemptionPolicy="Never")])
    plugin = Priority(reader)
    given = attributes(pod(priorityClassName="high"))
    plugin.admit(given)
    assert given.obj is not None
    assert (given.obj["spec"]["priority"], given.obj["spec"]["preemptionPolicy"]) == (1000, "Never")
    given = attributes(pod())
    plugin.admit(given)
    assert given.obj is not None
    assert (given.obj["spec"]["priority"], "priorityClassName" in given.obj["spec"]) == (0, False)
    reader.put(priority_class("usual", 5, globalDefault=True))
    given = attributes(pod())
    plugin.admit(given)
    assert given.obj is not None
    assert (given.obj["spec"]["priority"], given.obj["spec"]["priorityClassName"]) == (5, "usual")
    second = attributes(
        priority_class("second", 6, globalDefault=True), "priorityclasses.scheduling.k8s.io", namespace=""
    )
    assert "PriorityClass usual is already marked as default" in refused(plugin, "validate", second)


def node(**labels: str) -> Object:
    return {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "here", "uid": "n1", "labels": labels}, "spec": {}}


def test_a_binding_carries_the_nodes_zone_and_region() -> None:
    labels = {
        "topology.kubernetes.io/zone": "z",
        "topology.kubernetes.io/region": "r",
        "kubernetes.io/hostname": "here",
    }
    plugin = PodTopologyLabels(StaticReader([node(**labels)]))
    binding: Object = {"metadata": {"name": "p"}, "target": {"kind": "Node", "name": "here"}}
    plugin.admit(attributes(binding, subresource="binding"))
    assert binding["metadata"]["labels"] == {"topology.kubernetes.io/zone": "z", "topology.kubernetes.io/region": "r"}
    bound = attributes(pod(nodeName="here"))
    plugin.admit(bound)
    assert bound.obj is not None
    assert "topology.kubernetes.io/zone" in bound.obj["metadata"]["labels"]
    elsewhere = attributes(pod(nodeName="nowhere"))
    plugin.admit(elsewhere)
    assert elsewhere.obj is not None
    assert "labels" not in elsewhere.obj["metadata"]


def test_a_claim_gets_the_newest_default_class_unless_it_chose_none() -> None:
    def claim(**spec: Any) -> Object:
        return {
            "apiVersion": "v1",
            "kind": "PersistentVolumeClaim",
            "metadata": {"name": "c", "namespace": "n"},
            "spec": spec,
        }

    newer = {
        **STANDARD_CLASS,
        "metadata": {**STANDARD_CLASS["metadata"], "name": "newer", "creationTimestamp": "2026-01-02T00:00:00Z"},
    }
    plugin = DefaultStorageClass(StaticReader([STANDARD_CLASS, newer]))
    given = attributes(claim(), "persistentvolumeclaims")
    plugin.admit(given)
    assert given.obj is not None
    assert given.obj["spec"]["storageClassName"] == "newer"
    chosen = attributes(claim(storageClassName=""), "persistentvolumeclaims")
    plugin.admit(chosen)
    assert chosen.obj is not None
    assert chosen.obj["spec"]["storageClassName"] == ""


def test_a_runtime_class_brings_overhead_and_places() -> None:
    sandboxed = {
        "apiVersion": "node.k8s.io/v1",
        "kind": "RuntimeClass",
        "metadata": {"name": "sandboxed"},
        "handler": "x",
        "overhead": {"podFixed": {"cpu": "10m"}},
        "scheduling": {"nodeSelector": {"sandbox": "yes"}, "tolerations": [{"key": "sandbox", "operator": "Exists"}]},
    }
    plugin = RuntimeClass(StaticReader([sandboxed]))
    given = attributes(pod(runtimeClassName="sandboxed", nodeSelector={"disk": "ssd"}))
    plugin.admit(given)
    plugin.validate(given)
    assert given.obj is not None
    spec = given.obj["spec"]
    assert spec["overhead"] == {"cpu": "10m"}
    assert spec["nodeSelector"] == {"disk": "ssd", "sandbox": "yes"}
    assert spec["tolerations"] == [{"key": "sandbox", "operator": "Exists"}]
    assert 'RuntimeClass "x" not found' in refused(plugin, "admit", attributes(pod(runtimeClassName="x")))
    conflict = attributes(pod(runtimeClassName="sandboxed", nodeSelector={"sandbox": "no"}))
    assert "conflict: runtimeClass.scheduling.nodeSelector[sandbox] = yes" in refused(plugin, "admit", conflict)
    assert "Pod Overhead set without" in refused(plugin, "validate", attributes(pod(overhead={"cpu": "1"})))


# -- nodes ------------------------------------------------------------------------------------------------------------

KUBELET = UserInfo("system:node:here", ("system:nodes", "system:authenticated"))


def by_node(obj: Object | None, row: str = "pods", operation: str = CREATE, **more: Any) -> Attributes:
    return attributes(obj, row, operation, user=KUBELET, **more)


def mirror_pod(**changes: Any) -> Object:
    mirror = pod(nodeName="here")
    owner = {"apiVersion": "v1", "kind": "Node", "name": "here", "uid": "n1", "controller": True}
    mirror["metadata"] |= {"annotations": {"kubernetes.io/config.mirror": "x"}, "ownerReferences": [owner]}
    mirror["metadata"] |= changes.pop("metadata", {})
    mirror["spec"] |= changes
    return mirror


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"metadata": {"ownerReferences": []}}, "can only create pods with an owner reference set to itself"),
        (
            {"metadata": {"ownerReferences": [{}, {}]}},
            "can only create pods with a single owner reference set to itself",
        ),
        ({"serviceAccountName": "a"}, "can not create pods that reference a service account"),
        ({"volumes": [{"name": "v", "secret": {"secretName": "s"}}]}, "can not create pods that reference secrets"),
        ({"volumes": [{"name": "v", "configMap": {"name": "s"}}]}, "can not create pods that reference configmaps"),
    ],
)
def test_a_mirror_pod_refers_to_nothing_but_its_node(changes: Any, message: str) -> None:
    plugin = NodeRestriction(StaticReader([node()]))
    plugin.admit(by_node(mirror_pod()))
    assert message in refused(plugin, "admit", by_node(mirror_pod(**changes)))


def test_a_node_writes_only_itself_and_only_its_own_labels() -> None:
    plugin = NodeRestriction(StaticReader([node()]))

    def register(**labels: str) -> Attributes:
        return by_node(node(**labels), "nodes", namespace="", name="")

    plugin.admit(register(**{"kubernetes.io/hostname": "here", "example.com/x": "y", "node.kubernetes.io/z": "1"}))
    assert (
        "not allowed to set the following labels: a.node-restriction.kubernetes.io/x, app.kubernetes.io/y"
        in refused(plugin, "admit", register(**{"a.node-restriction.kubernetes.io/x": "1", "app.kubernetes.io/y": "1"}))
    )
    other = {**node(), "metadata": {"name": "there"}}
    assert 'node "here" is not allowed to modify node "there"' in refused(plugin, "admit", by_node(other, "nodes"))
    tainted = {**node(), "spec": {"taints": [{"key": "k", "effect": "NoSchedule"}]}}
    change = by_node(tainted, "nodes", UPDATE, old_obj=node(), namespace="")
    assert "not allowed to modify taints" in refused(plugin, "admit", change)


@pytest.mark.parametrize(
    ("part", "change"),
    [
        ("metadata", {"labels": {"a": "b"}}),
        ("metadata", {"finalizers": []}),
        ("metadata", {"ownerReferences": [{"apiVersion": "v1", "kind": "Pod", "name": "gone", "uid": "gone"}]}),
        ("spec", {"volumeName": "another"}),
        ("status", {"phase": "Lost"}),
    ],
)
def test_a_node_says_of_a_claim_only_that_it_has_grown(part: str, change: Object) -> None:
    """With an owner that is gone, the claim would be deleted, and the volume with it."""
    plugin = NodeRestriction(StaticReader([node()]))
    claim = {
        "metadata": {"name": "c", "namespace": "default", "resourceVersion": "1", "finalizers": ["x/y"]},
        "spec": {"volumeName": "pv"},
        "status": {"phase": "Bound", "capacity": {"storage": "1Gi"}},
    }
    grown = {
        **claim,
        "metadata": {**claim["metadata"], "resourceVersion": "", "managedFields": [{"manager": "kubelet"}]},
        "status": {"phase": "Bound", "capacity": {"storage": "2Gi"}, "conditions": [{"type": "Resizing"}]},
    }

    def update(new: Object, subresource: str = "status", **more: Any) -> Attributes:
        return by_node(new, "persistentvolumeclaims", UPDATE, old_obj=claim, subresource=subresource, **more)

    plugin.admit(update(grown))
    changed = {**grown, part: {**grown[part], **change}}
    assert "not allowed to update fields other than status.quantity" in refused(plugin, "admit", update(changed))
    assert "may only update PVC status" in refused(plugin, "admit", update(grown, ""))


def test_a_node_asks_for_tokens_of_its_own_pods_only() -> None:
    here, there = pod(nodeName="here"), pod(nodeName="there")
    here["metadata"] |= {"uid": "1"}
    there["metadata"] |= {"uid": "2", "name": "q"}
    here["spec"]["volumes"] = [{"name": "t", "projected": {"sources": [{"serviceAccountToken": {"path": "token"}}]}}]
    plugin = NodeRestriction(StaticReader([here, there]))

    def ask(**ref: str) -> Attributes:
        spec = {"boundObjectRef": {"apiVersion": "v1", "kind": "Pod", **ref}} if ref else {}
        return by_node({"spec": spec}, "serviceaccounts", subresource="token", name="default")

    plugin.admit(ask(name="p", uid="1"))
    assert "node requested token not bound to a pod" in refused(plugin, "admit", ask())
    assert "without a uid" in refused(plugin, "admit", ask(name="p"))
    assert "scheduled on a different node" in refused(plugin, "admit", ask(name="q", uid="2"))
    plugin.admit(attributes({"spec": {}}, "serviceaccounts", subresource="token", user=UserInfo("jane")))


def csi_driver(name: str, *audiences: str) -> Object:
    requests = [{"audience": audience} for audience in audiences]
    meta = {"name": name}
    return {
        "apiVersion": "storage.k8s.io/v1",
        "kind": "CSIDriver",
        "metadata": meta,
        "spec": {"tokenRequests": requests},
    }


def volume_of(driver: str) -> list[Object]:
    """A claim `c`, and the volume behind it."""
    claim = {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": "c", "namespace": "n"}}
    volume = {"apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": "pv"}}
    return [{**claim, "spec": {"volumeName": "pv"}}, {**volume, "spec": {"csi": {"driver": driver}}}]


PROJECTED = {"projected": {"sources": [{"serviceAccountToken": {"audience": "vault", "path": "t"}}]}}
CLAIMED = {"persistentVolumeClaim": {"claimName": "c"}}


@pytest.mark.parametrize(
    ("volume", "audiences", "complaint"),
    [
        (PROJECTED, ["vault"], ""),
        (PROJECTED, ["bank"], 'audience "bank" not found in pod spec volume, system:node:here is not authorized'),
        (PROJECTED, [], 'audience "" not found in pod spec volume'),
        (PROJECTED, ["vault", "bank"], "node may only request 0 or 1 audiences"),
        ({"csi": {"driver": "d"}}, ["disk"], ""),
        ({"csi": {"driver": "d"}}, ["bank"], 'audience "bank" not found in pod spec volume'),
        ({"csi": {"driver": "e"}}, ["disk"], 'audience "disk": csidriver.storage.k8s.io "e" not found'),
        (CLAIMED, ["disk"], ""),
        ({"ephemeral": {"volumeClaimTemplate": {}}}, ["disk"], 'persistentvolumeclaim "p-v" not found'),
        (PROJECTED, ["registry"], ""),
    ],
)
def test_a_node_asks_for_tokens_of_its_pods_audiences_only(volume: Any, audiences: list[str], complaint: str) -> None:
    here = pod(nodeName="here", volumes=[{"name": "v", **volume}])
    here["metadata"] |= {"uid": "1"}

    def authorize(user: UserInfo, question: RequestInfo) -> Any:
        """A role lets the node ask for tokens for the registry, of one account."""
        facts = (question.verb, question.group, question.resource, question.namespace, question.name)
        role = ("request-serviceaccounts-token-audience", "", "registry", "n", "puller")
        return Verdict(Decision.ALLOW if facts == role and user.name == "system:node:here" else Decision.NO_OPINION)

    plugin = NodeRestriction(StaticReader([here, csi_driver("d", "disk"), *volume_of("d")]), authorize)
    bound = {"apiVersion": "v1", "kind": "Pod", "name": "p", "uid": "1"}
    request = {"spec": {"boundObjectRef": bound, "audiences": audiences}}
    question = by_node(request, "serviceaccounts", subresource="token", name="puller")
    if complaint:
        assert complaint in refused(plugin, "admit", question)
    else:
        plugin.admit(question)


def test_a_node_may_not_say_where_its_configuration_comes_from() -> None:
    plugin = NodeRestriction(StaticReader([node()]))
    source = {"configMap": {"namespace": "kube-system", "name": "c", "kubeletConfigKey": "k"}}
    configured = {**node(), "spec": {"configSource": source}}
    change = by_node(configured, "nodes", UPDATE, old_obj=node(), namespace="", name="here")
    assert "not allowed to update configSource to a new non-nil configSource" in refused(plugin, "admit", change)
    register = by_node(configured, "nodes", namespace="", name="")
    assert "with a non-nil configSource" in refused(plugin, "admit", register)
    plugin.admit(by_node(configured, "nodes", UPDATE, old_obj=configured, namespace="", name="here"))
    plugin.admit(by_node(node(), "nodes", UPDATE, old_obj=configured, namespace="", name="here"))


# -- pod security -----------------------------------------------------------------------------------------------------

GOOD = {
    "allowPrivilegeEscalation": False,
    "capabilities": {"drop": ["ALL"]},
    "runAsNonRoot": True,
    "seccompProfile": {"type": "RuntimeDefault"},
}


@pytest.mark.parametrize(
    ("level", "spec", "expected"),
    [
        ("baseline", {"hostIPC": True}, ["host namespaces (hostIPC=true)"]),
        ("baseline", {"volumes": [{"name": "v", "hostPath": {"path": "/"}}]}, ['hostPath volumes (volume "v")']),
        ("restricted", {"volumes": [{"name": "v", "hostPath": {"path": "/"}}]},
         ['restricted volume types (volume "v" uses restricted volume type "hostPath")']),
        ("baseline", {"container": {"ports": [{"containerPort": 80, "hostPort": 80}]}},
         ['hostPort (container "c" uses hostPort 80)']),
        ("baseline", {"container": {"securityContext": {"capabilities": {"add": ["SYS_ADMIN", "CHOWN"]}}}},
         ['non-default capabilities (container "c" must not include "SYS_ADMIN" in securityContext.capabilities.add)']),
        ("baseline", {"container": {"securityContext": {"procMount": "Unmasked"}}},
         ['procMount (container "c" must not set securityContext.procMount to "Unmasked")']),
        ("baseline", {"container": {"securityContext": {"procMount": "Unmasked"}}, "hostUsers": False}, []),
        ("baseline", {"securityContext": {"seLinuxOptions": {"type": "x", "role": "r"}}},
         ['seLinuxOptions (pod set forbidden securityContext.seLinuxOptions: type "x"; role may not be set)']),
        ("baseline", {"securityContext": {"seccompProfile": {"type": "Unconfined"}}},
         ['seccompProfile (pod must not set securityContext.seccompProfile.type to "Unconfined")']),
        ("baseline", {"securityContext": {"sysctls": [{"name": "kernel.msgmax"}, {"name": "net.ipv4.tcp_rmem"}]}},
         ["forbidden sysctls (kernel.msgmax)"]),
        ("baseline", {"container": {"livenessProbe": {"httpGet": {"host": "h", "port": 1}}}},
         ['probe or lifecycle host (container "c" uses probe or lifecycle host "h")']),
        ("baseline", {"securityContext": {"windowsOptions": {"hostProcess": True}}},
         ["hostProcess (pod must not set securityContext.windowsOptions.hostProcess=true)"]),
        ("baseline", {"securityContext": {"appArmorProfile": {"type": "Unconfined"}}},
         ['forbidden AppArmor profile (pod must not set AppArmor profile type to "Unconfined")']),
        ("restricted", {"securityContext": {"runAsUser": 0}}, ["runAsUser=0 (pod must not set runAsUser=0)"]),
        ("restricted", {"securityContext": {"runAsNonRoot": False}},
         ["runAsNonRoot != true (pod must not set securityContext.runAsNonRoot=false)"]),
        ("restricted", {}, []),
        ("privileged", {"hostPID": True}, []),
    ],
)  # fmt: skip
def test_each_standard_forbids_what_it_forbids(level: str, spec: Any, expected: list[str]) -> None:
    spec = dict(spec)
    container = {"name": "c", "securityContext": GOOD, **spec.pop("container", {})}
    found = violations(level, 36, {}, {"containers": [container], **spec})
    assert [f"{reason} ({detail})" for reason, detail in found] == expected


@pytest.mark.parametrize(
    ("minor", "given", "annotations", "expected"),
    [
        (18, {"seccompProfile": {"type": "Unconfined"}}, {}, []),
        (18, {}, {"seccomp.security.alpha.kubernetes.io/pod": "unconfined"},
         ["seccompProfile (forbidden annotation seccomp.security.alpha.kubernetes.io/pod=\"unconfined\")"]),
        (19, {}, {"seccomp.security.alpha.kubernetes.io/pod": "unconfined"}, []),
        (19, {"seccompProfile": {"type": "Unconfined"}}, {},
         ['seccompProfile (container "c" must not set securityContext.seccompProfile.type to "Unconfined")']),
        (21, {"capabilities": {"add": ["CHOWN"]}}, {}, []),
        (22, {"capabilities": {"add": ["CHOWN"]}}, {},
         ['unrestricted capabilities (container "c" must set securityContext.capabilities.drop=["ALL"]; '
          'container "c" must not include "CHOWN" in securityContext.capabilities.add)']),
        (22, {"runAsUser": 0}, {}, []),
        (23, {"runAsUser": 0}, {}, ['runAsUser=0 (container "c" must not set runAsUser=0)']),
    ],
)  # fmt: skip
def test_a_standard_is_what_it_was_in_a_version(
    minor: int, given: Object, annotations: Object, expected: list[str]
) -> None:
    container = {"name": "c", "securityContext": {**GOOD, **given}}
    found = violations("restricted", minor, {"annotations": annotations}, {"containers": [container]})
    assert [f"{reason} ({detail})" for reason, detail in found] == expected


def test_the_labels_say_which_standard_counts() -> None:
    prefix = "pod-security.kubernetes.io/"
    policy, errors = policy_to_evaluate({f"{prefix}enforce": "baseline", f"{prefix}enforce-version": "v1.20"})
    assert (str(policy.enforce), str(policy.warn), str(policy.audit)) == (
        "baseline:v1.20",
        "baseline:v1.20",
        "privileged:latest",
    )
    assert errors == ()
    policy, errors = policy_to_evaluate({f"{prefix}enforce": "strict", f"{prefix}warn-version": "1.2"})
    assert policy.enforce.level == "restricted"
    assert [error.detail for error in errors] == [
        "must be one of privileged, baseline, restricted",
        'must be "latest" or "v1.x"',
    ]


def test_tightening_a_namespace_warns_about_the_pods_in_it() -> None:
    running = [pod(hostNetwork=True), pod(), pod(hostPID=True)]
    for number, one in enumerate(running):
        one["metadata"]["name"] = f"p{number}"
    plugin = PodSecurity(StaticReader(running))
    strict = namespace(**{"pod-security.kubernetes.io/enforce": "baseline"})
    given = attributes(strict, "namespaces", UPDATE, old_obj=namespace(), namespace="")
    plugin.validate(given)
    assert given.warnings == [
        'existing pods in namespace "n" violate the new PodSecurity enforce level "baseline:latest"',
        "p0 (and 1 other pod): host namespaces",
    ]
    bad = namespace(**{"pod-security.kubernetes.io/enforce": "strict"})
    message = refused(plugin, "validate", attributes(bad, "namespaces", namespace=""))
    assert 'Invalid value: "strict": must be one of privileged, baseline, restricted' in message
