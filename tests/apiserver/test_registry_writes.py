"""What the registry does beside storing: quotas are charged, evictions pass admission, versions and small kinds are found."""

from __future__ import annotations

import asyncio
import base64
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding
from cryptography.x509.oid import NameOID

from lifecycle.api.http.wire import Object, Request, UserInfo
from lifecycle.api.loop.clock import run_virtual
from lifecycle.api.resources import resource
from lifecycle.api.schema import schema_for
from lifecycle.api.status import StatusError
from lifecycle.apiserver.authz.reconcile import reconciled
from lifecycle.apiserver.registry.certificates.certificate_signing_request.strategy import STRATEGY as CSR_STRATEGY
from lifecycle.apiserver.registry.rest.update import before_update
from lifecycle.client.rest import JSON_PATCH, MERGE_PATCH, Client
from lifecycle.cluster.cluster import Cluster
from lifecycle.cluster.cluster_config import ClusterConfig

PODS, QUOTAS, CONFIG_MAPS = resource("pods"), resource("resourcequotas"), resource("configmaps")


def on_cluster(ask: Callable[[Cluster, Client], Awaitable[Any]], **config: Any) -> Any:
    """What `ask` finds out about a small cluster without sockets."""

    async def main() -> Any:
        cluster = Cluster(ClusterConfig(nodes=1, https=False, **config))
        try:
            await cluster.start()
            return await ask(cluster, cluster.client("test"))
        finally:
            await cluster.stop()

    return run_virtual(main())


def pod(name: str, cpu: str = "", **spec: Any) -> Object:
    container: Object = {"name": "c", "image": "nginx"}
    if cpu:
        container["resources"] = {"requests": {"cpu": cpu}}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name}, "spec": {"containers": [container], **spec}}


def config_map(name: str) -> Object:
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}}


def quota(**hard: str) -> Object:
    limits = {name.replace("_", "."): amount for name, amount in hard.items()}
    return {"apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": "q"}, "spec": {"hard": limits}}


async def used(client: Client) -> dict[str, str]:
    return dict((await client.get(QUOTAS, "q", "default"))["status"]["used"])


# -- quotas ----------------------------------------------------------------------------------------------------------------


def test_a_quota_is_charged_and_gives_back_what_is_deleted() -> None:
    async def ask(cluster: Cluster, client: Client) -> list[Any]:
        found: list[Any] = []
        await client.create(QUOTAS, quota(pods="2", requests_cpu="1"), "default")
        await asyncio.sleep(1)
        found.append(await used(client))
        await client.create(PODS, pod("a", "600m"), "default")
        found.append(await used(client))  # at once: admission has charged it
        for too_much in (pod("b", "500m"), pod("b")):
            with pytest.raises(StatusError) as refused:
                await client.create(PODS, too_much, "default")
            found.append(refused.value.message)
        await client.create(PODS, pod("b", "400m"), "default")
        await client.delete(PODS, "a", "default", grace_period=0)
        await asyncio.sleep(1)
        found.append(await used(client))
        return found

    empty, charged, exceeded, silent, after = on_cluster(ask)
    assert empty == {"pods": "0", "requests.cpu": "0"}
    assert charged == {"pods": "1", "requests.cpu": "600m"}
    assert exceeded == (
        'pods "b" is forbidden: exceeded quota: q, requested: requests.cpu=500m, used: requests.cpu=600m, limited: requests.cpu=1'
    )
    assert silent == 'pods "b" is forbidden: failed quota: q: must specify requests.cpu for: c'
    assert after == {"pods": "1", "requests.cpu": "400m"}


def test_a_race_for_the_last_bit_of_a_quota_has_one_winner() -> None:
    async def ask(cluster: Cluster, client: Client) -> tuple[int, dict[str, str]]:
        existing = len((await client.list(CONFIG_MAPS, "default"))["items"])
        await client.create(QUOTAS, quota(configmaps=str(existing + 3)), "default")
        await asyncio.sleep(1)

        refused: list[StatusError] = []

        async def create(number: int) -> int:
            try:
                await client.create(CONFIG_MAPS, config_map(f"c{number}"), "default")
            except StatusError as error:
                refused.append(error)
                return 0
            return 1

        won = sum(await asyncio.gather(*(create(number) for number in range(12))))
        assert all("exceeded quota" in error.message or error.code == 409 for error in refused)
        await asyncio.sleep(1)
        return won, {"existing": str(existing), **await used(client)}

    won, counts = on_cluster(ask)
    assert won <= 3
    assert int(counts["configmaps"]) == int(counts["existing"]) + won


def test_a_dry_run_is_checked_and_not_charged() -> None:
    async def ask(cluster: Cluster, client: Client) -> dict[str, str]:
        await client.create(QUOTAS, quota(secrets="1"), "default")
        await asyncio.sleep(1)
        secret: Object = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s"}}
        await client.request("POST", "/api/v1/namespaces/default/secrets", query={"dryRun": "All"}, obj=secret)
        return await used(client)

    assert on_cluster(ask)["secrets"] == "0"


# -- evictions -------------------------------------------------------------------------------------------------------------


def test_a_kubelet_may_only_evict_its_own_pods() -> None:
    async def ask(cluster: Cluster, client: Client) -> tuple[str, str]:
        await asyncio.sleep(1)
        bound = pod("p", nodeName="lifecycle-control-plane")
        await client.create(PODS, bound, "default")
        stranger = cluster.client("kubelet", UserInfo("system:node:stranger", ("system:nodes", "system:authenticated")))
        eviction: Object = {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": "p"}}
        with pytest.raises(StatusError) as refused:
            await stranger.create(PODS, eviction, "default", name="p", subresource="eviction")
        with pytest.raises(StatusError) as other:
            await client.create(
                PODS, eviction | {"metadata": {"name": "x"}}, "default", name="p", subresource="eviction"
            )
        await client.create(PODS, eviction, "default", name="p", subresource="eviction")
        live = await client.get(PODS, "p", "default")
        assert "deletionTimestamp" in live["metadata"]
        return refused.value.message, other.value.message

    refused, other = on_cluster(ask)
    assert refused.endswith("node stranger can only evict pods with spec.nodeName set to itself")
    assert other == "name in URL does not match name in Eviction object"


# -- conversions before anybody looks -----------------------------------------------------------------------------------------


def test_string_data_becomes_data_before_managed_fields_are_worked_out() -> None:
    async def ask(cluster: Cluster, client: Client) -> Object:
        secret: Object = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s"}, "stringData": {"k": "v"}}
        created = await client.create(resource("secrets"), secret, "default")
        assert "stringData" not in created
        return created

    created = on_cluster(ask, without=("scheduler", "controllers", "kubelet"))
    assert created["data"] == {"k": "dg=="}
    assert created["metadata"]["managedFields"][0]["fieldsV1"]["f:data"] == {".": {}, "f:k": {}}
    assert "f:stringData" not in created["metadata"]["managedFields"][0]["fieldsV1"]


@pytest.mark.parametrize("given", ["serviceAccountName", "serviceAccount"])
def test_both_names_of_the_service_account_say_the_same(given: str) -> None:
    async def ask(cluster: Cluster, client: Client) -> Object:
        account: Object = {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "robot"}}
        await client.create(resource("serviceaccounts"), account, "default")
        return await client.create(PODS, pod("p", **{given: "robot"}), "default")

    created = on_cluster(ask, without=("scheduler", "controllers", "kubelet"))
    assert (created["spec"]["serviceAccountName"], created["spec"]["serviceAccount"]) == ("robot", "robot")
    owned = created["metadata"]["managedFields"][0]["fieldsV1"]["f:spec"]
    assert {"f:serviceAccountName", "f:serviceAccount"} <= set(owned)


# -- small kinds -----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("api_version", "kind", "field"),
    [("autoscaling/v1", "Scale", "spec"), ("policy/v1", "Eviction", "deleteOptions"), ("authentication.k8s.io/v1", "TokenRequest", "spec")],
)  # fmt: skip
def test_kinds_of_subresources_have_schemas(api_version: str, kind: str, field: str) -> None:
    assert field in schema_for(api_version, kind).fields


def test_who_takes_a_kind_that_is_nowhere_published_hears_of_it() -> None:
    with pytest.raises(KeyError, match="autoscaling/v1 Nothing"):
        schema_for("autoscaling/v1", "Nothing")


def test_patches_that_name_no_metadata_are_patches_too() -> None:
    async def ask(cluster: Cluster, client: Client) -> list[int]:
        codes = []
        await client.create(CONFIG_MAPS, config_map("c"), "default")
        for patch_type, patch in (
            (MERGE_PATCH, {"metadata": []}),
            (JSON_PATCH, [{"op": "add", "path": "/metadata", "value": 5}]),
        ):
            with pytest.raises(StatusError) as refused:
                await client.patch(CONFIG_MAPS, "c", "default", patch, patch_type=patch_type)
            codes.append(refused.value.code)
        return codes

    assert on_cluster(ask, without=("scheduler", "controllers", "kubelet")) == [422, 422]


# -- default roles from an older cluster -------------------------------------------------------------------------------------------


def test_a_default_role_is_completed_and_keeps_what_was_added() -> None:
    old: Object = {
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "ClusterRole",
        "metadata": {"name": "system:x", "labels": {"mine": "yes"}},
        "rules": [{"verbs": ["get"], "apiGroups": [""], "resources": ["pods"]}],
    }
    expected = old | {
        "rules": [{"verbs": ["get", "list"], "apiGroups": [""], "resources": ["pods"]}],
        "metadata": {"name": "system:x"},
    }
    new = reconciled(old, expected)
    assert new is not None
    assert new["rules"] == [*old["rules"], {"verbs": ["list"], "apiGroups": [""], "resources": ["pods"]}]
    assert new["metadata"]["labels"] == {"mine": "yes"}
    assert reconciled(new, expected) is None
    alone = {
        **old,
        "metadata": {"name": "system:x", "annotations": {"rbac.authorization.kubernetes.io/autoupdate": "false"}},
    }
    assert reconciled(alone, expected) is None


# -- events ------------------------------------------------------------------------------------------------------------------------


def test_an_event_of_the_newer_group_is_read_as_an_old_one() -> None:
    new: Object = {
        "apiVersion": "events.k8s.io/v1",
        "kind": "Event",
        "metadata": {"name": "e"},
        "eventTime": "2026-01-01T00:00:00.000000Z",
        "regarding": {"kind": "Pod", "name": "p", "namespace": "default"},
        "reportingController": "example.com/c",
        "reportingInstance": "i",
        "action": "a",
        "reason": "R",
        "note": "n",
        "type": "Normal",
    }

    async def ask(cluster: Cluster, client: Client) -> tuple[Object, Object]:
        await client.create(resource("events.events.k8s.io"), new, "default")
        old = await client.get(resource("events"), "e", "default")
        return old, await client.get(resource("events.events.k8s.io"), "e", "default")

    old, same = on_cluster(ask, without=("scheduler", "controllers", "kubelet"))
    assert (old["apiVersion"], old["message"], old["involvedObject"]["name"]) == ("v1", "n", "p")
    assert (same["apiVersion"], same["note"], same["regarding"]["name"]) == ("events.k8s.io/v1", "n", "p")


def test_events_of_the_newer_group_are_selected_by_its_names_of_the_fields() -> None:
    about = {"kind": "Pod", "name": "p", "namespace": "default"}
    event: Object = {
        "apiVersion": "events.k8s.io/v1",
        "kind": "Event",
        "eventTime": "2026-01-01T00:00:00.000000Z",
        "regarding": about,
        "reportingInstance": "i",
        "action": "a",
        "reason": "R",
        "note": "n",
        "type": "Normal",
    }

    async def ask(cluster: Cluster, client: Client) -> list[Object]:
        for name in ("a", "b"):
            mine = {"metadata": {"name": name}, "reportingController": f"example.com/{name}"}
            await client.create(resource("events.events.k8s.io"), event | mine, "default")
        found = await client.list(
            resource("events.events.k8s.io"),
            "default",
            field_selector="reportingController=example.com/b,regarding.name=p",
        )
        return found["items"]

    items = on_cluster(ask, without=("scheduler", "controllers", "kubelet"))
    assert [item["metadata"]["name"] for item in items] == ["b"]


def test_a_limit_range_without_a_name_is_given_one() -> None:
    body = {"apiVersion": "v1", "kind": "LimitRange", "metadata": {}, "spec": {"limits": []}}

    async def ask(cluster: Cluster, client: Client) -> list[Object]:
        limits = resource("limitranges")
        named = {**body, "metadata": {"generateName": "l-"}}
        return [await client.create(limits, one, "default") for one in (body, body, named)]

    first, second, named = on_cluster(ask, without=("scheduler", "controllers", "kubelet"))
    names = {first["metadata"]["name"], second["metadata"]["name"]}
    assert len(names) == 2
    assert not names & {first["metadata"]["uid"], second["metadata"]["uid"]}
    assert all(len(name) == 36 for name in names)
    assert named["metadata"]["name"].startswith("l-")


def test_a_signing_request_says_who_asked() -> None:
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "me")])
    pem = (
        x509.CertificateSigningRequestBuilder().subject_name(name).sign(key, hashes.SHA256()).public_bytes(Encoding.PEM)
    )
    body = {
        "apiVersion": "certificates.k8s.io/v1",
        "kind": "CertificateSigningRequest",
        "metadata": {"name": "c"},
        "spec": {
            "request": base64.b64encode(pem).decode(),
            "signerName": "example.com/signer",
            "usages": ["client auth"],
            "username": "somebody-else",
        },
        "status": {"conditions": [{"type": "Approved", "status": "True"}]},
    }
    csrs = resource("certificatesigningrequests.certificates.k8s.io")

    async def ask(cluster: Cluster, client: Client) -> tuple[Object, str]:
        made = await client.create(csrs, body)
        body["spec"]["request"] = base64.b64encode(b"nonsense").decode()
        body["metadata"]["name"] = "d"
        with pytest.raises(StatusError) as refused:
            await client.create(csrs, body)
        return made, refused.value.message

    made, refusal = on_cluster(ask, without=("scheduler", "controllers", "kubelet"))
    assert made["spec"]["username"] == "kubernetes-admin"
    assert "system:authenticated" in made["spec"]["groups"]
    assert made["status"] == {}
    assert refusal.endswith('spec.request: Invalid value: "bm9uc2Vuc2U=": PEM block type must be CERTIFICATE REQUEST')


def test_a_write_of_a_requests_status_or_approval_changes_its_annotations_and_not_its_spec() -> None:
    for subresource in ("status", "approval"):
        old = {"metadata": {"name": "c"}, "spec": {"signerName": "a"}}
        new: Object = {"metadata": {"name": "c", "annotations": {"patched": "true"}}, "spec": {"signerName": "b"}}
        before_update(CSR_STRATEGY, new, old, subresource)
        assert new["metadata"]["annotations"] == {"patched": "true"}
        assert new["spec"] == {"signerName": "a"}


def test_a_change_can_raise_warnings_too() -> None:
    labels = {"a": "b"}
    template = {"metadata": {"labels": labels}, "spec": {"containers": [{"name": "c", "image": "i"}]}}
    deployment = {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "d"},
        "spec": {"selector": {"matchLabels": labels}, "template": template},
    }

    async def ask(cluster: Cluster, client: Client) -> list[list[str]]:
        heard: list[list[str]] = []
        await client.create(resource("deployments.apps"), deployment, "default")
        for patch in ({"imagePullSecrets": [{}]}, {"imagePullSecrets": [{}]}, {"imagePullSecrets": None}):
            path = "/apis/apps/v1/namespaces/default/deployments/d"
            body = {"spec": {"template": {"spec": patch}}}
            request = Request("PATCH", path, headers={"content-type": MERGE_PATCH}, obj=body)
            assert (await client.transport.round_trip(request)).status == 200
            heard.append(list(request.warnings))
        return heard

    pulled = 'spec.template.spec.imagePullSecrets[0].name: invalid empty name ""'
    assert on_cluster(ask, without=("scheduler", "controllers", "kubelet")) == [[pulled], [], []]
