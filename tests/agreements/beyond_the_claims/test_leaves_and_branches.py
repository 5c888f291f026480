"""A tree of owners that goes in the foreground: who waits for others does so, and who has nobody below goes at once."""

from __future__ import annotations

import asyncio

from lifecycle.api.http.wire import Object
from lifecycle.api.resources import resource
from lifecycle.client.rest import Client
from lifecycle.cluster.rehearsal import RehearsedCluster, rehearse

MAPS = resource("configmaps")
FOREGROUND = "foregroundDeletion"


async def _made(client: Client, name: str, owner: Object | None = None) -> Object:
    meta: Object = {"name": name}
    if owner is not None:
        own = {
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "name": owner["metadata"]["name"],
            "uid": owner["metadata"]["uid"],
        }
        meta["ownerReferences"] = [{**own, "blockOwnerDeletion": True}]
    return await client.create(MAPS, {"kind": "ConfigMap", "apiVersion": "v1", "metadata": meta}, "default")


def test_only_who_has_dependents_is_deleted_in_the_foreground() -> None:
    """Upstream: `attemptToDeleteItem`, `waitingForDependentsDeletion` and `dependentsLength`."""

    async def scene(cluster: RehearsedCluster) -> tuple[list[str], set[str]]:
        client, gone, waited = cluster.client("test"), list[str](), set[str]()
        root = await _made(client, "root")
        branch = await _made(client, "branch", root)
        for name, owner in (("leaf-of-root", root), ("leaf-of-branch", branch)):
            await _made(client, name, owner)
        frames = await client.watch(MAPS, "default", bookmarks=False)

        async def follow() -> None:
            async for frame in frames:
                meta = frame.object["metadata"]
                if frame.type == "DELETED":
                    gone.append(meta["name"])
                elif FOREGROUND in (meta.get("finalizers") or ()):
                    waited.add(meta["name"])

        following = asyncio.create_task(follow())
        await asyncio.sleep(5)
        await client.delete(MAPS, "root", "default", propagation="Foreground")
        await asyncio.sleep(30)
        following.cancel()
        await asyncio.gather(following, return_exceptions=True)
        return gone, waited

    gone, waited = rehearse(scene, nodes=1, without=frozenset({"scheduler", "kubelet"}))
    assert waited == {"root", "branch"}
    assert gone.index("leaf-of-branch") < gone.index("branch") < gone.index("root")
    assert gone[-1] == "root"
    assert set(gone) >= {"root", "branch", "leaf-of-root", "leaf-of-branch"}
