"""One line about an object: what its owner would like to know first."""

from __future__ import annotations

from collections.abc import Callable

from lifecycle.api.http.wire import Object


def _workload(obj: Object) -> str:
    wanted = (obj.get("spec") or {}).get("replicas", 1)
    status = obj.get("status") or {}
    ready = status.get("readyReplicas", 0)
    updated = status.get("updatedReplicas")
    said = f"{ready}/{wanted} ready"
    if obj["kind"] == "Deployment" and updated is not None:
        said += f", {updated} up to date"
    return said


def _daemon_set(obj: Object) -> str:
    status = obj.get("status") or {}
    wanted = status.get("desiredNumberScheduled", 0)
    return f"{status.get('numberReady', 0)}/{wanted} ready"


def _job(obj: Object) -> str:
    status, spec = obj.get("status") or {}, obj.get("spec") or {}
    done = f"{status.get('succeeded', 0)}/{spec.get('completions', 1)} complete"
    failed = status.get("failed", 0)
    return f"{done}, {failed} failed" if failed else done


def _service(obj: Object) -> str:
    spec = obj.get("spec") or {}
    ports = ", ".join(str(port["port"]) for port in spec.get("ports") or ())
    return f"{spec.get('type')} {spec.get('clusterIP') or ''} port {ports}".strip()


def _endpoint_slice(obj: Object) -> str:
    endpoints = obj.get("endpoints") or []
    ready = sum(
        (each.get("conditions") or {}).get("ready") is True for each in endpoints
    )
    return f"{ready} of {len(endpoints)} ready"


def _quota(obj: Object) -> str:
    status = obj.get("status") or {}
    used, hard = status.get("used") or {}, status.get("hard") or {}
    return ", ".join(f"{name} {used.get(name, '0')}/{hard[name]}" for name in hard)


def _claim(obj: Object) -> str:
    return str((obj.get("status") or {}).get("phase", ""))


def _cron_job(obj: Object) -> str:
    active = len((obj.get("status") or {}).get("active") or ())
    return f"{(obj.get('spec') or {}).get('schedule', '')}, {active} active"


SUMMARIES: dict[str, Callable[[Object], str]] = {
    "Deployment": _workload,
    "ReplicaSet": _workload,
    "StatefulSet": _workload,
    "DaemonSet": _daemon_set,
    "Job": _job,
    "CronJob": _cron_job,
    "Service": _service,
    "EndpointSlice": _endpoint_slice,
    "ResourceQuota": _quota,
    "PersistentVolumeClaim": _claim,
}
"""All kinds that a page shows, without pods and nodes."""
