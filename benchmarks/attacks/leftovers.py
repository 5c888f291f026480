"""What attacks have left in a cluster: found by what was there before them, and deleted.

Objects that an attacker had stored are data like any other and may cost memory; what the server still needs
when they are gone is what the attacks have really cost.
"""

from __future__ import annotations

from benchmarks.attacks.attacker import Attacker

NAMES_ONLY = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1"


async def objects(who: Attacker) -> list[str]:
    """The URL of each object that can be deleted, those that define others last."""
    groups = (await who.read("/apis"))["groups"]
    bases = ["/api/v1", *(f"/apis/{group['preferredVersion']['groupVersion']}" for group in groups)]
    found = []
    for base in bases:
        for resource in (await who.read(base)).get("resources", ()):
            name = resource["name"]
            if "/" in name or not {"list", "delete"} <= set(resource["verbs"]):
                continue
            for each in (await who.read(f"{base}/{name}", Accept=NAMES_ONLY)).get("items") or ():
                place = f"namespaces/{each['metadata']['namespace']}/" if resource["namespaced"] else ""
                found.append(f"{base}/{place}{name}/{each['metadata']['name']}")
    return sorted(found, key=lambda url: ("customresourcedefinitions" in url, "/namespaces/" not in url))


async def delete_all_but(before: set[str], who: Attacker) -> int:
    """How many objects were deleted. What controllers make again is deleted again, a few times."""
    deleted = 0
    for _ in range(3):
        new = [url for url in await objects(who) if url not in before]
        for url in new:
            deleted += await who.ask("DELETE", f"{url}?gracePeriodSeconds=0") == 200
    return deleted
