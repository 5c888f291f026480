"""The past of a workload: a Deployment's is in its ReplicaSets, that of DaemonSets and
StatefulSets in ControllerRevisions.

Nothing else remembers old templates. A ReplicaSet carries the number of its revision as
an annotation; a ControllerRevision has it as a field, and holds a patch that puts the
workload back.

Upstream: `kubectl/pkg/polymorphichelpers/history.go` (`getDeploymentReplicaSets`,
`controlledHistory`), `rollback.go` (`applyRevision`, `daemonSetMatch`), v1.36.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from lifecycle.api.go.format import go_quote
from lifecycle.api.http.wire import Object
from lifecycle.api.labels import format_label_selector
from lifecycle.api.patch.strategic import strategic_merge_patch
from lifecycle.api.schema import schema_for
from lifecycle.api.status import StatusError
from lifecycle.kubectl.failures import CommandError
from lifecycle.kubectl.printers import typed
from lifecycle.kubectl.record import CHANGE_CAUSE
from lifecycle.kubectl.session import TYPED, Session
from lifecycle.kubectl.visitor import Info

REVISION = "deployment.kubernetes.io/revision"
KEPT_IN = {
    "Deployment": "ReplicaSet",
    "DaemonSet": "ControllerRevision",
    "StatefulSet": "ControllerRevision",
}
KNOWN = (
    ("", "Pod"),
    ("", "ReplicationController"),
    ("apps", "ReplicaSet"),
    ("batch", "Job"),
    ("batch", "CronJob"),
)
"""Workloads without revisions; anything else is no workload at all."""


@dataclass(slots=True, frozen=True)
class Revisions:
    """A workload, and what its revisions are kept in, by number."""

    workload: Object
    kept: dict[int, Object]

    def cause(self, number: int) -> str:
        """Why a revision came to be, if anybody noted it."""
        return str(
            (self.kept[number]["metadata"].get("annotations") or {}).get(CHANGE_CAUSE)
            or ""
        )

    def restored(self, number: int) -> Object:
        """The workload as it was; of a Deployment, the ReplicaSet of that time."""
        if self.workload["kind"] == "Deployment":
            return self.kept[number]
        schema = schema_for(self.workload["apiVersion"], self.workload["kind"])
        return strategic_merge_patch(self.workload, self.kept[number]["data"], schema)

    def template(self, number: int) -> Object:
        """The pod template of a revision."""
        template: Object = self.restored(number)["spec"]["template"]
        return template

    def to_restore(self, to_revision: int) -> int:
        """The revision that an undo means; 0 is the last but one. Raises CommandError
        if there is none.
        """
        if to_revision and to_revision not in self.kept:
            raise CommandError(
                f"unable to find specified revision {to_revision} in history"
            )
        if not to_revision and len(self.kept) < 2:
            name = go_quote(self.workload["metadata"]["name"])
            nothing = f"no rollout history found for deployment {name}"
            raise CommandError(
                nothing
                if self.workload["kind"] == "Deployment"
                else "no last revision to roll back to"
            )
        return to_revision or sorted(self.kept)[-2]

    def is_current(self, number: int) -> bool:
        """Whether the workload's template is the one of a revision (of DaemonSets and
        StatefulSets).
        """
        template: dict[str, Any] = self.kept[number]["data"]["spec"]["template"]
        kept = {key: value for key, value in template.items() if key != "$patch"}
        return bool(
            typed({**self.workload, "spec": {"template": kept}})["spec"]["template"]
            == self.template_now
        )

    @property
    def template_now(self) -> Object:
        """The workload's pod template."""
        template: Object = self.workload["spec"]["template"]
        return template


@contextmanager
def _saying(what: str) -> Iterator[None]:
    """What the server refuses is said in these words."""
    try:
        yield
    except StatusError as error:
        raise CommandError(f"{what}: {error.message}") from None


async def revisions_of(info: Info, session: Session, what: str) -> Revisions:
    """A workload's revisions. Raises CommandError for kinds that have none, which
    `what` would be needed for.
    """
    resource = info.resource
    if resource.kind not in KEPT_IN or resource.group != "apps":
        group_kind = go_quote(
            f"{resource.kind}.{resource.group}" if resource.group else resource.kind
        )
        if (resource.group, resource.kind) in KNOWN:
            raise CommandError(f"no {what} has been implemented for {group_kind}")
        about = f"{what.removesuffix(' viewer')} for {group_kind}"
        raise CommandError(
            f"error retrieving {about}, no visitor method exists for {{{resource.group}"
            f" {resource.kind}}}"
        )
    named = {"DaemonSet": "DaemonSet", "StatefulSet": "Statefulset"}.get(
        resource.kind, "Deployment" if what == "rollbacker" else "deployment"
    )
    with _saying(f"failed to retrieve {named} {info.name}"):
        workload = typed(
            await session.send("GET", info.path, accept=TYPED)
        )  # once more, through the client for that type
    kind = KEPT_IN[resource.kind]
    keepers = await session.resource_for_kind("apps/v1", kind)
    selector = format_label_selector(workload["spec"]["selector"])
    with _saying(
        f"failed to retrieve replica sets from deployment {info.name}"
        if resource.kind == "Deployment"
        else f"unable to find history controlled by {resource.kind} {info.name}"
    ):
        listed = await session.send(
            "GET",
            keepers.path(info.namespace),
            {"labelSelector": selector},
            accept=TYPED,
        )
    kept = {}
    for item in listed.get("items") or ():
        meta = item["metadata"]
        owned = any(
            owner["uid"] == workload["metadata"]["uid"]
            for owner in meta.get("ownerReferences") or ()
        )
        number = (
            str(item["revision"])
            if "revision" in item
            else (meta.get("annotations") or {}).get(REVISION, "")
        )
        if owned and number.isdecimal():
            kept[int(number)] = typed({"apiVersion": "apps/v1", "kind": kind, **item})
    return Revisions(workload, kept)
