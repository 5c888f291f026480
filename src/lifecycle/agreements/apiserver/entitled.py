"""Who is entitled to what, held against a real API server: a kubelet, and people whose
bindings name roles that are not there.

A kubelet may read what its own pods need, and write what is its own. Each kind of
object has a small rule of its own; so of each kind every verb is asked about, for the
object itself and for its parts, for one that belongs to a pod of this node and for one
that does not, for all of a namespace and for all there are. The reason is compared,
too: it is what a kubelet's log shows when somebody wonders.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from lifecycle.agreements.asked_programs import asked
from lifecycle.api.http.wire import Object
from lifecycle.apiserver.authz.access_review_spec import request_info_from, user_from
from lifecycle.apiserver.authz.authorizer import at_once
from lifecycle.apiserver.authz.node import NodeAuthorizer
from lifecycle.apiserver.authz.rbac import RBACAuthorizer
from lifecycle.apiserver.authz.union import UnionAuthorizer
from lifecycle.apiserver.storage.object_reader import StaticReader
from lifecycle.compare import AgreementTable
from lifecycle.compare.compare import compare
from lifecycle.compare.program_answers import ProgramAnswers


def entitled_agreement(programs: ProgramAnswers | None = None) -> AgreementTable:
    """A row for each kind of object, and for each person. `programs`: what the real one
    said; None: as recorded.
    """
    reviews = asked(programs, "entitled")
    questions = sum(len(each.answer["asked"]) for each in reviews)
    table = AgreementTable(
        "What a node may do",
        "lifecycle",
        f"{reviews[0].program}, asked directly",
        lambda table: (
            f"{questions} times somebody asks whether a kubelet, or somebody whose"
            " binding names a role that is not there, may do something. Allowed or"
            f" not, and why, at a real API server and at ours: {table.outcome('rows')}."
        ),
    )
    reader = StaticReader(asked(programs, "entities")[0].answer)
    authorizer = UnionAuthorizer(NodeAuthorizer(reader), RBACAuthorizer(reader))
    for each in reviews:
        theirs = {
            in_words(question): status for *question, status in each.answer["asked"]
        }
        mine = our_statuses(authorizer, each.answer)
        who, _, about = each.question.partition("/")[2].partition(", about ")
        table.add(
            who,
            about or "this and that",
            _short(mine),
            _short(theirs),
            compare(mine, theirs),
        )
    return table


def _short(statuses: Object) -> str:
    allowed = sum(bool(status["allowed"]) for status in statuses.values())
    return f"{allowed} of {len(statuses)} allowed"


def in_words(question: Sequence[str]) -> str:
    """`get pods/log entitled/here`."""
    verb, group, resource, subresource, namespace, name, *selected = question
    what = "/".join(filter(None, (resource, subresource)))
    kind = f"{what}.{group}" if group else what
    return " ".join((verb, kind, f"{namespace or '*'}/{name or '*'}", *selected))


def review(user: str, groups: Sequence[str], question: Sequence[str]) -> Object:
    """A SubjectAccessReview that asks it."""
    verb, group, resource, subresource, namespace, name, *selected = question
    attributes: Object = {
        "verb": verb,
        "group": group,
        "version": "v1",
        "resource": resource,
        "subresource": subresource,
        "namespace": namespace,
        "name": name,
    }
    for each in selected:
        key, _, value = each.partition("=")
        requirement = {"key": key, "operator": "In", "values": [value]}
        attributes["fieldSelector"] = {"requirements": [requirement]}
    spec = {"user": user, "groups": list(groups), "resourceAttributes": attributes}
    return {
        "apiVersion": "authorization.k8s.io/v1",
        "kind": "SubjectAccessReview",
        "spec": spec,
    }


def our_statuses(authorizer: UnionAuthorizer, answer: Object) -> dict[str, Any]:
    """What ours says to each question."""
    statuses = {}
    for *question, _ in answer["asked"]:
        spec = review(answer["user"], answer["groups"], question)["spec"]
        verdict = at_once(
            authorizer.authorize(user_from(spec), request_info_from(spec))
        )
        status: Object = {"allowed": verdict.allowed}
        if verdict.reason:
            status["reason"] = verdict.reason
        statuses[in_words(question)] = status
    return statuses
