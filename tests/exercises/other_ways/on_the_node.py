"""Attempts at what a kubelet does with the containers of its node."""

from __future__ import annotations

import fnmatch
import os
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any


def pleg_relist(slip: str) -> Callable[..., Any]:
    """A ladder of states; whoever climbs tells of each rung that matters."""
    words = {"running": "ContainerStarted", "exited": "ContainerDied", "gone": "ContainerRemoved"}
    if slip == "created is news":
        words["created"] = "ContainerStarted"

    class Pleg:
        def __init__(self) -> None:
            self.before: dict[str, str] = {}

        def relist(self, containers: dict[str, str]) -> list[list[str]]:
            told = []
            first, then = (containers, self.before) if slip == "the new ones first" else (self.before, containers)
            for name in {**first, **then}:
                now = containers.get(name, "gone")
                was = self.before.get(name, "")
                if now == was or (now == "gone" and slip == "who is gone is forgotten"):
                    continue
                if now == "exited" and not was and slip == "over was never seen":
                    continue
                if now == "gone" and was != "exited" and slip != "gone is one event":
                    told.append([name, words["exited"]])
                if now in words:
                    told.append([name, words[now]])
            self.before = {**self.before, **containers} if slip == "gone is told again" else dict(containers)
            return told

    return Pleg


def probe_results(slip: str) -> Callable[..., Any]:
    """Each answer looks back at those before it."""

    def results(kind: str, probe: dict[str, int], answers: list[bool | None]) -> list[Any]:
        fails = 1 if slip == "the defaults are one" else 3
        needed = {True: probe.get("successThreshold", 1), False: probe.get("failureThreshold", fails)}
        if slip == "success needs one":
            needed[True] = 1
        if slip == "one is enough":
            needed = {True: 1, False: 1}
        heard: list[bool | None] = []
        told: list[Any] = []
        for number, answer in enumerate(answers):
            passed = False if answer is None and slip == "no answer is a no" else answer
            if passed is None:
                heard += [None] if slip == "no answer breaks it off" else []
                continue
            heard.append(passed)
            row = heard[-needed[passed] :]
            if len(row) < needed[passed] or set(row) != {passed}:
                continue
            if slip == "every answer counts once" and told and told[-1][1] == passed:
                continue
            told.append([number, passed])
            final = kind == "startup" or (kind == "liveness" and not passed)
            if slip == "readiness is final":
                final = final or not passed
            if final and slip != "nothing is final":
                break
        return told

    return results


def atomic_volume(slip: str) -> Callable[..., Any]:
    """Two directories that take turns, and a link that says whose turn it is."""

    def write(directory: str, files: dict[str, str]) -> None:
        target, link = Path(directory), Path(directory, "now")
        old = target / os.readlink(link) if link.is_symlink() else None
        if old is not None and slip != "always anew":
            known = {str(p.relative_to(old)): p.read_text() for p in old.rglob("*") if p.is_file()}
            if known == files:
                return
        if slip in ("one by one", "each by a rename"):
            for name, text in files.items():
                path = target / name
                path.parent.mkdir(parents=True, exist_ok=True)
                beside = path.with_name("beside")
                (beside if slip == "each by a rename" else path).write_text(text)
                if slip == "each by a rename":
                    beside.rename(path)
            return
        fresh = target / ("even" if old is not None and old.name == "odd" else "odd")
        shutil.rmtree(fresh, ignore_errors=True)
        for name, text in files.items():
            (fresh / name).parent.mkdir(parents=True, exist_ok=True)
            (fresh / name).write_text(text)
        fresh.mkdir(exist_ok=True)
        if old is not None and slip == "the old goes first":
            shutil.rmtree(old)
        if slip == "a moment without":
            link.unlink(missing_ok=True)
        Path(directory, "next").symlink_to(fresh.name)
        Path(directory, "next").rename(link)
        tops = {name.partition("/")[0] for name in files}
        for top in tops:
            if not Path(directory, top).is_symlink():
                Path(directory, top).symlink_to(f"now/{top}")
        for path in target.iterdir():
            if path.is_symlink() and path.name not in {*tops, "now"} and slip != "names stay":
                path.unlink()
        if old is not None and slip not in ("the old stays", "the old goes first"):
            shutil.rmtree(old)

    return write


def pull_credentials(slip: str) -> Callable[..., Any]:
    """Entries are taken apart with a regular expression, and then compared part by part."""
    shape = re.compile(r"^(?:\w+://)?(?P<host>[^/:]+)(?::(?P<port>\d+))?(?P<path>/.*)?$")

    def apart(text: str) -> tuple[str, str, str]:
        found = shape.match(text)
        assert found
        path = found["path"] or ""
        if slip != "versions are paths":
            path = re.sub("^/v[12]/", "/", path)
        port = "" if slip == "any port" else found["port"] or ""
        return found["host"], port, "" if path == "/" else path

    def fits(entry: str, image: str) -> bool:
        (host, port, path), (mine, my_port, my_path) = apart(entry), apart(image)
        if port != my_port or not my_path.startswith(path):
            return False
        if slip == "whole paths" and path and my_path != path and not my_path.startswith(path + "/"):
            return False
        if slip == "a star stands for anything":
            return fnmatch.fnmatchcase(mine, host)
        if slip == "stars are letters":
            return mine == host
        parts, mine_parts = host.split("."), mine.split(".")
        same = len(parts) == len(mine_parts)
        return same and all(fnmatch.fnmatchcase(b, a) for a, b in zip(parts, mine_parts, strict=True))

    def credentials(entries: list[str], image: str) -> list[str]:
        def order(entry: str) -> str:
            host, port, path = apart(entry)
            return host + (f":{port}" if port else "") + path

        found = [entry for entry in entries if fits(entry, image)]
        if slip == "the longest first":
            found.sort(key=len, reverse=True)
        elif slip != "as they come":
            found.sort(key=order, reverse=slip != "the shorter first")
        first = image.split("/")[0]
        hub = "/" not in image or first in ("docker.io", "index.docker.io") or not re.search("[.:]", first)
        if slip == "no hub":
            hub = False
        if hub and (not found or slip == "the hub as well"):
            found += [entry for entry in entries if order(entry) == "index.docker.io"]
        return found

    return credentials


def container_end(slip: str) -> Callable[..., Any]:
    """Whoever has the most urgent word is asked first."""

    def ending(pod: dict[str, Any], condemned_by: str, hook_seconds: float) -> dict[str, float]:
        [container] = pod["spec"]["containers"]
        words = [
            pod["metadata"].get("deletionGracePeriodSeconds"),
            (container.get(f"{condemned_by}Probe") or {}).get("terminationGracePeriodSeconds"),
            pod["spec"].get("terminationGracePeriodSeconds"),
            30,
        ]
        if slip == "any probe":
            probes = (container.get(f"{kind}Probe") or {} for kind in ("liveness", "startup"))
            words[1] = next((p["terminationGracePeriodSeconds"] for p in probes if p), None)
        if slip == "no probe":
            words[1] = None
        if slip == "the probe before the deletion":
            words[0], words[1] = words[1], words[0]
        if slip == "the deletion is not asked":
            words[0] = None
        grace = next(word for word in words if (word if slip == "zero is nothing" else word is not None))
        waited = 0.0
        if "lifecycle" in container and (grace > 0 or slip == "a hook without time"):
            waited = hook_seconds if slip == "as long as it takes" else min(hook_seconds, grace)
        counted = waited if slip == "parts of seconds" else int(waited)
        left = grace if slip == "a purse for each" else grace - counted
        return {"hook": counted, "left": left if slip == "no floor" else max(left, 2)}

    return ending


def cpu_assignment(slip: str) -> Callable[..., Any]:
    """Units are frozen sets of CPUs; all three steps ask the same question of them."""

    def take(machine: list[dict[str, int]], available: list[int], count: int) -> list[int] | None:
        free, taken = set(available), set[int]()

        def unit(level: str, number: int) -> set[int]:
            return {each["cpu"] for each in machine if each[level] == number}

        def numbers(level: str, inside: set[int]) -> list[int]:
            found = {each[level] for each in machine if each["cpu"] in inside & free}

            def left(number: int) -> tuple[int, int]:
                many = len(unit(level, number) & free)
                return (-many if slip == "the emptiest first" else many), number

            return sorted(found) if slip == "by number" else sorted(found, key=left)

        def give(cpus: set[int]) -> None:
            taken.update(cpus)
            free.difference_update(cpus)

        everything = {each["cpu"] for each in machine}
        if count > len(free):
            return sorted(free) if slip == "what there is" else None
        for socket in numbers("socket", everything) if slip != "no sockets" else ():
            whole = unit("socket", socket)
            if whole <= free and len(whole) <= count - len(taken):
                give(whole)
        sockets = numbers("socket", everything)
        cores = [core for socket in sockets for core in numbers("core", unit("socket", socket))]
        if slip == "cores of all sockets":
            cores = numbers("core", everything)
        for core in cores if slip != "no cores" else ():
            whole = unit("core", core)
            if (whole <= free or slip == "broken cores") and len(whole) <= count - len(taken):
                give(whole & free)
        if slip != "an order for good":
            sockets = numbers("socket", everything)
            cores = [core for socket in sockets for core in numbers("core", unit("socket", socket))]
        for core in cores:
            give(set(sorted(unit("core", core) & free)[: count - len(taken)]))
        return sorted(taken)

    return take


def resize_counting(slip: str) -> Callable[..., Any]:
    """A table of three columns for each container; the largest number of each row counts."""
    units = {"m": 0.001, "Mi": 2**20, "Gi": 2**30}

    def number(text: str) -> float:
        for unit, factor in units.items():
            if text.endswith(unit):
                return int(text.removesuffix(unit)) * factor
        return int(text)

    def counted(pod: dict[str, Any]) -> dict[str, int]:
        status = pod["status"]
        pending = [each for each in status.get("conditions") or () if each["type"] == "PodResizePending"]
        if slip == "any condition":
            pending = status.get("conditions") or []
        hopeless = any(
            each.get("reason") == "Infeasible" or (slip == "deferred as well" and each.get("reason"))
            for each in pending
        )
        total: dict[str, float] = {}
        for place, container in enumerate(pod["spec"]["containers"]):
            told = next((s for s in status["containerStatuses"] if s["name"] == container["name"]), {})
            if slip == "statuses by place":
                told = status["containerStatuses"][place]
            columns = [container["resources"]["requests"]]
            if "resources" in told or slip == "a status is enough":
                if hopeless and slip != "infeasible counts":
                    columns = []
                if slip != "nothing in force":
                    columns.append(told.get("resources", {}).get("requests") or {})
                if slip != "nothing allocated":
                    columns.append(told.get("allocatedResources") or {})
            if slip == "the last word":
                columns = columns[-1:]
            for name in {name for column in columns for name in column}:
                row = [number(column[name]) for column in columns if name in column]
                amount = min(row) if slip == "the smallest" else max(row)
                total[name] = total.get(name, 0) + amount
        return {name: round(1000 * amount) if name == "cpu" else int(amount) for name, amount in total.items()}

    return counted


def image_gc(slip: str) -> Callable[..., Any]:
    """A shelf that is sorted first, and then emptied from its front."""

    def images_to_remove(
        images: list[dict[str, Any]], disk: dict[str, int], policy: dict[str, int], now: float
    ) -> list[str]:
        capacity, available = disk["capacity"], disk["available"]
        taken = 100 - available * 100 // capacity
        if slip == "parts of percents":
            taken = 100 * (capacity - available) / capacity  # type: ignore[assignment]
        if taken < policy["high"] or (slip == "above the mark" and taken == policy["high"]):
            return []
        low = policy["high" if slip == "one mark" else "low"]
        missing = capacity * (100 - low) // 100 - available

        def order(image: dict[str, Any]) -> tuple[float, float]:
            used = image["last_used"]
            if used is None:
                used = now if slip == "never used is used" else -1.0
            first = -image["detected"] if slip == "the newest first" else image["detected"]
            return (first, used) if slip == "by age" else (used, first)

        gone = []
        for image in sorted(images, key=order):
            if image["in_use"] and slip != "used ones too":
                continue
            if image["pinned"] and slip != "pinned ones too":
                continue
            if now - image["detected"] < policy["min_age"] and slip != "new ones too":
                continue
            if missing <= 0 and slip != "all of them":
                break
            gone.append(image["name"])
            missing -= image["size"]
        return gone

    return images_to_remove
