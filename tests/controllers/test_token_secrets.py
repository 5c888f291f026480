"""Tokens kept in secrets: made when asked for, good as long as they are kept, gone with their account."""

from __future__ import annotations

import asyncio
from base64 import b64decode

from lifecycle.api import fast_json
from lifecycle.api.http.wire import Object
from lifecycle.api.resources import resource
from lifecycle.client.rest import MERGE_PATCH
from lifecycle.cluster.rehearsal import RehearsedCluster, rehearse

SECRETS, ACCOUNTS, REVIEWS = (
    resource("secrets"),
    resource("serviceaccounts"),
    resource("tokenreviews.authentication.k8s.io"),
)
NAME, UID = "kubernetes.io/service-account.name", "kubernetes.io/service-account.uid"


def secret(account: str, name: str = "lasting") -> Object:
    meta = {"name": name, "annotations": {NAME: account}}
    return {"kind": "Secret", "type": "kubernetes.io/service-account-token", "metadata": meta}


async def made(cluster: RehearsedCluster, body: Object) -> Object | None:
    """The secret a few seconds after its creation; None if it is gone."""
    await cluster.client("test").create(SECRETS, body, "default")
    await asyncio.sleep(3)
    return await found(cluster, body["metadata"]["name"])


async def found(cluster: RehearsedCluster, name: str = "lasting") -> Object | None:
    secrets = {each["metadata"]["name"]: each for each in await cluster.items("secrets")}
    return secrets.get(name)


async def whose(cluster: RehearsedCluster, token: str) -> Object:
    review = {"kind": "TokenReview", "apiVersion": "authentication.k8s.io/v1", "spec": {"token": token}}
    status: Object = (await cluster.client("test").create(REVIEWS, review))["status"]
    return status


def test_a_secret_gets_a_token_that_is_good_as_long_as_the_secret_holds_it() -> None:
    async def scene(cluster: RehearsedCluster) -> None:
        filled = await made(cluster, secret("default"))
        assert filled is not None
        account = await cluster.client("test").get(ACCOUNTS, "default", "default")
        uid = account["metadata"]["uid"]
        assert filled["metadata"]["annotations"] == {NAME: "default", UID: uid}
        data = {key: b64decode(value).decode() for key, value in filled["data"].items()}
        assert sorted(data) == ["ca.crt", "namespace", "token"]
        assert data["namespace"] == "default"
        assert data["ca.crt"].startswith("-----BEGIN CERTIFICATE-----")
        user = (await whose(cluster, data["token"]))["user"]
        assert user["username"] == "system:serviceaccount:default:default"
        assert user["uid"] == uid
        groups = ["system:serviceaccounts", "system:serviceaccounts:default", "system:authenticated"]
        assert user["groups"] == groups
        await asyncio.sleep(1800)
        claims = fast_json.loads(b64decode(data["token"].split(".")[1] + "=="))
        assert "exp" not in claims  # it has no end
        assert (await whose(cluster, data["token"]))["authenticated"]
        await cluster.client("test").patch(
            SECRETS, "lasting", "default", {"data": {"token": None}}, patch_type=MERGE_PATCH
        )
        await asyncio.sleep(3)
        again = await found(cluster)
        assert again is not None
        assert again["data"]["token"]  # made anew: the same, since nothing in it has changed
        await cluster.client("test").delete(SECRETS, "lasting", "default")
        await asyncio.sleep(1)
        refused = await whose(cluster, data["token"])
        assert not refused.get("authenticated")

    rehearse(scene, nodes=1)


def test_a_secret_of_nobody_is_deleted_and_so_is_that_of_a_deleted_account() -> None:
    async def scene(cluster: RehearsedCluster) -> None:
        client = cluster.client("test")
        assert await made(cluster, secret("nobody")) is None
        await client.create(ACCOUNTS, {"kind": "ServiceAccount", "metadata": {"name": "robot"}}, "default")
        filled = await made(cluster, secret("robot"))
        assert filled is not None
        token = b64decode(filled["data"]["token"]).decode()
        await client.delete(ACCOUNTS, "robot", "default")
        await asyncio.sleep(3)
        assert await found(cluster) is None
        await client.create(ACCOUNTS, {"kind": "ServiceAccount", "metadata": {"name": "robot"}}, "default")
        kept = {**secret("robot"), "data": {"token": filled["data"]["token"]}}
        await made(cluster, kept)
        assert not (await whose(cluster, token)).get("authenticated")  # another account of that name

    rehearse(scene, nodes=1)


def test_an_account_that_lists_its_secrets_forgets_one_that_is_deleted() -> None:
    async def scene(cluster: RehearsedCluster) -> None:
        client = cluster.client("test")
        listed = {"secrets": [{"name": "lasting"}, {"name": "other"}]}
        await client.create(ACCOUNTS, {"kind": "ServiceAccount", "metadata": {"name": "old"}, **listed}, "default")
        assert await made(cluster, secret("old")) is not None
        await client.delete(SECRETS, "lasting", "default")
        await asyncio.sleep(3)
        assert (await client.get(ACCOUNTS, "old", "default"))["secrets"] == [{"name": "other"}]

    rehearse(scene, nodes=1)
