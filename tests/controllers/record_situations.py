"""`python -m tests.controllers.record_situations [CONTROLLER…]`: what the real kube-controller-manager writes first, kept.

Our API server, nobody else, and one controller at a time: each situation of `situations.py` is made before the controller starts,
and the audit log tells what it asked for. Needs `KUBE_BIN`.
"""

from __future__ import annotations

import asyncio
import gzip
import json
import sys
import tempfile
from pathlib import Path
from typing import Any

from tests.controllers.first_writes import KEPT, Kept
from tests.controllers.situations import NODES, SITUATIONS
from tests.live.real_programs import identity, real_controller_manager

from lifecycle.api.http.wire import Object
from lifecycle.api.resources import all_resources, resource, resource_for_kind
from lifecycle.apiserver.audit.options import AuditOptions
from lifecycle.client.rest import Client
from lifecycle.cluster.background import BackgroundCluster
from lifecycle.cluster.cluster_config import COMPONENTS, ClusterConfig

MANAGER = "system:kube-controller-manager"
ACCOUNTS = ("system:serviceaccount:kube-system:", MANAGER)
POLICY = """
apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
rules:
- level: RequestResponse
  verbs: [create, update, patch, delete]
"""
SECONDS = {"horizontal-pod-autoscaler-controller": 25.0, "pod-garbage-collector-controller": 25.0}
USUAL = 10.0
QUIET = 5.0
"""How long a controller is given at least, and until it has asked for nothing for so long: all that it does, it does at its first
look."""


async def _make(client: Client, namespace: str, manifest: Object) -> None:
    """An object with its status, deleted if it is to be on its way."""
    row = resource_for_kind(manifest["apiVersion"], manifest["kind"])
    assert row is not None
    where = namespace if row.namespaced else ""
    going, status = manifest.pop("going", False), manifest.pop("status", None)
    for reference in manifest["metadata"].get("ownerReferences", ()):
        await _fill(client, namespace, reference)
    for reference in _meant(manifest, status or {}):
        await _fill(client, namespace, reference)
    made = await client.create(row, manifest, where)
    if status is not None:
        await client.update(row, {**made, "status": {**(made.get("status") or {}), **status}}, subresource="status")
    if going:
        await client.delete(row, made["metadata"]["name"], where)


def _meant(manifest: Object, status: Object) -> list[Object]:
    """What a volume or a CronJob names, if it is there by the uid `its`."""
    active = status.get("active") if manifest["kind"] == "CronJob" else ()
    named = [manifest.get("spec", {}).get("claimRef") or {}, *(active or ())]
    return [reference for reference in named if reference.get("uid") == "its" and reference.pop("uid")]


async def _fill(client: Client, namespace: str, reference: Object) -> None:
    """An owner by kind and name: its version and, unless it is somebody of that name who was there before, its uid."""
    rows = [row for row in all_resources() if row.kind == reference["kind"]]
    reference["apiVersion"] = rows[0].api_version
    if "uid" in reference:
        return
    if reference["name"] == "gone":
        reference["uid"] = "00000000-0000-4000-8000-000000000000"
        return
    reference["uid"] = (await client.get(rows[0], reference["name"], namespace))["metadata"]["uid"]


async def _stored(client: Client, namespace: str, situation: list[Object]) -> list[list[Any]]:
    """The situation as it is stored."""
    stored = []
    for manifest in situation:
        row = resource_for_kind(manifest["apiVersion"], manifest["kind"])
        assert row is not None
        name = f"{row.plural}.{row.group}".rstrip(".")
        obj = await client.get(row, manifest["metadata"]["name"], namespace if row.namespaced else "")
        obj["metadata"].pop("managedFields", None)
        stored.append([name, obj])
    return stored


async def _set_up(client: Client, names: list[str]) -> dict[str, list[list[Any]]]:
    found: dict[str, list[list[Any]]] = {}
    for node in json.loads(json.dumps(NODES)):
        await _make(client, "", node)
    found[""] = await _stored(client, "", NODES)
    for controller in names:
        for name, situation in json.loads(json.dumps(SITUATIONS[controller])).items():
            namespace = f"{controller.removesuffix('-controller')}-{name}"
            body = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": namespace}}
            await client.create(resource("namespaces"), body)
            account = {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "default"}}
            if controller != "serviceaccount-controller":
                await client.create(resource("serviceaccounts"), account, namespace)
            for manifest in situation:
                await _make(client, namespace, manifest)
            stored = await _stored(client, namespace, SITUATIONS[controller][name])
            found[namespace] = [["namespaces", await client.get(resource("namespaces"), namespace)], *stored]
            found[namespace][0][1]["metadata"].pop("managedFields", None)
    return found


def _requests(log: Path, begin: int) -> list[Object]:
    """What a controller asked for since then."""
    asked = []
    for line in log.read_text().splitlines()[begin:]:
        event = json.loads(line)
        about = event.get("objectRef") or {}
        if not event["user"]["username"].startswith(ACCOUNTS) or about.get("subresource") == "token":
            continue
        if about.get("resource") in ("leases", "subjectaccessreviews", "tokenreviews"):
            continue
        if event["user"]["username"] == MANAGER and about.get("resource") == "serviceaccounts":
            continue  # who works for itself needs an account
        if event.get("responseStatus", {}).get("code", 0) >= 400:
            continue
        body = event.get("requestObject") or {}
        asked.append({"verb": event["verb"], "about": about, "body": body})
    return asked


def _is_told_of(write: Object, names: set[str]) -> bool:
    """Whether it is an event about something without a namespace: such an event is in `default`."""
    about = write["body"].get("involvedObject") or {}
    return write["verb"] == "create" and not about.get("namespace", "") and about.get("name") in names


def record(names: list[str]) -> list[Kept]:
    """One controller after the other."""
    kept: list[Kept] = []
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        policy, log = folder / "policy.yaml", folder / "audit.log"
        policy.write_text(POLICY)
        log.touch()
        audit = AuditOptions(policy_file=policy, log_path=log)
        config = ClusterConfig(nodes=1, seed=7, cert_dir=folder / "pki", without=COMPONENTS, audit=audit)
        with BackgroundCluster(config) as running:
            cluster = running.cluster
            assert cluster is not None
            client = cluster.client("kubectl")
            stored = running.run(_set_up(client, names))
            for controller in names:
                begin = len(log.read_text().splitlines())
                connection = identity(
                    cluster.server.certificates, cluster.url, folder / "kubeconfig", MANAGER, context="real"
                )
                program = real_controller_manager(connection, folder, folder / "pki", f"--controllers={controller}")
                with program:
                    running.run(asyncio.sleep(SECONDS.get(controller, USUAL)))
                    size = -1
                    while size != log.stat().st_size:
                        size = log.stat().st_size
                        running.run(asyncio.sleep(QUIET))
                    program.check_alive()
                asked = _requests(log, begin)
                prefix = f"{controller.removesuffix('-controller')}-"
                for namespace, objects in stored.items():
                    if namespace and namespace.removeprefix(prefix) in SITUATIONS[controller]:
                        mine = {
                            obj["metadata"]["name"]
                            for _, obj in [*objects, *stored[""]]
                            if "namespace" not in obj["metadata"]
                        }
                        writes = [
                            each
                            for each in asked
                            if each["about"].get("namespace", "") == namespace
                            or (not each["about"].get("namespace") and each["about"].get("name") in mine)
                            or _is_told_of(each, mine)
                        ]
                        kept.append(
                            {
                                "controller": controller,
                                "name": namespace,
                                "objects": [*stored[""], *objects],
                                "writes": writes,
                            }
                        )
                        print(namespace, len(writes))
    return kept


def main() -> None:
    """Keep what was asked of the controllers named, or of all."""
    names = sys.argv[1:] or list(SITUATIONS)
    before = json.loads(gzip.decompress(KEPT.read_bytes())) if KEPT.exists() else []
    kept = [each for each in before if each["controller"] not in names and each["controller"] in SITUATIONS] + record(
        names
    )
    text = json.dumps(sorted(kept, key=lambda each: str(each["name"])), indent=0, sort_keys=True)
    KEPT.write_bytes(gzip.compress(text.encode(), mtime=0))


if __name__ == "__main__":
    main()
